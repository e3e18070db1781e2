"""Builds the library with make, reads its header, and puts both into the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HEADER = ROOT / "include" / "r4.h"
sys.path.insert(0, str(HERE))
from header import convert  # noqa: E402


class Build(build_py):
    def run(self):
        super().run()
        to = Path(self.build_lib) / "r4"
        to.mkdir(parents=True, exist_ok=True)
        (to / "_header.py").write_text(convert(HEADER.read_text()))
        shutil.copy2(self.library(), to / "libr4.so")

    @staticmethod
    def library():
        """Without its debugging symbols, which are more than half of it."""
        subprocess.run(["make", "-s", "build/libr4.so"], cwd=ROOT, check=True)
        small = HERE / "build" / "libr4.so"
        small.parent.mkdir(exist_ok=True)
        strip = [os.environ.get("STRIP", "strip"), "--strip-debug", "-o", str(small)]
        subprocess.run([*strip, str(ROOT / "build" / "libr4.so")], check=True)
        return small


class Wheel(bdist_wheel):
    """For any Python 3, on this kind of machine."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


version = re.search(r'#define R4_VERSION "(.*)"', HEADER.read_text())[1]
setup(version=version, distclass=WithLibrary, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
