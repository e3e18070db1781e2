"""Builds the library and the command with make, reads the headers, and puts all of it into the package.

R4_FILES names a folder that scripts/stage-python has filled already, as "make wheel" does. R4_FILES=system leaves
library and command to the system's packages.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
INCLUDE = ROOT / "include"
FILES = os.environ.get("R4_FILES", "")
SYSTEM = FILES == "system"
sys.path.insert(0, str(HERE))
from header import convert  # noqa: E402


class Build(build_py):
    def run(self):
        super().run()
        to = Path(self.build_lib) / "r4"
        to.mkdir(parents=True, exist_ok=True)
        (to / "_header.py").write_text(f'{convert(INCLUDE)}\nSONAME = "{self.soname()}"\n')
        if not SYSTEM:
            shutil.copytree(FILES or self.files(), to, dirs_exist_ok=True)

    @staticmethod
    def soname():
        """The name by which programs ask for the library: the Makefile knows it."""
        make = ["make", "-s", "--no-print-directory", "soname"]
        return subprocess.run(make, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()

    @staticmethod
    def files():
        """For this machine."""
        to = HERE / "build" / "files"
        subprocess.run(["make", "-s", "build/_r4.so", "build/r4-shared", "build/r4-check"], cwd=ROOT, check=True)
        subprocess.run([str(ROOT / "scripts" / "stage-python"), str(to), "build"], check=True)
        return to


class Wheel(bdist_wheel):
    """For any Python 3, on this kind of machine."""

    def get_tag(self):
        return "py3", "none", "any" if SYSTEM else super().get_tag()[2]


class NoSource(sdist):
    def run(self):
        sys.exit("r4 has no source distribution for Python: build it in its source tree (pip install ./python)")


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return not SYSTEM


version = re.search(r'#define R4_VERSION "(.*)"', (INCLUDE / "r4.h").read_text())[1]
setup(
    version=version,
    distclass=WithLibrary,
    cmdclass={"build_py": Build, "bdist_wheel": Wheel, "sdist": NoSource},
    scripts=[] if SYSTEM else ["scripts/r4", "scripts/r4-check"],
)
