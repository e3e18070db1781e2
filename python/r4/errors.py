"""Exceptions that carry the library's sentence: what was wrong, where, and what was expected."""

from __future__ import annotations


class Error(Exception):
    """Something that the library refused. Each status has a class of its own, which is also a usual Python one."""

    status = "error"


class OutOfMemory(Error, MemoryError):
    status = "memory"


class ShapeError(Error, ValueError):
    status = "shape"


class ArgumentError(Error, ValueError):
    status = "argument"


class KindError(ArgumentError, TypeError):
    """An array of something that is not a number."""


class RuleError(Error, NotImplementedError):
    """An operation has no derivative or no bound; ``r4 ops`` lists them."""

    status = "rule"


class DomainError(Error, ValueError):
    """A value left the domain of an operation, or is not finite where only finite ones make sense."""

    status = "domain"


class ParseError(Error, ValueError):
    status = "parse"


class FileError(Error, OSError):
    status = "io"


class InternalError(Error, RuntimeError):
    """An invariant of r4 itself does not hold: please report it."""

    status = "internal"


class BusyError(Error, OSError):
    """Another process is working in that folder."""

    status = "busy"


class ClosedError(Error, ValueError):
    """Something was used after it was closed."""

    status = "closed"


# In the order of r4_status, from R4_E_MEMORY on.
BY_STATUS: tuple[type[Error], ...] = (
    OutOfMemory,
    ShapeError,
    ArgumentError,
    RuleError,
    DomainError,
    ParseError,
    FileError,
    InternalError,
    BusyError,
)


def error(status: int, sentence: str) -> Error:
    """The exception for a status that is not R4_OK."""
    kind = BY_STATUS[status - 1] if 1 <= status <= len(BY_STATUS) else Error
    sentence = sentence.replace("r4 data get", "python -m r4 data get")  # where "r4" may be no command of the shell
    return kind(sentence or f"the library says {kind.status}, and no more")
