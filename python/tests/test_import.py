"""What import says where the library cannot be loaded, and the command that the package has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import r4
from r4 import _library


def imported(path: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", "import r4"],
        env={**os.environ, "R4_LIBRARY": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    return found.stderr.strip().splitlines()[-1]


def test_a_library_that_is_not_there(tmp_path: Path) -> None:
    said = imported(str(tmp_path / "none.so"))
    assert said.startswith("ImportError: r4 cannot load its library")
    assert "set R4_LIBRARY to a libr4.so" in said


def test_a_library_that_is_something_else(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    assert "is it a libr4.so for this kind of machine?" in imported(str(tmp_path / "text.so"))


@pytest.mark.parametrize(
    ("problem", "advice"),
    [
        ("libdnnl.so.2: cannot open shared object file: No such file or directory", "libdnnl.so.2 is missing"),
        ("/lib/libm.so.6: version `GLIBC_2.34' not found (required by libr4.so)", "older than the one it was built on"),
    ],
)
def test_advice(problem: str, advice: str) -> None:
    said = _library._why("/x/_r4.so", problem)
    assert advice in said
    assert problem in said


def test_command() -> None:
    said = subprocess.run([sys.executable, "-m", "r4", "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"r4 {r4.__version__}\nbuilt for ")
