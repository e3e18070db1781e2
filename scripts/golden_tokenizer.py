#!/usr/bin/env python3
"""What Hugging Face's tokenizers makes of texts: test/golden/tokenizer.txt, and the vocabularies of test/tokens.

    python3 -m venv v && v/bin/pip install tokenizers
    v/bin/python scripts/golden_tokenizer.py --data $R4_DATA_DIR       # with minilm and imdb in it
    v/bin/python scripts/golden_tokenizer.py --show FILE.json N        # the tokens of the N-th random string

A line of the golden file: the vocabulary, the texts, their number, and the SHA-256 of their tokens: for each text the
number of tokens, then id, first byte and the byte behind the last of each, all as 8 bytes, the lowest first."""
import argparse
import hashlib
import json
import os
import struct

from tokenizers import Tokenizer

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test")
STRINGS, SEED, MASK = 10000, 1, (1 << 64) - 1
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CHUNKS = SPECIAL + ["[sep]", "##", "##a", "[", "the", "ing", "un"]


class Random:
    """splitmix64, as test/test_tokenizer.c has it."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return (z ^ (z >> 31)) % n


# First code point, and how many there are: letters twice, all of ASCII, accented, combining, Chinese, Hangul, ...
BLOCKS = [(97, 26), (97, 26), (97, 26), (65, 26), (32, 1), (33, 94), (0, 128), (0xC0, 0x240), (0x300, 0x70),
          (0x4E00, 0x5200), (0xAC00, 11172), (0, 0x110000), (0x370, 0x2C90), (0x1D000, 0x2000), (0xF900, 0x700)]


def string(r):
    text = ""
    for _ in range(r.below(80)):
        kind = r.below(len(BLOCKS) + 2)
        if kind < len(BLOCKS):
            c = BLOCKS[kind][0] + r.below(BLOCKS[kind][1])
            text += chr(0xFFFD if 0xD800 <= c < 0xE000 else c)
        elif kind == len(BLOCKS):
            text += CHUNKS[r.below(len(CHUNKS))]
        elif r.below(20) == 0:
            text += chr(97 + r.below(26)) * (98 + r.below(5))
    return text


def small_vocabulary():
    letters = [chr(c) for c in range(97, 123)] + list("0123456789") + [chr(c) for c in range(33, 48)] + list("[]{}\u3002")
    jamo = [chr(c) for c in range(0x1100, 0x1113)] + [chr(c) for c in range(0x1161, 0x1176)]
    whole = letters + list("\u4e00\u4eba\u4e2d\u03b1\u03b2\u0434\u00df\u0131") + jamo
    words = "the of and [unused0] movie film good bad aa bb ing [unused1] able".split() + [a + b for a in "aeiou" for b in "nrst"]
    capital = list("ABCDEFGHIJKLMN") + ["\u00c9", "\u00e9"]
    pieces = SPECIAL + whole + words + capital
    return pieces + ["##" + p for p in whole + words + capital]


def settings(pieces, clean, cjk, accents, lower):
    added = [dict(id=k, content=p, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
             for k, p in enumerate(SPECIAL)]
    return {"version": "1.0", "added_tokens": added,
            "normalizer": {"type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": cjk,
                           "strip_accents": accents, "lowercase": lower},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100, "vocab": {p: k for k, p in enumerate(pieces)}}}


def write_vocabularies():
    pieces = small_vocabulary()
    with open(os.path.join(HERE, "tokens", "vocab.txt"), "w") as f:
        f.writelines(p + "\n" for p in pieces)
    forms = {"uncased": (True, True, None, True), "cased": (True, True, None, False),
             "raw": (False, False, None, False), "lower": (True, True, False, True), "stripped": (False, True, True, False)}
    for name, form in forms.items():
        with open(os.path.join(HERE, "tokens", name + ".json"), "w") as f:
            json.dump(settings(pieces, *form), f, ensure_ascii=False, separators=(",", ":"))
            f.write("\n")
    return [os.path.join("tokens", name + ".json") for name in forms]


def tokens(tokenizer, texts):
    for text, found in zip(texts, tokenizer.encode_batch(texts, add_special_tokens=False)):
        at = [0]
        for c in text:
            at.append(at[-1] + len(c.encode()))
        yield [(i, at[a], at[b]) for i, (a, b) in zip(found.ids, found.offsets)]


def digest(path, texts):
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    h = hashlib.sha256()
    for start in range(0, len(texts), 1000):
        for found in tokens(tokenizer, texts[start:start + 1000]):
            h.update(struct.pack("<Q", len(found)) + b"".join(struct.pack("<3Q", *t) for t in found))
    return h.hexdigest()


def random_strings():
    r = Random(SEED)
    return [string(r) for _ in range(STRINGS)]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data")
    a.add_argument("--show", nargs=2)
    o = a.parse_args()
    strings = random_strings()
    if o.show:
        tokenizer = Tokenizer.from_file(o.show[0])
        tokenizer.no_truncation()
        tokenizer.no_padding()
        text = strings[int(o.show[1])]
        print([hex(ord(c)) for c in text])
        print(*next(tokens(tokenizer, [text])), sep="\n")
        return
    lines = ["%s strings %d %s\n" % (name, STRINGS, digest(os.path.join(HERE, name), strings))
             for name in write_vocabularies()]
    minilm = os.path.join(o.data, "minilm", "tokenizer.json")
    with open(os.path.join(o.data, "imdb", "reviews.json")) as f:
        reviews = [r["t"] for r in json.load(f)]
    lines.append("minilm strings %d %s\n" % (STRINGS, digest(minilm, strings)))
    lines.append("minilm reviews %d %s\n" % (len(reviews), digest(minilm, reviews)))
    with open(os.path.join(HERE, "golden", "tokenizer.txt"), "w") as f:
        f.writelines(lines)


main()
