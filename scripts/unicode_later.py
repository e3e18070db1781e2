#!/usr/bin/env python3
"""Prints src/text/unicode_differences.def: the characters that Hugging Face's tokenizers and utf8proc class in different ways.

    python3 -m venv v && v/bin/pip install tokenizers && v/bin/python scripts/unicode_later.py LIBUTF8PROC > src/text/unicode_differences.def

tokenizers knows the categories of Unicode 8, decompositions of 12 and lower case of its compiler's library; utf8proc 2.8
is of Unicode 15, 2.11 of 17. All code points are compared. Take the newest utf8proc: what an older one does not know yet it
takes for unassigned, as tokenizers does."""
import ctypes
import sys

import tokenizers
from tokenizers import normalizers, pre_tokenizers

proc = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libutf8proc.so.2")
proc.utf8proc_unicode_version.restype = proc.utf8proc_category_string.restype = ctypes.c_char_p
proc.utf8proc_tolower.restype = ctypes.c_int32


class Property(ctypes.Structure):
    _fields_ = [("category", ctypes.c_int16), ("combining_class", ctypes.c_int16)]


proc.utf8proc_get_property.restype = ctypes.POINTER(Property)
category = [proc.utf8proc_category_string(c).decode() for c in range(0x110000)]
order = [proc.utf8proc_get_property(c).contents.combining_class for c in range(0x110000)]
characters = [c for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]


def bert(**flags):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **flags})


clean, accents, lower = bert(clean_text=True), bert(strip_accents=True), bert(lowercase=True)
nfd, words = normalizers.NFD(), pre_tokenizers.BertPreTokenizer()


def class_here(c):
    """What unicode.c would make of it without this table."""
    if category[c] in ("Cc", "Cf", "Co") and c not in (9, 10, 13) or c == 0xFFFD:
        return "REMOVED"
    if category[c] == "Mn":
        return "MARK"
    ascii_punctuation = c < 127 and c > 32 and not chr(c).isalnum()
    return "PUNCTUATION" if category[c][0] == "P" or ascii_punctuation else "PLAIN"


def class_there(c):
    if clean.normalize_str("a" + chr(c) + "b") == "ab":
        return "REMOVED"
    if c not in decomposed and accents.normalize_str("a" + chr(c)) == "a":
        return "MARK"
    return "PUNCTUATION" if len(words.pre_tokenize_str("a" + chr(c) + "b")) == 3 else "PLAIN"


def ranges(found, may_span):
    """Neighbours together; a gap is spanned where the table may say the same of all that is in it."""
    merged = []
    for c in found:
        if merged and all(may_span(k) for k in range(merged[-1][1] + 1, c)):
            merged[-1][1] = c
        else:
            merged.append([c, c])
    return merged


decomposed = {c for c in characters if nfd.normalize_str(chr(c)) != chr(c)}
here = {c: class_here(c) for c in characters}
there = {c: class_there(c) for c in characters}

print("/* Characters that tokenizers %s and utf8proc (up to Unicode %s) class in different ways: scripts/unicode_later.py. */"
      % (tokenizers.__version__, proc.utf8proc_unicode_version().decode()))
for kind in ("MARK", "PUNCTUATION", "REMOVED"):
    for c in characters:
        if here[c] != there[c] == kind:
            print("%s(0x%04x, 0x%04x)" % (kind, c, c))
later = [c for c in characters if here[c] != there[c] == "PLAIN" and c not in decomposed]
for first, last in ranges(later, lambda c: there.get(c) == "PLAIN" and category[c][0] != "Z"):
    print("PLAIN(0x%04x, 0x%04x)" % (first, last))

buffer = (ctypes.c_int32 * 16)()
bound = ctypes.c_int(0)
for c in characters:
    n = proc.utf8proc_decompose_char(c, buffer, 16, 2 | 16, ctypes.byref(bound))
    if "".join(map(chr, buffer[:n])) != nfd.normalize_str(chr(c)):
        assert c not in decomposed
        print("WHOLE(0x%04x, 0x%04x)" % (c, c))


def order_there_is_zero(c):
    return nfd.normalize_str("a" + chr(c) + "\u0334") == "a" + chr(c) + "\u0334"


moved = [c for c in characters if order[c] > 1 and order_there_is_zero(c)]
for first, last in ranges(moved, lambda c: False):
    print("STARTER(0x%04x, 0x%04x)" % (first, last))

changed = [(c, lower.normalize_str(chr(c))) for c in characters]
changed = [(c, ord(s) - c) for c, s in changed if len(s) == 1 and ord(s) != proc.utf8proc_tolower(c)]
runs = []
for c, step in changed:
    if runs and runs[-1][1] == c - 1 and runs[-1][2] == step:
        runs[-1][1] = c
    else:
        runs.append([c, c, step])
for run in runs:
    print("LOWER(0x%04x, 0x%04x, %d)" % tuple(run))
