#!/usr/bin/python3
"""Writes test/golden/guide.txt: R3 and IBP-Ex at an inner node of a small net.

    scripts/golden_guide.py [--dir test/golden]

The format is that of scripts/golden.py; everything has r4's layout: images [height, width, channels], kernels [out, height,
width, in].

    net input guide eps   the net, as r4 writes it; the part at which it is guided; the radius there
    x y m                 images, labels, masks of pixels
    any half              masks of the cells there
    r3.penalty            mean_i |any . g_i|^2, g = d(cross entropy)/d(features), and r3.grad.NAME by double backward
    ibp.penalty           mean over masked i of CE(worst logits over features -+ eps any), and ibp.grad.NAME
"""
import argparse
import os

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)

NET = ("normalize mean 0.5/0.25 std 0.25/0.5, early: (conv 3 3 s2 p1, relu), late: (conv 4 3 p1, relu), globalpool, "
       "fc: dense 3")
N, H, W, C, EPS = 4, 7, 6, 2, 0.05


def grid(*shape, scale=1.0):
    return (torch.randn(*shape) * scale * 1024).round() / 1024


p = {"early.0.weight": grid(3, 3, 3, C, scale=0.4), "early.0.bias": grid(3, scale=0.2),
     "late.0.weight": grid(4, 3, 3, 3, scale=0.4), "late.0.bias": grid(4, scale=0.2),
     "fc.weight": grid(3, 4, scale=0.8), "fc.bias": grid(3, scale=0.2)}
x = (torch.rand(N, H, W, C) * 1024).round() / 1024
y = torch.tensor([0, 2, 1, 2])
m = torch.zeros(N, H, W, C)
m[0, 0:2, 0:3] = 1
m[1, 4:7, 3:6, 0] = 1
m[2, 3, 3] = 1  # the last has none


def kernel(name):
    return p[name].permute(0, 3, 1, 2)


def features():
    z = (x - torch.tensor([0.5, 0.25])) / torch.tensor([0.25, 0.5])
    return F.conv2d(z.permute(0, 3, 1, 2), kernel("early.0.weight"), p["early.0.bias"], 2, 1).relu()


def logits(a):
    return F.linear(F.conv2d(a, kernel("late.0.weight"), p["late.0.bias"], 1, 1).relu().mean((2, 3)), p["fc.weight"],
                    p["fc.bias"])


def cells(rule):
    pixel = m.amax(3)
    h, w = features().shape[2:]
    out = torch.zeros(N, h, w)
    for i in range(h):
        for j in range(w):
            part = pixel[:, i * H // h:-(-(i + 1) * H // h), j * W // w:-(-(j + 1) * W // w)]
            out[:, i, j] = part.amax((1, 2)) if rule == "any" else (part.mean((1, 2)) >= 0.5)
    return out


def r3():
    a = features()
    g, = torch.autograd.grad(F.cross_entropy(logits(a), y, reduction="sum"), a, create_graph=True)
    return ((g * cells("any")[:, None]) ** 2).sum() / N


def ibp():
    mask = cells("any")[:, None]
    c, r = features(), EPS * mask * torch.ones(1, 3, 1, 1)
    c = F.conv2d(c, kernel("late.0.weight"), p["late.0.bias"], 1, 1)
    r = F.conv2d(r, kernel("late.0.weight").abs(), None, 1, 1)
    lo, hi = (c - r).relu().mean((2, 3)), (c + r).relu().mean((2, 3))
    c, r = F.linear((lo + hi) / 2, p["fc.weight"], p["fc.bias"]), F.linear((hi - lo) / 2, p["fc.weight"].abs())
    hot = F.one_hot(y, 3).bool()
    each = F.cross_entropy(torch.where(hot, c - r, c + r), y, reduction="none")
    has = (m.amax((1, 2, 3)) > 0).to(each.dtype)
    return (each * has).sum() / has.sum()


def tensor(out, name, t):
    t = t.detach()
    out.append("tensor %s %d %s" % (name, t.dim(), " ".join(map(str, t.shape))))
    v = ["%.17g" % k for k in t.reshape(-1).tolist()]
    out += [" ".join(v[k:k + 5]) for k in range(0, len(v), 5)]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--dir", default="test/golden")
    a = a.parse_args()
    out = ["# guide: made by scripts/golden_guide.py with torch %s, seed 3; do not edit" % torch.__version__,
           "text net " + NET, "text input %d %d %d" % (H, W, C), "text guide early", "text eps %g" % EPS]
    for k in p:
        p[k].requires_grad_()
        tensor(out, k, p[k])
    for k, v in (("x", x), ("y", y.double()), ("m", m), ("any", cells("any")), ("half", cells("half"))):
        tensor(out, k, v)
    for name, f in (("r3", r3), ("ibp", ibp)):
        q = f()
        tensor(out, name + ".penalty", q.reshape(1))
        for k, g in zip(p, torch.autograd.grad(q, list(p.values()), allow_unused=True)):
            tensor(out, name + ".grad." + k, torch.zeros_like(p[k]) if g is None else g)
    with open(os.path.join(a.dir, "guide.txt"), "w") as f:
        f.write("\n".join(out) + "\n")


main()
