#!/usr/bin/env python3
"""Compares a step of R3 on ResNet-18 (drawn weights) and ResNet-50 (pretrained) with PyTorch's double backward.

    scripts/check_resnet_r3.py [--resnet50 FILE] [--photos FOLDER] [--size 128] [--batch 2] [--library build/libr4.so]

For each net: the gradient with respect to all weights of the data term mean_i l_i and of the penalty
mean_i || m . d l_i / d x ||^2, with running statistics, as r4_objective_build has them. The nets are written out here, by
torchvision's names. Both run in double and in float. Differences are || a - b || / || b || over all weights.

In double they must agree to 1e-8. r4 in float has Winograd's convolutions, as in training, where the images are large enough. In float a unit near 0 may be on in one program and off in another, and of a deep net some
are: so PyTorch in float differs from itself in double, and r4 in float may differ by twice that, or by 1e-4. Exits with 1 otherwise.

FILE is what "r4 data get resnet50" leaves; FOLDER has photographs, without which pixels are drawn. Needs PyTorch 2, NumPy and, for
photographs, Pillow; r4's package is taken from this tree with the library that make has built.
"""
import argparse
import ctypes
import glob
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parent.parent
MEANS = (123.68, 116.779, 103.939)
IN_DOUBLE, IN_FLOAT = 1e-8, 1e-4


def load_r4(library):
    """The package of this tree, with its header read."""
    sys.path.insert(0, str(ROOT / "python"))
    from header import convert
    place = Path(tempfile.mkdtemp())
    shutil.copytree(ROOT / "python" / "r4", place / "r4")
    (place / "r4" / "_header.py").write_text(convert(ROOT / "include"))
    os.environ["R4_LIBRARY"] = str(Path(library).resolve())
    sys.path.insert(0, str(place))
    import r4.graph, r4.net, r4.plan  # noqa: E401, F401
    return place


# ---- PyTorch ----


def resnet(w, x, blocks, eps, strides):
    """strides: of the convolutions of a block that halves its image, as many as it has."""
    def norm(x, p):
        return F.batch_norm(x, w[p + ".running_mean"], w[p + ".running_var"], w[p + ".weight"], w[p + ".bias"], eps=eps)

    def conv(x, p, stride=1):
        k = w[p + ".weight"]
        return F.conv2d(x, k, stride=stride, padding=k.shape[-1] // 2)

    x = F.max_pool2d(F.relu(norm(conv(x, "conv1", 2), "bn1")), 3, 2, 1)
    for layer, n in enumerate(blocks, 1):
        for b in range(n):
            p, y = f"layer{layer}.{b}.", x
            half = layer > 1 and not b
            for k, s in enumerate(strides, 1):
                y = norm(conv(y, f"{p}conv{k}", s if half else 1), f"{p}bn{k}")
                y = F.relu(y) if k < len(strides) else y
            if p + "downsample.0.weight" in w:
                x = norm(conv(x, p + "downsample.0", 2 if half else 1), p + "downsample.1")
            x = F.relu(x + y)
    return F.linear(x.mean((2, 3)), w["fc.weight"], w["fc.bias"])


def by_torch(state, x, y, m, net, dtype):
    w = {k: torch.tensor(v, dtype=dtype, requires_grad="running" not in k) for k, v in state.items()}
    learned = [k for k in w if w[k].requires_grad]
    x = torch.tensor(x, dtype=dtype, requires_grad=True)
    losses = F.cross_entropy(net(w, x.permute(0, 3, 1, 2)), torch.tensor(y), reduction="none")
    slope, = torch.autograd.grad(losses.sum(), x, create_graph=True)
    penalty = ((torch.tensor(m, dtype=dtype) * slope) ** 2).sum() / len(x)
    each = []
    for total in (losses.mean(), penalty):
        slopes = torch.autograd.grad(total, [w[k] for k in learned], retain_graph=True, allow_unused=True)
        each.append({k: (g if g is not None else torch.zeros_like(w[k])).numpy() for k, g in zip(learned, slopes)})
    return [losses.mean().item(), penalty.item()], each


# ---- r4 ----


def state_of(net, flat, folder):
    """A flat array in the order of the net, by PyTorch's names and layouts: as a saved model has it, in float."""
    from check_pretrained import tensors
    from r4.net import Model
    path = os.path.join(folder, "state.safetensors")
    Model(net, flat).save(path)
    return {k: v.numpy() for k, v in tensors(path).items()}


def state_in_double(net, flat, folder):
    """Two floats make a double, but for a few bits."""
    high = flat.astype(np.float32)
    a, b = state_of(net, high, folder), state_of(net, (flat - high).astype(np.float32), folder)
    return {k: a[k].astype(np.float64) + b[k] for k in a if "running" not in k}


def by_r4(net, weights, x, y, m, folder, dtype):
    from r4 import _header as h
    from r4._library import LIB
    from r4.graph import Graph, Node
    from r4.plan import Plan
    g = Graph()
    parameters = net.inputs(g)
    ids = (h.r4_id * len(parameters))(*(g.own(p) for p in parameters))
    o = h.r4_objective_options(method=b"r3", batch=len(x), frozen_statistics=True)
    getattr(o, "lambda")[0] = 1.0
    made = LIB.r4_objective_build(g.pointer, net.pointer, ids, ctypes.byref(o))
    g.check()
    values, each, fast = [], [], []
    for total in (Node(g, made.data.i), Node(g, made.penalty[0].i)):
        learned = [k for k, p in enumerate(net.parameters) if not p.buffer]
        plan = Plan(g, [total, *g.grad(total, [parameters[k] for k in learned])], dtype=dtype, winograd=True)
        for p in net.parameters:
            plan.bind(p.name, p.of(weights))
        for name, v in (("x", x), ("y", y), ("m", m)):
            plan.bind(name, v)
        fast.append(str(plan).count("winograd"))
        found = plan()
        flat = np.zeros(net.size)
        for k, slope in zip(learned, found[1:]):
            net.parameters[k].of(flat)[...] = slope
        values.append(float(found[0]))
        each.append(state_in_double(net, flat, folder))
    return values, each, fast


# ---- Comparing ----


def difference(a, b):
    off = sum(((a[k] - b[k].astype(np.float64)) ** 2).sum() for k in b)
    return np.sqrt(off / sum((v.astype(np.float64) ** 2).sum() for v in b.values()))


def compare(name, net, weights, x, y, m, torch_net, folder):
    """Whether they agree."""
    state = state_of(net, weights, folder)
    exact, want = by_torch(state, x, y, m, torch_net, torch.float64)
    _, rough = by_torch(state, x, y, m, torch_net, torch.float32)
    values, fine, _ = by_r4(net, weights, x, y, m, folder, "float64")
    _, got, fast = by_r4(net, weights, x, y, m, folder, "float32")
    good = True
    for k, what in enumerate(("data term", "R3")):
        double, ours, theirs = (difference(v[k], want[k]) for v in (fine, got, rough))
        between = difference(got[k], rough[k])
        good = good and double < IN_DOUBLE and ours < max(IN_FLOAT, 2 * theirs)
        print(f"{name}, {what}: value {values[k]:.8g} ({exact[k]:.8g}); gradient in double off by {double:.1e}; in float by "
              f"{ours:.1e}, PyTorch by {theirs:.1e}, the two from each other by {between:.1e} ({fast[k]} convolutions by Winograd)", flush=True)
    return good


def images(o, seed):
    r = np.random.default_rng(seed)
    shape = (o.batch, o.size, o.size, 3)
    files = sorted(glob.glob(os.path.join(o.photos, "*.jpg")))[:o.batch] if o.photos else []
    if not files:
        return r.random(shape).astype(np.float32)
    from PIL import Image
    return np.stack([np.asarray(Image.open(f).convert("RGB").resize(shape[1:3], Image.BILINEAR), np.float32) / 255 for f in files])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--resnet50")
    p.add_argument("--photos")
    p.add_argument("--size", type=int, default=128)
    p.add_argument("--batch", type=int, default=2)
    p.add_argument("--library", default=str(ROOT / "build" / "libr4.so"))
    o = p.parse_args()
    folder = str(load_r4(o.library))
    from r4 import _header as h
    from r4._library import call
    from r4.net import Net
    shape, x = (o.size, o.size, 3), images(o, 1)
    m = np.zeros_like(x)
    m[:, :o.size // 4, o.size // 2:] = 1
    net = Net("resnet18(classes=10)", shape)
    good = compare("ResNet-18", net, net.init(3, "kaiming"), x, np.arange(len(x)) % 10, m,
                    lambda w, x: resnet(w, x, (2, 2, 2, 2), 1e-5, (2, 1)), folder)
    if o.resnet50:
        net = Net("resnet50(first=2, second=1, eps=0.001)", shape)
        weights = np.zeros(net.size, np.float32)
        call("r4_net_load", net.pointer, o.resnet50.encode(), None, weights.ctypes.data, ctypes.byref(h.r4_load_report()))
        good = compare("ResNet-50", net, weights, 255 * x - np.float32(MEANS), np.arange(len(x)) * 7, m,
                                   lambda w, x: resnet(w, x, (3, 4, 6, 3), 1e-3, (2, 1, 1)), folder) and good
    shutil.rmtree(folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
