#!/usr/bin/python3
"""Writes test/golden/linear.txt: linear bounds of logits by auto_LiRPA, another program for them.

    pip install --no-deps --target DIR auto_LiRPA==0.3 appdirs tqdm pyyaml packaging
    PYTHONPATH=DIR scripts/golden_linear.py [--dir test/golden]

Needs python3-torch (1.13). The format and the layouts are those of scripts/golden.py. For each case K: K.layers, K.input
and K.eps; tensors K.x, K.PARAMETER, and K.METHOD.lo and K.METHOD.hi for
    intervals   interval bound propagation
    inner       CROWN with ends inside by intervals (CROWN-IBP)
    linear      CROWN from each undecided layer on (CROWN)
while every feature of x moves by up to eps. Relus are relaxed alike: above by the chord, below by x if u > -l and else 0.
"""
import argparse
import os
import sys

import torch
from auto_LiRPA import BoundedModule, BoundedTensor, PerturbationLpNorm

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import golden  # noqa: E402

CASES = [
    # layers, shape of an example, batch, eps
    ("dense 9, relu, dense 7, relu, dense 8, relu, dense 4", [6], 3, 0.1),
    ("dense 8, relu, dense 3", [5], 4, 0.3),
    ("conv 3 3 p1, relu, conv 4 3 s2, relu, flatten, dense 6, relu, dense 3", [6, 5, 2], 2, 0.03),
]
METHODS = {"intervals": "IBP", "inner": "CROWN-IBP", "linear": "CROWN"}


def module(net, p):
    """The net with these parameters as a torch module."""
    parts = []
    for layer in net.layers:
        if layer.kind == "relu":
            parts.append(torch.nn.ReLU())
        elif layer.kind == "flatten":
            parts.append(torch.nn.Flatten())
        else:
            w, b = p[layer.weight], p[layer.bias]
            part = (torch.nn.Linear(w.shape[1], w.shape[0]) if layer.kind == "dense" else
                    torch.nn.Conv2d(w.shape[1], w.shape[0], layer.kernel, layer.stride, layer.pad))
            part.weight.data, part.bias.data = w, b
            parts.append(part)
    return torch.nn.Sequential(*parts).double()


def draw(net, shape, batch, generator):
    def normal(size, spread):
        return (torch.randn(size, generator=generator, dtype=torch.float64) * spread).float().double()
    p = {}
    for name, size in net.sizes.items():
        fan = torch.tensor(size[1:]).prod().item() if len(size) > 1 else 1
        p[name] = normal(size, 1.6 / fan ** 0.5 if len(size) > 1 else 0.3)
    size = [batch, shape[2], shape[0], shape[1]] if len(shape) == 3 else [batch] + shape
    return p, torch.rand(size, generator=generator, dtype=torch.float64).float().double()


def case_lines(k, case, generator):
    line, shape, batch, eps = case
    net = golden.Net(line, shape)
    p, x = draw(net, shape, batch, generator)
    bounded = BoundedModule(module(net, p), torch.empty_like(x), bound_opts={"relu": "adaptive"})
    ball = BoundedTensor(x, PerturbationLpNorm(norm=float("inf"), x_L=x - eps, x_U=x + eps))
    lines = [f"text {k}.layers {line}", f"text {k}.input {' '.join(map(str, shape))}", f"text {k}.eps {golden.number(eps)}"]
    lines += golden.tensor_lines(f"{k}.x", x.permute(0, 2, 3, 1) if len(shape) == 3 else x)
    for name in net.names():
        lines += golden.tensor_lines(f"{k}.{name}", net.stored(name, p[name]))
    for name, method in METHODS.items():
        lo, hi = bounded.compute_bounds(x=(ball,), method=method)
        lines += golden.tensor_lines(f"{k}.{name}.lo", lo.detach())
        lines += golden.tensor_lines(f"{k}.{name}.hi", hi.detach())
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default="test/golden")
    folder = parser.parse_args().dir
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(3)
    lines = [f"# linear: made by scripts/golden_linear.py with torch {torch.__version__} and auto_LiRPA 0.3; do not edit"]
    for k, case in enumerate(CASES):
        lines += case_lines(k, case, generator)
    with open(os.path.join(folder, "linear.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
