"""python -m r4: the command."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def main() -> None:
    own = Path(__file__).with_name("bin") / "r4"
    program = str(own) if own.exists() else shutil.which("r4")
    if program is None:
        sys.exit("r4: the command is not installed (package r4)")
    os.execv(program, ["r4", *sys.argv[1:]])


if __name__ == "__main__":
    main()
