#!/usr/bin/python3
"""Writes test/golden/sensitivity.txt: relative core sensitivity of given answers, and its standard error, in NumPy.

    scripts/golden_sensitivity.py [--dir test/golden]

The format is that of scripts/golden.py. For each case K: K.spurious and K.core, shares of right answers of each example with
noise on what is masked and on the core, and K.rcs: mean, mean, value and standard error by the jackknife.
"""
import argparse
import os

import numpy as np


def rcs(s, c):
    a = (s.mean() + c.mean()) / 2
    return (s.mean() - c.mean()) / (2 * min(a, 1 - a))


def jackknife(s, c):
    n = len(s)
    without = np.array([rcs(np.delete(s, i), np.delete(c, i)) for i in range(n)])
    return np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())


def write(out, name, v):
    out.append("tensor %s 1 %d" % (name, len(v)))
    out += [" ".join("%.17g" % k for k in v[i:i + 8]) for i in range(0, len(v), 8)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dir", default="test/golden")
    p = p.parse_args()
    r = np.random.default_rng(5)
    cases = {"low": ((r.random(40) < 0.6) * 1.0, (r.random(40) < 0.3) * 1.0),
             "high": ((r.random(33) < 0.8) * 1.0, (r.random(33) < 0.9) * 1.0),
             "draws": (r.integers(0, 5, 25) / 4, r.integers(0, 5, 25) / 4)}
    out = ["# sensitivity: made by scripts/golden_sensitivity.py with numpy %s; do not edit" % np.__version__]
    for name, (s, c) in cases.items():
        write(out, name + ".spurious", s)
        write(out, name + ".core", c)
        write(out, name + ".rcs", [s.mean(), c.mean(), rcs(s, c), jackknife(s, c)])
    with open(os.path.join(p.dir, "sensitivity.txt"), "w") as f:
        f.write("\n".join(out) + "\n")


main()
