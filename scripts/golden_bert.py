#!/usr/bin/python3
"""Writes test/golden/bert.txt: one layer of a BERT encoder, and what PyTorch makes of it, in double.

    scripts/golden_bert.py [--dir test/golden]

The format is that of golden.py. x [batch, tokens, width] stands for the sum of embeddings, y for labels, m for masks of
tokens; weights are [out, in]. With z the logits of the first token's vector:

    z loss g      logits, cross entropy of each example, g = d(sum of loss)/dx
    r3.loss       mean_i loss_i + mean_i |m g_i|^2
    r3.grad.P     its derivative with respect to each parameter P and to x
    z.lo z.hi     bounds of z while x moves by up to eps m: intervals through every operation, the products of two
                  intervals by centre and radius
    g.lo g.hi     bounds of g, from those of every value on the way, by the same rules
"""
import argparse
import os

import torch
import torch.nn.functional as F

from golden import tensor_lines
from golden_intervals import around

BATCH, TOKENS, WIDTH, HEADS, INNER, CLASSES, EPS, NORM_EPS = 2, 5, 6, 2, 8, 3, 0.0005, 1e-5
SHAPES = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH), "n1": (WIDTH,),
          "f1": (INNER, WIDTH), "f2": (WIDTH, INNER), "n2": (WIDTH,), "c": (CLASSES, WIDTH)}


def draw():
    torch.manual_seed(4)
    p = {}
    for name, shape in SHAPES.items():
        p[name] = torch.randn(shape) * 0.5 + (1 if len(shape) == 1 else 0)
        p[name + ".bias"] = torch.randn(shape[0]) * 0.3
    x = torch.randn(BATCH, TOKENS, WIDTH)
    m = (torch.rand(BATCH, TOKENS, 1) < 0.4).double()
    return p, x, torch.arange(BATCH) % CLASSES, m


def heads(x):
    return x.view(BATCH, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)


def logits(p, x):
    def dense(v, name):
        return F.linear(v, p[name], p[name + ".bias"])

    def norm(v, name):
        return F.layer_norm(v, (WIDTH,), p[name], p[name + ".bias"], NORM_EPS)

    q, k, v = heads(dense(x, "q")), heads(dense(x, "k")), heads(dense(x, "v"))
    seen = (q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5).softmax(3) @ v
    x = norm(x + dense(seen.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH), "o"), "n1")
    x = norm(x + dense(F.gelu(dense(x, "f1")), "f2"), "n2")
    return dense(x[:, 0], "c")


def boxed(p, x):
    def dense(v, name):
        return v.linear(p[name], p[name + ".bias"])

    def norm(v, name):
        return v.layer_norm(p[name], p[name + ".bias"], NORM_EPS)

    def apart(v):
        return v.map(heads, lambda t: t.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))

    q, k, v = apart(dense(x, "q")), apart(dense(x, "k")), apart(dense(x, "v"))
    scores = (q @ k.turned()).times(torch.tensor((WIDTH // HEADS) ** -0.5))
    seen = (scores.softmax() @ v).map(lambda t: t.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH), heads)
    x = norm(x + dense(seen, "o"), "n1")
    x = norm(x + dense(dense(x, "f1").gelu(), "f2"), "n2")
    first = x.map(lambda t: t[:, 0], lambda t: F.pad(t.unsqueeze(1), (0, 0, 0, TOKENS - 1)))
    return dense(first, "c")


def main():
    ask = argparse.ArgumentParser(description="write the golden file of a BERT layer")
    ask.add_argument("--dir", default=os.path.join(os.path.dirname(__file__), "..", "test", "golden"))
    folder = ask.parse_args().dir
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    p, x, y, m = draw()
    for value in [*p.values(), x]:
        value.requires_grad_(True)
    z = logits(p, x)
    loss = F.cross_entropy(z, y, reduction="none")
    g, = torch.autograd.grad(loss.sum(), x, create_graph=True)
    total = loss.mean() + ((m * g) ** 2).sum() / BATCH
    names = [*p, "x"]
    gradients = torch.autograd.grad(total, [p[name] if name in p else x for name in names])
    with torch.no_grad():
        box = around(x, EPS * m)
        bz = boxed(p, box)
        bg = bz.slope(bz.cross_entropy_slope(y), box)
    tensors = {**p, "x": x, "y": y.double(), "m": m, "z": z, "loss": loss, "g": g, "r3.loss": total,
               **{"r3.grad." + name: v for name, v in zip(names, gradients)}, "z.lo": bz.lo, "z.hi": bz.hi,
               "g.lo": bg.lo, "g.hi": bg.hi}
    lines = ["# bert: made by scripts/golden_bert.py; do not edit", f"text heads {HEADS}", f"text eps {EPS!r}",
             f"text norm_eps {NORM_EPS!r}"]
    for name, value in tensors.items():
        lines += tensor_lines(name, value.detach())
    with open(os.path.join(folder, "bert.txt"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
