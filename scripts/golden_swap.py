#!/usr/bin/python3
"""Writes test/golden/swap.txt: the swap test of a small net in NumPy, by its definition in r4.h and nothing else.

    scripts/golden_swap.py [--dir test/golden]

The format is that of scripts/golden.py. x [n, height, width, channels], mask [n, height, width] (0 to 255), label and group
[n], and weights of "flatten, dense 6, relu, dense 3". For each content K: K.counts, with donors, examples tested within their own
mask and at a donor's, and draws; and K.groups [4, groups]: examples, found, flipped and lost, the last two as means over draws.

Whose content is drawn, and noise, are Philox 4x32-10 with the keys that r4 documents, written here once more. Random numbers
apart, nothing is taken from the library. An answer that hangs on the last digits would test rounding: no two logits are close.
"""
import argparse
import os

import numpy as np

N, HEIGHT, WIDTH, CHANNELS, HIDDEN, CLASSES, GROUPS = 36, 4, 5, 2, 6, 3, 4
DRAWS, SEED, SWAP, FILL = 7, 11, 0x72340410, 0x72340340


def philox(seed, purpose, step, index):
    """64 bits: the first half of the block."""
    word = [index & 0xFFFFFFFF, index >> 32, purpose, step]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * word[0], 0xCD9E8D57 * word[2]
        word = [(q >> 32) ^ word[1] ^ key[0], q & 0xFFFFFFFF, (p >> 32) ^ word[3] ^ key[1], p & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return word[1] << 32 | word[0]


def below(seed, purpose, step, index, n):
    return philox(seed, purpose, step, index) * n >> 64


def uniform(seed, purpose, step, index):
    return (philox(seed, purpose, step, index) >> 11) * 2.0 ** -53


def examples():
    """Class 2 has one mask alone; boxes of masks differ in size, and their edges are soft."""
    r = np.random.default_rng(3)
    label = np.arange(N) % CLASSES
    group = r.integers(0, GROUPS, N)
    x = r.random((N, HEIGHT, WIDTH, CHANNELS)).round(2) - 0.3
    mask = np.zeros((N, HEIGHT, WIDTH), int)
    for i in range(N):
        if i % 5 == 0 or (label[i] == 2 and i > 2):
            continue
        top, left = r.integers(0, HEIGHT - 1), r.integers(0, WIDTH - 1)
        box = mask[i, top:top + r.integers(1, 4), left:left + r.integers(1, 4)]
        box[:] = r.choice([255, 255, 153], box.shape)
        box[0, 0] = box[-1, -1] = 255
    x[mask > 0] *= 15
    return x.round(2).astype(np.float32).astype(float), mask, label, group


def weights():
    r = np.random.default_rng(4)
    features = HEIGHT * WIDTH * CHANNELS
    shapes = [(HIDDEN, features), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]
    return [(r.random(s) - 0.5).round(3).astype(np.float32).astype(float) for s in shapes]


def answers(w, x):
    z = np.maximum(x.reshape(len(x), -1) @ w[0].T + w[1], 0) @ w[2].T + w[3]
    top = np.sort(z, axis=1)
    assert (top[:, -1] - top[:, -2] > 1e-4).all(), "two logits are close"
    return z.argmax(axis=1)


def box_of(mask):
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    return rows[0], columns[0], rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1


def stretched(x, mask, i, j):
    """The content of j's box, where it lies in i's."""
    top, left, height, width = box_of(mask[i])
    other_top, other_left, other_height, other_width = box_of(mask[j])
    content = x[i].copy()
    for r in range(height):
        for c in range(width):
            content[top + r, left + c] = x[j][other_top + r * other_height // height, other_left + c * other_width // width]
    return content


def noise(x, i, draw):
    low, high = x.min(axis=(0, 1, 2)), x.max(axis=(0, 1, 2))
    features = HEIGHT * WIDTH * CHANNELS
    u = [uniform(SEED, FILL, draw, i * (features + 2) + k) for k in range(features)]
    return low + np.array(u).reshape(x[i].shape) * (high - low)


def content_of(kind, x, mask, i, donor, draw):
    if kind == "swap":
        return stretched(x, mask, i, donor) if mask[i].any() else x[donor]
    return {"blank": lambda: np.zeros_like(x[i]), "mean": lambda: x.mean(axis=0), "noise": lambda: noise(x, i, draw)}[kind]()


def swap_test(kind, x, mask, label, group, w):
    has = mask.any(axis=(1, 2))
    share = np.array([has[label == c].mean() for c in range(CLASSES)])
    rare = share < share.max() / 2
    tested = [i for i in range(N) if has[i] or rare[label[i]]]
    before = answers(w, x)
    drawn = kind in ("swap", "noise") or any(not has[i] for i in tested)
    draws = DRAWS if drawn else 1
    result = np.zeros((4, GROUPS))
    for i in tested:
        result[0, group[i]] += 1
        result[1, group[i]] += before[i] == label[i]
        # donors of other classes: those of a class together
        others = [j for c in range(CLASSES) if c != label[i] for j in range(N) if has[j] and label[j] == c]
        for draw in range(draws):
            donor = others[below(SEED, SWAP, draw, i, len(others))] if kind == "swap" or not has[i] else i
            m = (mask[i] if has[i] else mask[donor])[:, :, None] / 255
            now = answers(w, ((1 - m) * x[i] + m * content_of(kind, x, mask, i, donor, draw))[None])[0]
            result[2, group[i]] += now != before[i]
            result[3, group[i]] += before[i] == label[i] and now != label[i]
    result[2:] /= draws
    inside = sum(has[i] for i in tested)
    return [has.sum(), inside, len(tested) - inside, draws], result


def write(out, name, v, digits=7):
    """7 digits give a float back."""
    v = np.asarray(v)
    out.append("tensor %s %d %s" % (name, v.ndim, " ".join(map(str, v.shape))))
    flat = v.ravel()
    out += [" ".join("%.*g" % (digits, k) for k in flat[i:i + 20]) for i in range(0, len(flat), 20)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dir", default="test/golden")
    p = p.parse_args()
    x, mask, label, group = examples()
    w = weights()
    out = ["# swap: made by scripts/golden_swap.py with numpy %s; do not edit" % np.__version__]
    for name, v in (("x", x), ("mask", mask), ("label", label), ("group", group)):
        write(out, name, v)
    write(out, "weights", np.concatenate([v.ravel() for v in w]))
    for kind in ("swap", "blank", "mean", "noise"):
        counts, groups = swap_test(kind, x, mask, label, group, w)
        write(out, kind + ".counts", counts)
        write(out, kind + ".groups", groups, 16)
    with open(os.path.join(p.dir, "swap.txt"), "w") as f:
        f.write("\n".join(out) + "\n")


main()
