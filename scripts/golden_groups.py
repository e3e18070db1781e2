#!/usr/bin/python3
"""Writes test/golden/groups.txt: convolutions with groups, and what PyTorch makes of them.

    scripts/golden_groups.py [--dir test/golden]

Needs python3-torch; golden.py describes the form of the file. For each case a small net in double precision

    h = relu(conv(x, v)),  y = conv(h, w),  L = sum(t y^2) / 2,  g = dL/dx

with the same groups in both convolutions, and of it

    CASE.x CASE.v CASE.w CASE.t      what goes in, in r4's layouts
    CASE.y CASE.g                    values and input gradient
    CASE.dv CASE.dw                  the derivative of sum(g^2): second order
    CASE.lo CASE.hi CASE.glo CASE.ghi  bounds of y and of g while x moves by up to eps, by centre and radius
    text CASE groups stride dilation top bottom left right eps
"""
import argparse
import os

import torch
import torch.nn.functional as F

from golden import tensor_lines

CASES = [
    # name, channels of x, h and y, groups, stride, dilation, padding (top, bottom, left, right), eps
    ("two", (4, 6, 4), 2, 1, 1, (1, 1, 1, 1), 0.03),
    ("depthwise", (3, 3, 3), 3, 2, 1, (1, 0, 2, 1), 0.05),
    ("multiplied", (3, 6, 12), 3, 1, 2, (2, 1, 0, 2), 0.02),
]


class Conv:
    """One convolution, and its transpose, which is its derivative."""

    def __init__(self, shape, weight, case):
        _, _, self.groups, self.stride, self.dilation, (top, bottom, left, right), _ = case
        self.pad, self.shape, self.weight = (left, right, top, bottom), shape, weight

    def apply(self, x, weight):
        return F.conv2d(F.pad(x, self.pad), weight, None, self.stride, 0, self.dilation, self.groups)

    def transposed(self, dy, weight):
        x = torch.zeros(self.shape, requires_grad=True)
        return torch.autograd.grad(self.apply(x, weight), x, dy, create_graph=True)[0]

    def ball(self, apply, lo, hi):
        centre, radius = apply((lo + hi) / 2, self.weight), apply((hi - lo) / 2, self.weight.abs())
        return centre - radius, centre + radius


def gate(lo, hi, dlo, dhi):
    """[step(lo), step(hi)] times [dlo, dhi]."""
    a, b = (lo > 0).double(), (hi > 0).double()
    return torch.minimum(a * dlo, b * dlo), torch.maximum(a * dhi, b * dhi)


def results(case):
    name, channels, groups, _, _, _, eps = case
    x = torch.randn(2, channels[0], 6, 5)
    v = torch.randn(channels[1], channels[0] // groups, 3, 2).requires_grad_()
    w = torch.randn(channels[2], channels[1] // groups, 2, 3).requires_grad_()
    first = Conv(x.shape, v, case)
    z = first.apply(x, v)
    second = Conv(z.shape, w, case)
    y = second.apply(z.relu(), w)
    t = torch.randn(y.shape)
    g = first.transposed(second.transposed(t * y, w) * (z > 0), v)
    dv, dw = torch.autograd.grad((g ** 2).sum(), [v, w])
    zl, zh = first.ball(first.apply, x - eps, x + eps)
    lo, hi = second.ball(second.apply, zl.relu(), zh.relu())
    dlo, dhi = torch.minimum(t * lo, t * hi), torch.maximum(t * lo, t * hi)
    dlo, dhi = gate(zl, zh, *second.ball(second.transposed, dlo, dhi))
    glo, ghi = first.ball(first.transposed, dlo, dhi)
    assert ((glo <= g) & (g <= ghi)).all() and ((lo <= y) & (y <= hi)).all()
    found = dict(x=x, v=v, w=w, t=t, y=y, g=g, dv=dv, dw=dw, lo=lo, hi=hi, glo=glo, ghi=ghi)
    return {f"{name}.{key}": value.detach().permute(0, 2, 3, 1) for key, value in found.items()}


def main():
    ask = argparse.ArgumentParser(description="write the golden file of convolutions with groups")
    ask.add_argument("--dir", default=os.path.join(os.path.dirname(__file__), "..", "test", "golden"))
    args = ask.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.manual_seed(4)
    lines = ["# Convolutions with groups, by scripts/golden_groups.py, which says what the names mean."]
    for case in CASES:
        name, _, groups, stride, dilation, pad, eps = case
        lines.append(" ".join(["text", name] + [str(n) for n in (groups, stride, dilation, *pad, eps)]))
        for key, value in results(case).items():
            lines += tensor_lines(key, value)
    with open(os.path.join(args.dir, "groups.txt"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
