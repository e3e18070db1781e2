"""Reads include/r4.h and r4_tools.h and writes them down for ctypes: r4/_header.py, made when the package is built.

The headers are the one place where the interface is stated, so nothing of it is repeated by hand. They are regular C:
enums, structs, opaque types and functions, and that is all that is understood here; anything else is an error.
"""

from __future__ import annotations

import re
import sys
from keyword import iskeyword
from pathlib import Path

HEADERS = ("r4.h", "r4_tools.h")  # the second includes the first
SCALARS = {
    "void": "None",
    "bool": "c_bool",
    "char": "c_char",
    "int": "c_int",
    "unsigned": "c_uint",
    "float": "c_float",
    "double": "c_double",
    "size_t": "c_size_t",
    "int32_t": "c_int32",
    "uint8_t": "c_uint8",
    "uint32_t": "c_uint32",
    "int64_t": "c_int64",
    "uint64_t": "c_uint64",
}
HINTS = {"c_bool": "bool", "c_float": "float", "c_double": "float"}


class HeaderError(ValueError):
    """The header has something that is not understood here."""


def statements(text: str) -> list[str]:
    """What the header declares, without comments and preprocessor, one statement each."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"(?m)^#(?:.*\\\n)*.*$", "", text)
    text = re.sub(r'extern "C" \{|\}\s*\Z', "", text)
    found, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0:
            found.append(" ".join(text[begin:at].split()))
            begin = at + 1
    return found


class Header:
    """The declarations so far, as Python text."""

    def __init__(self) -> None:
        self.constants: dict[str, int] = {}
        self.types: dict[str, str] = dict(SCALARS)
        self.classes: list[str] = []
        self.functions: list[str] = []
        self.builders: list[str] = []

    def number(self, expression: str) -> int:
        """The value of a constant expression of names and sums."""
        names = re.sub(r"\bR4_\w+", lambda m: str(self.constants[m[0]]), expression)
        if not re.fullmatch(r"[\d\s+*()-]+", names):
            raise HeaderError(f"not a number: {expression}")
        return int(eval(names))  # digits and + - * ( ) alone

    def enum(self, body: str) -> None:
        value = -1
        for item in filter(None, (part.strip() for part in body.split(","))):
            name, _, given = item.partition("=")
            value = self.number(given) if given else value + 1
            self.constants[name.strip()] = value

    def ctype(self, words: str, stars: int) -> str:
        """The type of a declaration. Memory of arrays is an address; a text that must be freed is one, too."""
        constant = "const" in words.split()
        name = " ".join(w for w in words.split() if w not in ("const", "struct"))
        if stars == 1 and name == "char" and constant:
            return "c_char_p"
        if stars:
            return "c_void_p"
        if name not in self.types:
            raise HeaderError(f"unknown type {name!r}")
        return self.types[name]

    def pointer_to_function(self, text: str) -> tuple[str, str]:
        """``bool (*report)(const r4_progress *p, void *user)`` as its name and type."""
        found = re.fullmatch(r"(.+?)\(\*(\w+)\)\((.*)\)", text)
        if not found:
            raise HeaderError(f"not understood: {text}")
        arguments = ", ".join([self.ctype(found[1].strip(), 0), *self.arguments(found[3])])
        return found[2], f"CFUNCTYPE({arguments})"

    def declared(self, text: str) -> tuple[str, str]:
        """One declaration with a name, as its name and type."""
        if "(*" in text:
            return self.pointer_to_function(text)
        found = re.fullmatch(r"([\w\s]+?)((?:\s*\*\s*(?:const\b)?\s*)*)\b(\w+)((?:\[[^]]*\])*)", text.strip())
        if not found:
            raise HeaderError(f"not understood: {text}")
        return found[3], self.array(self.ctype(found[1], found[2].count("*")), found[4])

    def array(self, kind: str, sizes: str) -> str:
        for size in reversed(re.findall(r"\[([^]]*)\]", sizes)):
            kind = f"{kind} * {self.number(size)}"
        return kind

    def arguments(self, text: str) -> list[str]:
        if text.strip() in ("", "void"):
            return []
        kinds = []
        for part in split_at(",", text):
            kind = self.declared(part)[1]
            kinds.append("c_void_p" if " * " in kind else kind)  # arrays are passed by their address
        return kinds

    def struct(self, name: str, body: str) -> None:
        fields: list[tuple[str, str]] = []
        for line in split_at(";", body):
            if inner := re.fullmatch(r"struct \{(.*)\} (\w+)((?:\[[^]]*\])*)", line):
                self.struct(f"{name}__{inner[2]}", inner[1])  # without a name of its own in C
                fields.append((inner[2], self.array(f"{name}__{inner[2]}", inner[3])))
                continue
            first, *others = split_at(",", line)
            fields.append(self.declared(first))
            base = re.match(r"(?:const\s+|struct\s+)*\w+", first)
            fields += [self.declared(f"{base[0]} {other}") for other in others if base]
        lines = [f"class {name}(Structure):", "    _fields_ = ["]
        lines += [f'        ("{field}", {kind}),' for field, kind in fields]
        lines += ["    ]", *(f"    {field}: {hint(kind)}" for field, kind in fields if not iskeyword(field))]
        self.classes.append("\n".join(lines))
        self.types[name] = name

    def take(self, s: str) -> None:
        """One statement of the header."""
        if found := re.fullmatch(r"(?:typedef )?enum \{(.*)\}\s*(\w*)", s):
            self.enum(found[1])
            if found[2]:
                self.types[found[2]] = "c_int"
        elif found := re.fullmatch(r"typedef struct \w* ?\{(.*)\} (\w+)", s):
            self.struct(found[2], found[1])
        elif found := re.fullmatch(r"struct (\w+) ?\{(.*)\}", s):  # whose name was declared above
            self.struct(found[1], found[2])
        elif re.fullmatch(r"typedef struct \w+ \w+", s):
            pass  # behind a pointer, or declared below
        elif found := re.fullmatch(r"([\w\s]+?)(\**)\s*(r4_\w+)\((.*)\)", s):
            result = self.ctype(found[1].strip(), len(found[2]))
            self.functions.append(f'    "{found[3]}": ({result}, [{", ".join(self.arguments(found[4]))}]),')
            if result == "r4_id" and found[4].startswith("r4_graph *"):  # not const: it adds a node
                self.builders.append(f'    "{found[3]}",')
        else:
            raise HeaderError(f"not understood: {s}")

    def text(self, version: str) -> str:
        constants = "\n".join(f"{name} = {value}" for name, value in self.constants.items())
        return "\n".join(
            [
                '"""include/r4.h and r4_tools.h for ctypes, as header.py has read them."""',
                "",
                "from __future__ import annotations",
                "",
                "from ctypes import CFUNCTYPE, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int",
                "from ctypes import c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p",
                "from typing import Any",
                "",
                f'VERSION = "{version}"',
                constants,
                "",
                *self.classes,
                "",
                "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {",
                *self.functions,
                "}",
                "",
                "# Of these, those that add a node to a graph, and return its id.",
                "BUILDERS = {",
                *self.builders,
                "}",
                "",
            ]
        )


def hint(kind: str) -> str:
    whole = re.fullmatch(r"c_(u?int\d*|size_t)", kind)
    return "int" if whole else HINTS.get(kind, "Any")


def split_at(separator: str, text: str) -> list[str]:
    """At separators that are not in brackets; what is empty is left out."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text + separator):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == separator and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [part for part in parts if part]


def convert(include: Path) -> str:
    """The headers of a folder as the text of a Python module."""
    texts = [(include / name).read_text() for name in HEADERS]
    version = re.search(r'#define R4_VERSION "(.*)"', texts[0])
    if not version:
        raise HeaderError(f"{HEADERS[0]} does not say its version")
    header = Header()
    for text in texts:
        for statement in statements(text):
            header.take(statement)
    return header.text(version[1])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(convert(Path(sys.argv[1])))
