"""A progress bar: tqdm's where it is installed, which works in notebooks, and otherwise a line on the terminal."""

from __future__ import annotations

import sys
from typing import Any

from .trainer import Progress


def _figures(p: Progress) -> str:
    text = f"loss {p.loss:.3f}, {100 * p.accuracy:.1f} % right"
    if p.penalty:
        text += f", penalty {p.penalty:.2g}"
    return text + (_validation(p) if p.validated else "")


def _validation(p: Progress) -> str:
    """As the command has it."""
    text = ", val "
    if p.val_kind == "exchanged":
        text += f"{100 * p.val_plain:.1f} %; masked content exchanged ({p.val_examples}): "
    text += f"{100 * p.val_avg:.1f} +- {100 * p.val_se:.1f} %, worst group {100 * p.val_worst:.1f} %"
    if p.val_kind == "carries the shortcut":
        text += " (with the shortcut in it)"
    return text


class Bar:
    """One that shows nothing."""

    def show(self, p: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class _Tqdm(Bar):
    def __init__(self, make: Any, epochs: int) -> None:
        self._bar = make(total=epochs, unit="epoch")

    def show(self, p: Progress) -> None:
        if p.epoch_done:
            self._bar.set_postfix_str(_figures(p), refresh=False)
            self._bar.update(1)

    def close(self) -> None:
        self._bar.close()


class _Line(Bar):
    def show(self, p: Progress) -> None:
        if p.epoch_done:
            end = "" if sys.stderr.isatty() else "\n"
            begin = "\r\x1b[K" if sys.stderr.isatty() else ""
            print(f"{begin}epoch {p.epoch} of {p.epochs}: {_figures(p)}", end=end, file=sys.stderr, flush=True)

    def close(self) -> None:
        if sys.stderr.isatty():
            print(file=sys.stderr)


def bar(verbose: int | bool, epochs: int) -> Bar:
    """Nothing unless verbose."""
    if not verbose:
        return Bar()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Tqdm(tqdm, epochs)
