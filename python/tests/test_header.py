"""What ctypes believes about r4.h and r4_tools.h is what a compiler says: sizes and offsets of all structs."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from r4 import _header as h

INCLUDE = Path(os.environ.get("R4_INCLUDE", Path(__file__).parents[2] / "include"))


def test_structs(tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not compiler or not (INCLUDE / "r4_tools.h").is_file():
        pytest.skip("needs a C compiler and r4_tools.h")
    structs = [c for c in vars(h).values() if isinstance(c, type) and c.__module__ == h.__name__]
    assert len(structs) > 40
    lines, expected = [], []
    for c in structs:
        if "__" in c.__name__:  # inside of another, and without a name in C
            continue
        lines.append(f'printf("{c.__name__} %zu\\n", sizeof({c.__name__}));')
        expected.append(f"{c.__name__} {ctypes.sizeof(c)}")
        for name, *_ in c._fields_:
            lines.append(f'printf("{c.__name__}.{name} %zu\\n", offsetof({c.__name__}, {name}));')
            expected.append(f"{c.__name__}.{name} {getattr(c, name).offset}")
    lines += [f'printf("{k} %d\\n", (int){k});' for k in vars(h) if k.startswith("R4_")]
    expected += [f"{k} {v}" for k, v in vars(h).items() if k.startswith("R4_")]
    source = "#include <r4_tools.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n"
    (tmp_path / "a.c").write_text(source)
    program = str(tmp_path / "a")
    subprocess.run([compiler, f"-I{INCLUDE}", str(tmp_path / "a.c"), "-o", program], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    assert said == expected
