"""libr4, loaded; its calls as exceptions; and objects that own what the library made."""

from __future__ import annotations

import ctypes
import os
import re
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _header as h
from .errors import ArgumentError, ClosedError, OutOfMemory, error

if TYPE_CHECKING:
    from typing import Self


def _open(path: str) -> ctypes.CDLL:
    """Threads of OpenMP that wait spin for milliseconds, in which others might have run: here for microseconds.

    It reads its environment when it is loaded, so the variable is there for this moment, unless the user has set it.
    """
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        return ctypes.CDLL(path)
    os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        return ctypes.CDLL(path)
    finally:
        del os.environ["GOMP_SPINCOUNT"]


def _path() -> str:
    """R4_LIBRARY; what the package has, if it has one; or the system's library."""
    own = Path(__file__).with_name("_r4.so")
    return os.environ.get("R4_LIBRARY") or (str(own) if own.exists() else h.SONAME)


def _why(path: str, problem: str) -> str:
    """What the dynamic linker says, and what to do about it."""
    old = re.search(r"version `(GLIBC_[0-9.]+)' not found", problem)
    lost = re.search(r"(\S+): cannot open shared object file", problem)
    if old:
        advice = f"this system is older than the one it was built on ({old[1].replace('_', ' ')}): build r4 from source"
    elif lost and lost[1] in (path, h.SONAME):
        advice = "the library is not installed: install the package again, or set R4_LIBRARY to a libr4.so"
    elif lost:
        advice = f"{lost[1]} is missing: install the package that has it, or the wheel, which has all libraries inside"
    else:
        advice = "is it a libr4.so for this kind of machine?"
    return f"r4 cannot load its library, {path}: {advice} (doc/install.md). The system says: {problem}"


def _load() -> ctypes.CDLL:
    path = _path()
    try:
        library = _open(path)
    except OSError as problem:
        raise ImportError(_why(path, str(problem))) from None
    library.r4_cpu_missing.restype = ctypes.c_char_p
    missing = library.r4_cpu_missing()
    if missing:
        raise ImportError(missing.decode())
    for name, (result, arguments) in h.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIB: Any = _load()

# OpenMP keeps threads that a fork does not copy, and would wait for them in the child. The library sees forks after its
# own plans have run; others in this process share the threads, so a child gets one in any case.
os.register_at_fork(after_in_child=lambda: LIB.r4_threads(1, False))


def call(name: str, *arguments: Any) -> Any:
    """A function whose last argument is an r4_error: its result, or the error as an exception."""
    e = h.r4_error()
    result = getattr(LIB, name)(*arguments, ctypes.byref(e))
    if e.status:
        raise error(e.status, e.text.decode(errors="replace"))
    return result


def take_text(address: int | None) -> str:
    """A text that the library made for the caller, which is freed."""
    if not address:
        raise OutOfMemory("out of memory for a text")
    try:
        return ctypes.string_at(address).decode(errors="replace")
    finally:
        LIB.r4_string_free(address)


def text_of(raw: bytes | None) -> str:
    """A text that the library keeps."""
    return (raw or b"").decode(errors="replace")


def encode(text: str | os.PathLike[str], what: str = "a text") -> bytes:
    """A path or word for the library, which ends texts with a zero."""
    raw = os.fsencode(text)
    if b"\0" in raw:
        raise ArgumentError(f"{what} has a zero in it: {text!r}")
    return raw


def texts(names: Sequence[str]) -> Any:
    """``const char *const *``: keep the result until the call is over."""
    return (ctypes.c_char_p * max(len(names), 1))(*(encode(n, "a name") for n in names))


def to_shape(dims: Sequence[int]) -> h.r4_shape:
    if len(dims) > h.R4_MAX_RANK:
        raise ArgumentError(f"a shape of rank {len(dims)}, expected at most {h.R4_MAX_RANK}")
    shape = h.r4_shape()
    shape.rank = len(dims)
    for k, size in enumerate(dims):
        shape.dim[k] = int(size)
    return shape


def from_shape(shape: h.r4_shape) -> tuple[int, ...]:
    return tuple(int(shape.dim[k]) for k in range(shape.rank))


def choice(word: str, words: Sequence[str], what: str) -> int:
    """The number of a word in its list."""
    if word not in words:
        raise ArgumentError(f"{what} is {word!r}, expected one of {', '.join(words)}")
    return list(words).index(word)


def _release(free: str, pointer: int, kept: tuple[Any, ...]) -> None:
    """kept is what must outlive the pointer: it is let go after this call, whatever is collected first."""
    getattr(LIB, free)(pointer)


class Owned:
    """An object of the library: freed when nobody refers to it any more, or by close()."""

    def _own(self, pointer: int | None, free: str, *keeps: Any) -> None:
        if not pointer:
            raise OutOfMemory(f"out of memory for a {type(self).__name__}")
        self._pointer, self._kept = pointer, keeps
        self._finalizer = weakref.finalize(self, _release, free, pointer, keeps)
        self._finalizer.atexit = False  # the process gives memory back; a daemon thread may still compute in it

    @property
    def pointer(self) -> int:
        """The address, for calls of the library; ClosedError after close()."""
        finalizer = getattr(self, "_finalizer", None)
        if finalizer is None or not finalizer.alive:
            raise ClosedError(f"this {type(self).__name__} is closed")
        return self._pointer

    def close(self) -> None:
        """Frees it now. Closing twice does nothing; using it afterwards is a ClosedError."""
        finalizer = getattr(self, "_finalizer", None)
        if finalizer is not None:
            finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: save it to a file")


def threads(n: int = 0, *, pin: bool = False) -> int:
    """How many threads r4 uses from now on, at most one for each CPU; 0 keeps the number. Returns how many it gets.

    The same seed and data give the same bits on the same number of threads. Forked children have one. What shares the
    OpenMP of the process, as PyTorch may, gets the same number.
    """
    if n < 0:
        raise ArgumentError(f"threads is {n}, expected 0 or more")
    return int(LIB.r4_threads(n, pin))
