"""Settings of a run, by the keys of ``r4 help train``."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _header as h
from ._library import LIB, Owned, call, encode, take_text, text_of

# Parameters of a classifier that are settings by another name, and the other way round.
KEYS = {
    "method": "method",
    "lambda_": "lambda",
    "eps": "eps",
    "delta": "delta",
    "epochs": "epochs",
    "batch": "batch",
    "rate": "rate",
    "validation": "data.val",
    "tokenizer": "data.tokenizer",
    "length": "data.max_tokens",
}
PARAMETERS = {key: name for name, key in KEYS.items()}
Value = Any  # int, float, bool, str, or a list of floats


def _written(value: Value) -> str:
    """As a user would write it in a file."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(_written(v) for v in value)
    return str(value)


class Settings(Owned):
    """All that a run can be told. Defaults are those of the command; a wrong key or value is an ArgumentError."""

    def __init__(self, values: Mapping[str, Value] | None = None, *, origin: str = "r4.Settings") -> None:
        self._own(LIB.r4_settings_new(), "r4_settings_free")
        self._origin = origin.encode()
        for key, value in (values or {}).items():
            self[key] = value

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Settings:
        """Those of a YAML file: one of the user's, or config.yaml of a run."""
        s = cls()
        call("r4_settings_read", s.pointer, encode(path, "a path"))
        return s

    def __setitem__(self, key: str, value: Value) -> None:
        assignment = encode(f"{key}={_written(value)}", key)
        call("r4_settings_set", self.pointer, assignment, self._origin)

    def __getitem__(self, key: str) -> Value:
        v = h.r4_setting_value()
        call("r4_settings_get", self.pointer, encode(key, "a key"), ctypes.byref(v))
        if v.text is not None or v.type in (h.R4_SETTING_TEXT, h.R4_SETTING_CHOICE):
            return text_of(v.text)  # of numbers, a word that stands for them
        if v.type == h.R4_SETTING_REALS:
            return list((ctypes.c_double * v.n).from_address(v.reals)) if v.n else []
        by_type = {h.R4_SETTING_WHOLE: int(v.whole), h.R4_SETTING_REAL: float(v.real)}
        return by_type.get(v.type, bool(v.flag))

    @staticmethod
    def keys() -> Iterator[str]:
        """All keys, in the order of the help."""
        return (text_of(LIB.r4_setting_describe(k).key) for k in range(LIB.r4_setting_count()))

    def changed(self) -> dict[str, Value]:
        """Those that differ from their defaults."""
        usual = Settings()
        return {key: self[key] for key in self.keys() if self[key] != usual[key]}

    def check(self) -> None:
        """Refuses combinations that contradict each other."""
        call("r4_settings_check", self.pointer)

    def idle(self) -> list[str]:
        """Sentences about those that were given and have no effect."""
        found: list[str] = []
        to = h.r4_error()
        while LIB.r4_settings_idle(self.pointer, len(found), ctypes.byref(to)):
            found.append(text_of(to.text))
        return found

    def renamed(self) -> list[str]:
        """Sentences about those that were given by an older key, with the key they have now."""
        found: list[str] = []
        to = h.r4_error()
        while LIB.r4_settings_renamed(self.pointer, len(found), ctypes.byref(to)):
            found.append(text_of(to.text))
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        call("r4_settings_save", self.pointer, encode(path, "a path"))

    def __str__(self) -> str:
        return take_text(LIB.r4_settings_text(self.pointer))

    def __repr__(self) -> str:
        return f"Settings({self.changed()!r})"
