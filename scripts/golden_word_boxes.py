#!/usr/bin/python3
"""Writes test/golden/word_boxes_*.txt: certified methods on texts, and what PyTorch makes of them, in double.

    scripts/golden_word_boxes.py [--dir test/golden]

The format is that of golden.py. x holds ids of tokens, length how many of them are there, m masks of tokens, list ids of
words. A masked token has a box around its vector v at the leaf, of one of two kinds:

    eps      v -+ eps
    words    from v to the ends of the hull of v and of the vectors that all words of the list have at its place, of which
             "share" is gone

For each BOX, with lo <= z <= hi the logits and glo <= g <= ghi the explanation over all boxes of a text together, by the
rules of golden_intervals.py:

    BOX.lo BOX.hi BOX.glo BOX.ghi
    ibp.BOX.each      cross entropy of lo at the label and hi elsewhere; 0 without a mask
    ibp.BOX.loss      mean cross entropy + sum_i q_i / the number of texts with masks
    cert.BOX.each     |m max(|glo|, |ghi|)|
    cert.BOX.loss     mean cross entropy + mean_i q_i
    METHOD.BOX.grad.P the derivative of that loss with respect to each parameter P
"""
import argparse
import math
import os

import torch
import torch.nn.functional as F

from golden import tensor_lines
from golden_intervals import Interval, around
from golden_modules import Bert, grid

BATCH, TOKENS, WORDS, CLASSES = 4, 6, 14, 3
LIST = [3, 12, 7, 13, 9, 5]
LENGTH = [6, 5, 4, 6]
MASKED = [(0, 2), (0, 4), (1, 1), (2, 1), (2, 2)]  # the last text has none


class Small:
    """A vector for each token, a dense layer for each or a window of three, the mean over tokens, a dense layer."""

    def __init__(self, window):
        self.window = window
        layer = "tokenconv 5 3" if window else "dense 5"
        self.text = f"e: embedding {WORDS} 4, leaf, d: {layer}, relu, mean, c: dense {CLASSES}"

    def grow(self, p):
        p["e.weight"] = grid(WORDS, 4, scale=0.7)
        p["d.weight"] = grid(5, 1, 3, 4, scale=1 / math.sqrt(12)) if self.window else grid(5, 4, scale=0.5)
        p["d.bias"] = grid(5, scale=0.2)
        p["c.weight"], p["c.bias"] = grid(CLASSES, 5, scale=1), grid(CLASSES, scale=0.2)

    def leaf(self, p, ids):
        return F.embedding(ids, p["e.weight"])

    @staticmethod
    def windows(x):
        """[batch, tokens, 3 * width]: each token between its neighbours, 0 outside."""
        wide = F.pad(x, (0, 0, 1, 1))
        return torch.cat([wide[:, k:k + x.shape[1]] for k in range(3)], 2)

    @staticmethod
    def together(v):
        """The transpose of windows."""
        parts = v.chunk(3, 2)
        wide = sum(F.pad(part, (0, 0, k, 2 - k)) for k, part in enumerate(parts))
        return wide[:, 1:-1]

    def share(self):
        return (self.valid / self.valid.sum(1, keepdim=True)).unsqueeze(2)

    def forward(self, p, x, _):
        if self.window:
            x = self.windows(x * self.valid.unsqueeze(2))
        x = F.linear(x, p["d.weight"].flatten(1), p["d.bias"]).relu()
        return F.linear((x * self.share()).sum(1), p["c.weight"], p["c.bias"])

    def boxed(self, p, x):
        if self.window:
            x = x.times(self.valid.unsqueeze(2)).map(self.windows, self.together)
        x = x.linear(p["d.weight"].flatten(1), p["d.bias"]).relu()
        x = x.map(lambda t: (t * self.share()).sum(1), lambda t: t.unsqueeze(1) * self.share())
        return x.linear(p["c.weight"], p["c.bias"])


class SmallBert(Bert):
    """Of which weights are such that bounds grow by less than thousands."""
    spread, table = 0.5, 2.0

    def __init__(self):
        sizes = dict(layers=1, width=4, heads=2, inner=5, words=WORDS, positions=TOKENS, classes=CLASSES)
        super().__init__(pool="mean", **sizes)
        self.text = "bert(" + ",".join(f"{k}={v}" for k, v in sizes.items()) + ",drop=0,pool=mean)"

    def grow(self, p, c=None):
        super().grow(p, c)


CASES = {"mean": (lambda: Small(False), 0.3, 1.0), "conv": (lambda: Small(True), 0.3, 1.0),
         "bert": (SmallBert, 1e-5, 1e-5)}


class Texts:
    def __init__(self, net, eps, share):
        self.net, self.p, self.eps, self.share = net, {}, eps, share
        net.grow(self.p)
        for value in self.p.values():
            value.requires_grad_(True)
        self.x = torch.randint(3, WORDS, (BATCH, TOKENS))
        net.valid = torch.tensor([[float(t < n) for t in range(TOKENS)] for n in LENGTH])
        self.y = torch.arange(BATCH) % CLASSES
        self.m = torch.zeros(BATCH, TOKENS)
        for place in MASKED:
            self.m[place] = 1
        self.leaf = net.leaf(self.p, self.x)

    def box(self, kind):
        m = self.m.unsqueeze(2)
        if kind == "eps":
            return around(self.leaf, self.eps * m.expand_as(self.leaf))
        words = torch.tensor(LIST).unsqueeze(1).expand(-1, TOKENS)
        listed = self.net.leaf(self.p, words)  # [words, tokens, width]
        far = torch.maximum(listed.max(0).values, self.leaf), torch.minimum(listed.min(0).values, self.leaf)
        return Interval(self.leaf + self.share * m * (far[1] - self.leaf), self.leaf + self.share * m * (far[0] - self.leaf))

    def bounds(self, kind):
        box = self.box(kind)
        z = self.net.boxed(self.p, box)
        return z, z.slope(z.cross_entropy_slope(self.y), box)

    def masked(self):
        return self.m.any(1).double()

    def ibp(self, z):
        own = F.one_hot(self.y, CLASSES) > 0
        return self.masked() * F.cross_entropy(torch.where(own, z.lo, z.hi), self.y, reduction="none")

    def cert(self, g):
        squares = (self.m.unsqueeze(2) * torch.maximum(g.lo.abs(), g.hi.abs())).square().sum((1, 2))
        return torch.stack([q.sqrt() if self.m[i].any() else q * 0 for i, q in enumerate(squares)])


def results(t):
    data = F.cross_entropy(t.net.forward(t.p, t.leaf, None), t.y)
    out = {"x": t.x, "y": t.y, "m": t.m, "length": torch.tensor(LENGTH), "list": torch.tensor(LIST)}
    for kind in ("eps", "words"):
        z, g = t.bounds(kind)
        out.update({f"{kind}.lo": z.lo, f"{kind}.hi": z.hi, f"{kind}.glo": g.lo, f"{kind}.ghi": g.hi})
        ibp, cert = t.ibp(z), t.cert(g)
        methods = {"ibp": (ibp, data + ibp.sum() / t.masked().sum()), "cert": (cert, data + cert.mean())}
        for name, (each, loss) in methods.items():
            out.update({f"{name}.{kind}.each": each, f"{name}.{kind}.loss": loss})
            grads = torch.autograd.grad(loss, list(t.p.values()), retain_graph=True)
            out.update({f"{name}.{kind}.grad.{k}": v for k, v in zip(t.p, grads)})
    return out


def main():
    ask = argparse.ArgumentParser(description="write the golden files of certified methods on texts")
    ask.add_argument("--dir", default=os.path.join(os.path.dirname(__file__), "..", "test", "golden"))
    folder = ask.parse_args().dir
    for seed, (name, (net, eps, share)) in enumerate(CASES.items(), 1):
        torch.manual_seed(seed)
        t = Texts(net(), eps, share)
        lines = [f"# word_boxes_{name}: made by scripts/golden_word_boxes.py; do not edit", f"text net {t.net.text}",
                 f"text eps {eps}", f"text share {share}"]
        for key, value in {**t.p, **results(t)}.items():
            lines += tensor_lines(key, value.detach().double())
        with open(os.path.join(folder, f"word_boxes_{name}.txt"), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
