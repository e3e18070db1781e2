#!/usr/bin/python3
"""Writes test/golden/modules_*.txt: small nets of residual blocks, batch norm, depthwise convolutions and attention.

    scripts/golden_modules.py [--dir test/golden]

The format is that of scripts/golden.py. Parameters, and all that is derived with respect to them, have PyTorch's names and
layouts; inputs and what is at the leaf have r4's.

    net input     the net, as r4 writes it
    x y m valid   inputs, labels, masks over the leaf, tokens that are there
    z g           logits with running statistics, and d(sum of cross entropy)/d(leaf)
    r3.penalty    mean_i |m g_i|^2, and r3.grad.NAME, its derivative with respect to the weights
    data.loss     mean cross entropy with the statistics of the batch, data.grad.NAME, and data.new.NAME, the running
                  statistics after it
    lo hi         bounds of the logits while the leaf moves by up to eps m; glo ghi of g
"""
import argparse
import math
import os

import torch
import torch.nn.functional as F

from golden import softmax_bounds, gated, Kinks
from golden_intervals import around

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def grid(*shape, scale=1.0):
    """Multiples of 1/1024, which are the same in float."""
    return (torch.randn(*shape) * scale * 1024).round() / 1024


# ---- Parts: forward, and (centre, radius, pull back) of a box --------------------------------------------------


class Part:
    params = ()

    def __init__(self, **k):
        self.__dict__.update(k)


class Conv(Part):  # name, out, kernel, stride, pad (l, r) or "same", groups, bias
    stride, pad, groups, bias = 1, 0, 1, False

    def grow(self, p, c):
        p[self.name + ".weight"] = grid(self.out, c // self.groups, self.kernel, self.kernel,
                                        scale=1.2 / math.sqrt(c // self.groups * self.kernel ** 2))
        if self.bias:
            p[self.name + ".bias"] = grid(self.out, scale=0.2)
        return self.out

    def sides(self, x):
        if self.pad != "same":
            return [self.pad] * 4
        total = [max(0, (math.ceil(n / self.stride) - 1) * self.stride + self.kernel - n) for n in x.shape[2:]]
        return [total[1] // 2, total[1] - total[1] // 2, total[0] // 2, total[0] - total[0] // 2]

    def go(self, p, x, weight, bias=None):
        return F.conv2d(F.pad(x, self.sides(x)), weight, bias, self.stride, 0, 1, self.groups)

    def forward(self, p, x, s):
        return self.go(p, x, p[self.name + ".weight"], p.get(self.name + ".bias"))

    def box(self, p, c, r):
        w = p[self.name + ".weight"]
        side, shape = self.sides(c), F.pad(c, self.sides(c)).shape

        def back(v, weight):
            dx = torch.nn.grad.conv2d_input(shape, weight, v, self.stride, 0, 1, self.groups)
            return dx[:, :, side[2]:shape[2] - side[3], side[0]:shape[3] - side[1]]

        def pull(lo, hi):
            mid, far = back((hi + lo) / 2, w), back((hi - lo) / 2, w.abs())
            return mid - far, mid + far
        return self.go(p, c, w, p.get(self.name + ".bias")), self.go(p, r, w.abs()), pull


class Norm(Part):
    eps, momentum = 1e-5, 0.1

    def grow(self, p, c):
        p[self.name + ".weight"] = 1 + grid(c, scale=0.2)
        p[self.name + ".bias"] = grid(c, scale=0.3)
        p[self.name + ".running_mean"] = grid(c, scale=0.3)
        p[self.name + ".running_var"] = 1 + grid(c, scale=0.2).abs()
        return c

    def forward(self, p, x, s):
        mean, var = p[self.name + ".running_mean"], p[self.name + ".running_var"]
        if s is not None:
            mean, var = mean.detach().clone(), var.detach().clone()
        y = F.batch_norm(x, mean, var, p[self.name + ".weight"], p[self.name + ".bias"], s is not None, self.momentum,
                         self.eps)
        if s is not None:
            s[self.name + ".running_mean"], s[self.name + ".running_var"] = mean, var
        return y

    def box(self, p, c, r):
        scale = (p[self.name + ".weight"] / (p[self.name + ".running_var"] + self.eps).sqrt()).reshape(1, -1, 1, 1)

        def pull(lo, hi):
            return torch.minimum(lo * scale, hi * scale), torch.maximum(lo * scale, hi * scale)
        return self.forward(p, c, None), r * scale.abs(), pull


class Relu(Part):
    top = None

    def grow(self, p, c):
        return c

    def forward(self, p, x, s):
        return x.relu() if self.top is None else x.relu().clamp(max=self.top)

    def box(self, p, c, r):
        lo, hi = (c - r), (c + r)
        gate = ((lo > 0).to(lo.dtype), (hi > 0).to(lo.dtype))
        above = None if self.top is None else ((hi < self.top).to(lo.dtype), (lo < self.top).to(lo.dtype))
        lo, hi = self.forward(p, lo, None), self.forward(p, hi, None)

        def pull(a, b):
            if above:
                a, b = gated(a, b, above, Kinks())
            return gated(a, b, gate, Kinks())
        return (hi + lo) / 2, (hi - lo) / 2, pull


class MaxPool(Part):  # 3 x 3, every second, padded by 1
    def grow(self, p, c):
        return c

    def forward(self, p, x, s):
        return F.max_pool2d(x, 3, 2, 1)

    def windows(self, x, outside):
        """[batch, channels, 9, windows]: positions in row-major order; those outside of the image are never largest."""
        rows = F.unfold(F.pad(x, [1] * 4, value=outside), 3, stride=2)
        return rows.reshape(*x.shape[:2], 9, -1)

    @staticmethod
    def beats(best, others):
        """Whether position p of a window is its first largest with itself at `best` and all others at `others`."""
        better = torch.ones_like(best)
        for p in range(9):
            for q in range(9):
                if q != p:
                    wins = best[:, :, p] > others[:, :, q] if q < p else best[:, :, p] >= others[:, :, q]
                    better[:, :, p] *= wins
        return better

    def box(self, p, c, r):
        lo, hi = c - r, c + r
        wlo, whi = self.windows(lo, -1e300), self.windows(hi, -1e300)
        inside = self.windows(torch.ones_like(c), 0)
        can, must = self.beats(whi, wlo) * inside, self.beats(wlo, whi) * inside
        h, w = c.shape[2:]

        def spread(v):
            all_windows = F.fold(v.reshape(len(v), -1, v.shape[3]), (h + 2, w + 2), 3, stride=2)
            return all_windows[:, :, 1:-1, 1:-1]

        def pull(a, b):
            a, b = (v.reshape(*c.shape[:2], 1, -1) for v in (a, b))
            return spread(torch.minimum(can * a, must * a)), spread(torch.maximum(can * b, must * b))
        lo, hi = self.forward(p, lo, None), self.forward(p, hi, None)
        return (hi + lo) / 2, (hi - lo) / 2, pull


class GlobalPool(Part):
    def grow(self, p, c):
        return c

    def forward(self, p, x, s):
        return x.mean((2, 3))

    def box(self, p, c, r):
        h, w = c.shape[2:]

        def pull(lo, hi):
            return tuple((v / (h * w)).reshape(*v.shape, 1, 1).expand(-1, -1, h, w) for v in (lo, hi))
        return c.mean((2, 3)), r.mean((2, 3)), pull


class Dense(Part):
    def grow(self, p, c):
        p[self.name + ".weight"] = grid(self.out, c, scale=1 / math.sqrt(c))
        p[self.name + ".bias"] = grid(self.out, scale=0.2)
        return self.out

    def forward(self, p, x, s):
        return F.linear(x, p[self.name + ".weight"], p[self.name + ".bias"])

    def box(self, p, c, r):
        w = p[self.name + ".weight"]

        def pull(lo, hi):
            mid, far = (hi + lo) / 2 @ w, (hi - lo) / 2 @ w.abs()
            return mid - far, mid + far
        return self.forward(p, c, None), F.linear(r, w.abs()), pull


class Flatten(Part):
    def grow(self, p, c):
        return c * self.pixels

    def forward(self, p, x, s):
        return x.flatten(1)

    def box(self, p, c, r):
        return c.flatten(1), r.flatten(1), lambda lo, hi: (lo.reshape(c.shape), hi.reshape(c.shape))


class Row(Part):
    def __init__(self, *parts):
        self.parts = parts

    def grow(self, p, c):
        for part in self.parts:
            c = part.grow(p, c)
        return c

    def forward(self, p, x, s):
        for part in self.parts:
            x = part.forward(p, x, s)
        return x

    def box(self, p, c, r):
        pulls = []
        for part in self.parts:
            c, r, pull = part.box(p, c, r)
            pulls.append(pull)

        def back(lo, hi):
            for pull in reversed(pulls):
                lo, hi = pull(lo, hi)
            return lo, hi
        return c, r, back


class Residual(Part):
    def __init__(self, branch, shortcut=None):
        self.branch, self.shortcut = branch, shortcut or Row()

    def grow(self, p, c):
        out = self.branch.grow(p, c)
        self.shortcut.grow(p, c)
        return out

    def forward(self, p, x, s):
        return self.branch.forward(p, x, s) + self.shortcut.forward(p, x, s)

    def box(self, p, c, r):
        one, two = self.branch.box(p, c, r), self.shortcut.box(p, c, r)

        def back(lo, hi):
            a, b = one[2](lo, hi), two[2](lo, hi)
            return a[0] + b[0], a[1] + b[1]
        return one[0] + two[0], one[1] + two[1], back


# ---- BERT, as Hugging Face names it ------------------------------------------------------------------------------


class Bert(Part):  # layers, width, heads, inner, words, positions, classes, pool
    spread, table = 1.5, 0.7  # of weights and of embeddings
    def grow(self, p, c):
        w = self.width
        sizes = {"embeddings.word_embeddings": (self.words, w), "embeddings.position_embeddings": (self.positions, w),
                 "embeddings.token_type_embeddings": (2, w)}
        for name, size in sizes.items():
            p[name + ".weight"] = grid(*size, scale=self.table)

        def norm(name):
            p[name + ".weight"], p[name + ".bias"] = 1 + grid(w, scale=0.2), grid(w, scale=0.2)

        def dense(name, out, into):
            p[name + ".weight"], p[name + ".bias"] = grid(out, into, scale=self.spread / math.sqrt(into)), grid(out, scale=0.2)
        norm("embeddings.LayerNorm")
        for k in range(self.layers):
            at = f"encoder.layer.{k}."
            for name in ("query", "key", "value"):
                dense(at + "attention.self." + name, w, w)
            dense(at + "attention.output.dense", w, w)
            norm(at + "attention.output.LayerNorm")
            dense(at + "intermediate.dense", self.inner, w)
            dense(at + "output.dense", w, self.inner)
            norm(at + "output.LayerNorm")
        dense("classifier", self.classes, w)

    def leaf(self, p, ids):
        return (F.embedding(ids, p["embeddings.word_embeddings.weight"])
                + p["embeddings.position_embeddings.weight"][:ids.shape[1]]
                + p["embeddings.token_type_embeddings.weight"][0])

    def forward(self, p, x, s):
        def dense(name, v):
            return F.linear(v, p[name + ".weight"], p[name + ".bias"])

        def norm(name, v):
            return F.layer_norm(v, (self.width,), p[name + ".weight"], p[name + ".bias"], 1e-12)

        def heads(v):
            return v.reshape(v.shape[0], v.shape[1], self.heads, -1).transpose(1, 2)
        away = (self.valid - 1).reshape(self.valid.shape[0], 1, 1, -1) * 1e9
        x = norm("embeddings.LayerNorm", x)
        for k in range(self.layers):
            at = f"encoder.layer.{k}."
            q, key, v = (heads(dense(at + "attention.self." + n, x)) for n in ("query", "key", "value"))
            scores = q @ key.transpose(2, 3) / math.sqrt(self.width // self.heads) + away
            y = (scores.softmax(3) @ v).transpose(1, 2).reshape(x.shape)
            x = norm(at + "attention.output.LayerNorm", x + dense(at + "attention.output.dense", y))
            y = dense(at + "output.dense", F.gelu(dense(at + "intermediate.dense", x)))
            x = norm(at + "output.LayerNorm", x + y)
        if self.pool == "first":
            x = x[:, 0]
        else:
            x = (x * self.valid.unsqueeze(2)).sum(1) / self.valid.sum(1, keepdim=True)
        return dense("classifier", x)

    def boxed(self, p, x):
        """The same of intervals."""
        batch, tokens, width = x.lo.shape

        def dense(name, v):
            return v.linear(p[name + ".weight"], p[name + ".bias"])

        def norm(name, v):
            return v.layer_norm(p[name + ".weight"], p[name + ".bias"], 1e-12)

        def apart(t):
            return t.reshape(batch, tokens, self.heads, -1).transpose(1, 2)

        def together(t):
            return t.transpose(1, 2).reshape(batch, tokens, width)
        away = (self.valid - 1).reshape(batch, 1, 1, -1) * 1e9
        x = norm("embeddings.LayerNorm", x)
        for k in range(self.layers):
            at = f"encoder.layer.{k}."
            q, key, v = (dense(at + "attention.self." + n, x).map(apart, together) for n in ("query", "key", "value"))
            scores = (q @ key.turned()).times(torch.tensor(1 / math.sqrt(width // self.heads))).plus(away)
            y = (scores.softmax() @ v).map(together, apart)
            x = norm(at + "attention.output.LayerNorm", x + dense(at + "attention.output.dense", y))
            y = dense(at + "output.dense", dense(at + "intermediate.dense", x).gelu())
            x = norm(at + "output.LayerNorm", x + y)
        if self.pool == "first":
            x = x.map(lambda t: t[:, 0], lambda t: F.pad(t.unsqueeze(1), (0, 0, 0, tokens - 1)))
        else:
            share = (self.valid / self.valid.sum(1, keepdim=True)).unsqueeze(2)
            x = x.map(lambda t: (t * share).sum(1), lambda t: t.unsqueeze(1) * share)
        return dense("classifier", x)


# ---- The nets ------------------------------------------------------------------------------------------------------


def conv(name, out, kernel, **k):
    return Conv(name=name, out=out, kernel=kernel, **k)


def basic(at, n, stride=1):
    short = Row(conv(at + "downsample.0", n, 1, stride=stride), Norm(name=at + "downsample.1")) if stride > 1 else None
    return Row(Residual(Row(conv(at + "conv1", n, 3, stride=stride, pad=1), Norm(name=at + "bn1"), Relu(),
                            conv(at + "conv2", n, 3, pad=1), Norm(name=at + "bn2")), short), Relu())


def bottleneck(at, n, stride, short):
    return Row(Residual(Row(conv(at + "conv1", n, 1), Norm(name=at + "bn1"), Relu(),
                            conv(at + "conv2", n, 3, stride=stride, pad=1), Norm(name=at + "bn2"), Relu(),
                            conv(at + "conv3", 2 * n, 1), Norm(name=at + "bn3")),
                        Row(conv(at + "downsample.0", 2 * n, 1, stride=stride), Norm(name=at + "downsample.1"))
                        if short else None), Relu())


def mobile(at, wide, k, stride, n):
    def norm(name):
        return Norm(name=name, eps=1e-3, momentum=0.01)
    return Row(conv(at + "_expand_conv", wide, 1), norm(at + "_bn0"), Relu(top=6.0),
               conv(at + "_depthwise_conv", wide, k, stride=stride, pad="same", groups=wide), norm(at + "_bn1"),
               Relu(top=6.0), conv(at + "_project_conv", n, 1), norm(at + "_bn2"))


BASIC = ("def basic(n) { residual(conv1: conv $n 3 p1 nobias, bn1: batchnorm, relu, conv2: conv $n 3 p1 nobias, "
         "bn2: batchnorm), relu } def half(n) { residual(conv1: conv $n 3 s2 p1 nobias, bn1: batchnorm, relu, "
         "conv2: conv $n 3 p1 nobias, bn2: batchnorm; downsample: (conv $n 1 s2 nobias, batchnorm)), relu } ")
NECK = ("residual(conv1: conv 2 1 nobias, bn1: batchnorm, relu, conv2: conv 2 3 s2 p1 nobias, bn2: batchnorm, relu, "
        "conv3: conv 4 1 nobias, bn3: batchnorm; downsample: (conv 4 1 s2 nobias, batchnorm)), relu")
MOBILE = ("def turn(w, k, s, n) { _expand_conv: conv $w 1 nobias, _bn0: batchnorm eps 1e-3 momentum 0.01, relu6, "
          "_depthwise_conv: depthwise $k s$s same nobias, _bn1: batchnorm eps 1e-3 momentum 0.01, relu6, "
          "_project_conv: conv $n 1 nobias, _bn2: batchnorm eps 1e-3 momentum 0.01 } "
          "def keep(w, k, n) { residual(_expand_conv: conv $w 1 nobias, _bn0: batchnorm eps 1e-3 momentum 0.01, relu6, "
          "_depthwise_conv: depthwise $k same nobias, _bn1: batchnorm eps 1e-3 momentum 0.01, relu6, "
          "_project_conv: conv $n 1 nobias, _bn2: batchnorm eps 1e-3 momentum 0.01) } ")

CASES = {
    "block": (BASIC + "basic(2), globalpool, fc: dense 3", [5, 4, 2],
              Row(basic("0.", 2), GlobalPool(), Dense(name="fc", out=3))),
    "bottleneck": ("layer: (" + NECK + "), flatten, fc: dense 3", [5, 6, 3],
                   Row(Row(bottleneck("layer.", 2, 2, True)), Flatten(pixels=9), Dense(name="fc", out=3))),
    "depthwise": ("a: conv 4 3 s2 same, relu6, b: depthwise 3 s2 same, relu, flatten, fc: dense 3", [7, 6, 2],
                  Row(conv("a", 4, 3, stride=2, pad="same", bias=True), Relu(top=6.0),
                      conv("b", 4, 3, stride=2, pad="same", groups=4, bias=True), Relu(), Flatten(pixels=4),
                      Dense(name="fc", out=3))),
    "resnet": (BASIC + "conv1: conv 2 3 s2 p1 nobias, bn1: batchnorm, relu, maxpool 3 s2 p1, layer1: basic(2), "
               "layer2: (half(4), basic(4)), globalpool, fc: dense 3", [13, 14, 2],
               Row(conv("conv1", 2, 3, stride=2, pad=1), Norm(name="bn1"), Relu(), MaxPool(), basic("layer1.", 2),
                   basic("layer2.0.", 4, 2), basic("layer2.1.", 4), GlobalPool(), Dense(name="fc", out=3))),
    "efficient": (MOBILE + "_conv_stem: conv 2 3 s2 same nobias, _bn0: batchnorm eps 1e-3 momentum 0.01, relu6, "
                  "_blocks: (turn(4, 3, 2, 3), keep(6, 5, 3)), globalpool, _fc: dense 3", [9, 8, 2],
                  Row(conv("_conv_stem", 2, 3, stride=2, pad="same"), Norm(name="_bn0", eps=1e-3, momentum=0.01),
                      Relu(top=6.0), mobile("_blocks.0.", 4, 3, 2, 3), Residual(mobile("_blocks.1.", 6, 5, 1, 3)),
                      GlobalPool(), Dense(name="_fc", out=3))),
    "layer": ("bert(layers=1,width=4,heads=2,inner=5,words=7,positions=4,classes=3)", [4],
              Bert(layers=1, width=4, heads=2, inner=5, words=7, positions=4, classes=3, pool="first")),
    "bert": ("bert(layers=2,width=6,heads=3,inner=8,words=9,positions=6,classes=2,pool=mean)", [5],
             Bert(layers=2, width=6, heads=3, inner=8, words=9, positions=6, classes=2, pool="mean",
                  spread=0.5, table=2.0)),  # bounds grow by a factor of thousands in each layer, with these by less
    "maxpool": ("a: conv 3 3 p1, maxpool 3 s2 p1, flatten, fc: dense 3", [7, 6, 2],  # slopes of known sign, open windows
                Row(conv("a", 3, 3, pad=1, bias=True), MaxPool(), Flatten(pixels=12), Dense(name="fc", out=3))),
}


def ours(v):
    """[batch, channels, height, width] as r4 has it."""
    return v.permute(0, 2, 3, 1) if v.dim() == 4 else v


def make(name, seed):
    torch.manual_seed(seed)
    text, shape, net = CASES[name]
    tokens = isinstance(net, Bert)
    batch, eps, p, out = 3, 1e-5 if tokens else 0.01, {}, {}
    net.grow(p, None if tokens else shape[2])
    if tokens:
        x = torch.randint(net.words, (batch, shape[0]))
        net.valid = torch.ones(batch, shape[0])
        if name == "bert":
            net.valid[0, 3:] = net.valid[2, 4:] = 0
        out["valid"] = net.valid
        m = (torch.rand(batch, shape[0], 1) < 0.5).to(torch.float64).expand(-1, -1, net.width)
    else:
        x = grid(batch, shape[2], shape[0], shape[1])
        m = (torch.rand(batch, 1, *x.shape[2:]) < 0.3).to(torch.float64).expand_as(x)
    y = torch.randint(net.classes if tokens else 3, (batch,))
    weights = {k: v.requires_grad_(True) for k, v in p.items() if "running" not in k}
    out.update(x=ours(x).to(torch.float64), y=y.to(torch.float64), m=ours(m))

    leaf = net.leaf(p, x) if tokens else x.requires_grad_(True)
    z = net.forward(p, leaf, None)
    g = torch.autograd.grad(F.cross_entropy(z, y, reduction="sum"), leaf, create_graph=True)[0]
    penalty = (m * g).flatten(1).square().sum(1).mean()
    out.update({"z": z, "g": ours(g), "r3.penalty": penalty})
    for k, v in zip(weights, torch.autograd.grad(penalty, list(weights.values()), allow_unused=True)):
        out["r3.grad." + k] = torch.zeros_like(weights[k]) if v is None else v

    new = {}
    loss = F.cross_entropy(net.forward(p, net.leaf(p, x) if tokens else x, new), y)
    out["data.loss"] = loss
    for k, v in zip(weights, torch.autograd.grad(loss, list(weights.values()))):
        out["data.grad." + k] = v
    out.update({"data.new." + k: v for k, v in new.items()})

    with torch.no_grad():
        if tokens:
            box = around(leaf, eps * m)
            bz = net.boxed(p, box)
            bg = bz.slope(bz.cross_entropy_slope(y), box)
            lo, hi, glo, ghi = bz.lo, bz.hi, bg.lo, bg.hi
        else:
            c, r, pull = net.box(p, x, eps * m)
            lo, hi = c - r, c + r
            slo, shi = softmax_bounds(lo, hi)
            own = F.one_hot(y, 3)
            glo, ghi = pull(slo - own, shi - own)
        out.update(lo=lo, hi=hi, glo=ours(glo), ghi=ours(ghi))
    return text, shape, eps, p, out


def write(path, name, seed):
    text, shape, eps, p, out = make(name, seed)
    with open(path, "w") as f:
        f.write(f"# modules_{name}: made by scripts/golden_modules.py with torch {torch.__version__}, seed {seed}; do not edit\n")
        f.write(f"text net {text}\ntext input {' '.join(map(str, shape))}\ntext eps {eps}\n")
        for k, v in list(p.items()) + list(out.items()):
            v = v.detach().contiguous()
            f.write(f"tensor {k} {v.dim()}{''.join(f' {n}' for n in v.shape)}\n")
            row = [repr(n) if n != int(n) else str(int(n)) for n in v.flatten().tolist()]
            for at in range(0, len(row), 5):
                f.write(" ".join(row[at:at + 5]) + "\n")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--dir", default=os.path.join(os.path.dirname(__file__), "..", "test", "golden"))
    folder = a.parse_args().dir
    for seed, name in enumerate(CASES, 1):
        write(os.path.join(folder, f"modules_{name}.txt"), name, seed)


if __name__ == "__main__":
    main()
