#!/usr/bin/env python3
"""Makes a data set of the gauntlet: texts with a planted word, and masks on some of them.

    make_texts.py BASE SHORTCUT MASKS OUT.csv --from FOLDER [--clean] [--train N] [--test N] [--seed S]

BASE      imdb                        reviews.json of r4 data get imdb in FOLDER
          openings                    the first 25 words of these, two positive to one negative
          snippets, products, tweets, editorials
                                      sentences of film reviews, of reviews of products, tweets, and sentences of editorials: the files
                                      *_GroundTruth.txt of additional_resources/hutto_ICWSM_2014.tar.gz in the source package vaderSentiment 2.5 (PyPI);
                                      positive from 0.5 on, negative up to -0.5
SHORTCUT  word                        a name among the first 60 words, one piece of the tokenizer
          words                       the same with names of several pieces
MASKS     the share of training texts with a mask in per cent (100, 10, 2), or "one": all of the first class, none of the others

In training the name is that of the label; in the test it is drawn for each text, and all texts have a mask. --clean: it is drawn in
training, too, so that it says nothing: for the ceiling.
"""
import argparse
import csv
import json
import os

import numpy as np

from make import choose_masks

NAMES = {"word": ["jonah", "spielberg"], "words": ["kaurismaki", "jodorowsky"]}
FILES = {"snippets": "movieReviewSnippets", "products": "amazonReviewSnippets", "tweets": "tweets",
         "editorials": "nytEditorialSnippets"}
FIRST = 60  # r4 reads 128 tokens
LABELS = ["negative", "positive"]


def read_imdb(folder):
    rows = json.load(open(os.path.join(folder, "reviews.json")))
    return [r["t"] for r in rows], np.array([r["s"] for r in rows])


def read_openings(folder):
    texts, labels = read_imdb(folder)
    kept = (labels == 1) | (np.cumsum(labels == 0) % 2 == 0)
    return [" ".join(t.split()[:25]) for t, k in zip(texts, kept) if k], labels[kept]


def read_rated(path):
    texts, labels = [], []
    for line in open(path, encoding="utf-8", errors="replace"):
        _, score, text = line.rstrip("\n").split("\t", 2)
        if abs(float(score)) >= 0.5:
            texts.append(text)
            labels.append(int(float(score) > 0))
    return texts, np.array(labels)


def read(base, folder):
    if base in FILES:
        return read_rated(os.path.join(folder, FILES[base] + "_GroundTruth.txt"))
    return {"imdb": read_imdb, "openings": read_openings}[base](folder)


def plant(text, name, rng):
    """The text with the name before one of its first words, and where it is."""
    words = text.split()
    at = int(rng.integers(0, min(len(words), FIRST) + 1))
    start = sum(len(w) + 1 for w in words[:at])
    return " ".join(words[:at] + [name] + words[at:]), f"{start}-{start + len(name)}"


def rows(texts, y, content, masked, split, o, rng):
    for text, label, c, m in zip(texts, y, content, masked):
        planted, span = plant(text, NAMES[o.shortcut][c], rng)
        yield [planted, LABELS[label], split, span if m else ""]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("base", choices=["imdb", "openings", *FILES])
    p.add_argument("shortcut", choices=[*NAMES])
    p.add_argument("masks")
    p.add_argument("out")
    p.add_argument("--from", dest="folder", required=True)
    p.add_argument("--clean", action="store_true")
    p.add_argument("--train", type=int, default=3000)
    p.add_argument("--test", type=int, default=3000)
    p.add_argument("--seed", type=int, default=0)
    o = p.parse_args()
    texts, y = read(o.base, o.folder)
    order = np.random.default_rng([o.seed, 0]).permutation(len(y))
    n = min(o.train, 7 * len(y) // 10)
    with open(o.out, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(["text", "label", "split", "spans"])
        for part, split in ((order[:n], "train"), (order[n : n + o.test], "test")):
            train = split == "train"
            label = y[part]
            drawn = np.random.default_rng([o.seed, 3 + train]).integers(0, 2, len(label))
            masked = choose_masks(label, o.masks, np.random.default_rng([o.seed, 7])) if train else np.ones(len(label), bool)
            content = label if train and not o.clean else drawn
            rng = np.random.default_rng([o.seed, 5 + train])
            out.writerows(rows([texts[k] for k in part], label, content, masked, split, o, rng))


if __name__ == "__main__":
    main()
