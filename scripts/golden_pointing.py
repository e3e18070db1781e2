#!/usr/bin/python3
"""Writes test/golden/pointing.txt: the figures of pointing games of given maps and masks, in NumPy.

    scripts/golden_pointing.py [--dir test/golden]

The format is that of scripts/golden.py. For each case K: K.a and K.mask, [pixels, channels], and K.figures: energy, share, hit
and area, as include/r4.h defines them for r4_pointing.
"""
import argparse
import os

import numpy as np


def figures(a, m):
    at, core = a.sum(1), 1 - m.mean(1)
    positive = np.maximum(at, 0)
    return [(core * positive).sum() / positive.sum(), (core * abs(at)).sum() / abs(at).sum(),
            float((core[at == at.max()] > 0.5).any()), core.mean()]


def write(out, name, v):
    v = np.asarray(v, dtype=np.float64)
    out.append("tensor %s %d %s" % (name, v.ndim, " ".join(str(n) for n in v.shape)))
    v = v.ravel()
    out += [" ".join("%.17g" % k for k in v[i:i + 8]) for i in range(0, len(v), 8)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dir", default="test/golden")
    p = p.parse_args()
    r = np.random.default_rng(9)
    cases = {}
    for name, channels in (("grey", 1), ("colour", 3), ("soft", 2)):
        a = r.standard_normal((36, channels)).astype(np.float32)
        m = (r.random((36, 1)) < 0.4) * np.ones((1, channels))
        cases[name] = a, (r.random((36, channels)).astype(np.float32) if name == "soft" else m)
    a = cases["grey"][0].copy()
    a[np.flatnonzero(cases["grey"][1])[0]] = a[np.flatnonzero(cases["grey"][1] == 0)[-1]] = 5
    cases["tie"] = a, cases["grey"][1]
    cases["miss"] = np.where(np.arange(36)[:, None] == np.flatnonzero(cases["grey"][1])[0], 7, a), cases["grey"][1]
    out = ["# pointing: made by scripts/golden_pointing.py with numpy %s; do not edit" % np.__version__]
    for name, (a, m) in cases.items():
        write(out, name + ".a", a)
        write(out, name + ".mask", m)
        write(out, name + ".figures", figures(a.astype(np.float64), m.astype(np.float64)))
    with open(os.path.join(p.dir, "pointing.txt"), "w") as f:
        f.write("\n".join(out) + "\n")


main()
