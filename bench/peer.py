#!/usr/bin/python3
"""The peer of "r4 bench": the same training step in eager PyTorch, tuned as far as we know how.

    bench/peer.py NET METHOD BATCH THREADS [--precision float|bf16] [--layout LAYOUT] [--clean N]
                  [--limit SECONDS] [--memory]

NET is mlpA-B-..., derm28, derm64, or, for erm and r3, resnet18, efficientnet-lite0 (both also with -frozen: batch norm keeps its
statistics) and minilm; METHOD is erm, r3, adv-r4 (10 steps),
cert-r4 or ibp-ex. A step is the loss, its gradient and Adam, for one batch that stays the same; masks cover 30 % of the
features, or tokens.

Prints one line, "MS CLEAN SAMPLES PEER LAYOUT": the median milliseconds per step of the clean samples, how many
there were, of how many samples, the version of PyTorch, and the layout of images or the kind of attention, with
"-compiled" where torch.compile was faster. A sample is clean if our threads waited less than
2 % of it for a CPU; if fewer than three were, the median is that of the faster half of all.

With --memory prints one line "BYTES", the peak of the resident memory of this process over three steps:
parameters, gradients, Adam's state, data and PyTorch itself. (bench/run takes off the peak of the same
program on a tiny net, on both sides.)

What "tuned" means here:
  * OpenBLAS with OpenMP, one pool of threads for everything, each thread bound to its CPU
  * ATen's AVX-512 kernels where the CPU has them (the Debian build would take AVX2)
  * malloc keeps large blocks, or every step would fault its pages in again (not with --memory, where the
    allocator's own habits need less)
  * images in the faster of the two layouts, attention as one operation or in parts, and, for erm of the small nets in
    PyTorch 2.x, torch.compile or not: tried before the timing starts
  * Adam as one operation (fused), where the version has it
  * gradients set to none, |W| once per step, the first layer's product shared by the clean pass and the
    interval's centre, max(|c - r|, |c + r|) as |c| + r, interval gates as constants, so that autograd keeps
    one product for each
  * with --precision bf16, torch.autocast around the loss and the explanation
Tried and not faster: torch.compile of r3 (the explanation by torch.func), Adam over lists of tensors (foreach),
transposed convolutions for interval gradients, input gradients by hand instead of by double backward, halves folded
into the products, huge pages.
"""
import argparse
import functools
import resource
import sys

import tuned
from timing import measure


def arguments():
    ask = argparse.ArgumentParser(description="time one training step in PyTorch")
    ask.add_argument("net", metavar="NET")
    ask.add_argument("method", metavar="METHOD", choices=["erm", "r3", "adv-r4", "cert-r4", "ibp-ex"])
    ask.add_argument("batch", metavar="BATCH", type=int)
    ask.add_argument("threads", metavar="THREADS", type=int)
    ask.add_argument("--precision", choices=["float", "bf16"], default="float")
    ask.add_argument("--layout", default="auto")
    ask.add_argument("--clean", type=int, default=15, help="samples wanted")
    ask.add_argument("--limit", type=float, default=12.0, help="seconds to wait for them")
    ask.add_argument("--layouts", action="store_true", help="print those that there are instead")
    ask.add_argument("--memory", action="store_true", help="print the peak memory instead")
    return ask.parse_args()


if __name__ == "__main__":
    args = arguments()
    tuned.start(args.threads, args.memory)

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit("bench/peer.py: PyTorch is missing: install python3-torch (scripts/install-deps --extra bench)")

import nets
from nets import Flatten, Net

EPS, LAMBDA, STEPS = 0.1, 1.0, 10


class Data:
    """A batch, and what is made of it where an objective asks for it."""

    def __init__(self, net, x, y, m):
        self.classes, self.x, self.y, self.m = net.classes, x, y, m

    @functools.cached_property
    def one_hot(self):
        return F.one_hot(self.y, self.classes).float()

    @functools.cached_property
    def box(self):
        return EPS * self.m

    @functools.cached_property
    def masked(self):
        return self.m.flatten(1).amax(1)


def random_data(net, batch, layout):
    y, m = torch.randint(0, net.classes, (batch,)), (torch.rand(batch, *net.shape) < 0.3).float()
    if hasattr(net, "words"):
        return Data(net, torch.randint(0, net.words, (batch, *net.shape)), y, m.unsqueeze(-1))
    x = torch.rand(batch, *net.shape)
    if layout == "nhwc" and x.dim() == 4:
        x, m = (v.contiguous(memory_format=torch.channels_last) for v in (x, m))
    return Data(net, x, y, m)


# ---- Objectives ----------------------------------------------------------------------------------------


def norms(v):
    return v.flatten(1).norm(dim=1)


def explanation(net, x, y, constant=False):
    """The summed loss and its gradient in x, to be differentiated once more."""
    logits = net.logits(x, constant=True) if constant else net.logits(x)
    loss = F.cross_entropy(logits, y, reduction="sum")
    return loss, torch.autograd.grad(loss, x, create_graph=True)[0]


def erm(net, data):
    return F.cross_entropy(net.logits(data.x), data.y)


def r3(net, data):
    loss, g = explanation(net, net.leaf(data.x), data.y)
    return (loss + LAMBDA * (data.m * g).square().sum()) / len(data.y)


def attack(net, data):
    """The best point of each path, its end included."""
    d = data.box * (2 * torch.rand_like(data.x) - 1)
    best, largest = d, torch.full((len(d),), -1.0)
    for k in range(STEPS + 1):
        at = (data.x + d).requires_grad_(True)
        g = explanation(net, at, data.y, constant=True)[1]
        squares = (data.m * g).square().flatten(1).sum(1)
        with torch.no_grad():
            larger = (squares > largest).view(-1, *[1] * (d.dim() - 1))
            best, largest = torch.where(larger, d, best), torch.maximum(squares, largest)
        if k < STEPS:
            up = torch.autograd.grad(squares.sum(), at)[0]
            d = torch.minimum(torch.maximum(d + up.sign_().mul_(EPS / 4), -data.box), data.box)
    return best


def adv_r4(net, data):
    at = (data.x + attack(net, data)).requires_grad_(True)
    g = explanation(net, at, data.y)[1]
    return erm(net, data) + LAMBDA * norms(data.m * g).mean()


def interval_logits(net, data, sizes):
    """Centre and radius of the logits, the bounds before each relu, and the first layer's clean product."""
    c, r, before, first = data.x, data.box, [], None
    for l in net.layers:
        if isinstance(l, Flatten):
            c, r = c.flatten(1), r.flatten(1)
            continue
        c, r = l.apply(c, l.w, l.b), l.apply(r, sizes[l])
        first = c if first is None else first
        if l is not net.linear[-1]:
            lo, hi = c - r, c + r
            before.append((lo.detach(), hi.detach()))
            lo, hi = lo.relu(), hi.relu()
            c, r = (hi + lo) * 0.5, (hi - lo) * 0.5
    return c, r, before, first


def softmax_bounds(lo, hi):
    """Own entry against the others: log p = -log(1 + sum exp(other - own))."""
    other = ~torch.eye(lo.shape[1], dtype=torch.bool)
    up = (lo.unsqueeze(1) - hi.unsqueeze(2)) * other
    down = (hi.unsqueeze(1) - lo.unsqueeze(2)) * other
    return torch.exp(-torch.logsumexp(down, 2)), torch.exp(-torch.logsumexp(up, 2))


def gated(c, r, before):
    """The interval c -+ r times the derivative of relu, which is in [lo > 0, hi > 0]."""
    lo, hi = c - r, c + r
    with torch.no_grad():
        on, may = (before[0] > 0).float(), (before[1] > 0).float()
        lo_gate, hi_gate = torch.where(lo < 0, may, on), torch.where(hi > 0, may, on)
    lo, hi = lo * lo_gate, hi * hi_gate
    return (hi + lo) * 0.5, (hi - lo) * 0.5


def cert_r4(net, data):
    sizes = {l: l.w.abs() for l in net.linear}
    c, r, before, first = interval_logits(net, data, sizes)
    loss = F.cross_entropy(net.logits(data.x, first), data.y)
    lo, hi = softmax_bounds(c - r, c + r)
    c, r = (hi + lo) * 0.5 - data.one_hot, (hi - lo) * 0.5
    for l in reversed(net.layers):
        if isinstance(l, Flatten):
            c, r = c.reshape(before[-1][0].shape), r.reshape(before[-1][0].shape)
            continue
        if l is not net.linear[-1]:
            c, r = gated(c, r, before.pop())
        c, r = l.transposed(c, l.w), l.transposed(r, sizes[l])
    return loss + LAMBDA * norms(data.m * (c.abs() + r)).mean()


def ibp_ex(net, data):
    c, r, _, first = interval_logits(net, data, {l: l.w.abs() for l in net.linear})
    loss = F.cross_entropy(net.logits(data.x, first), data.y)
    worst = F.cross_entropy(c + r - 2 * data.one_hot * r, data.y, reduction="none")
    return loss + LAMBDA * (data.masked * worst).sum() / data.masked.sum()


COMPILED = "-compiled"
OBJECTIVE = {"erm": erm, "r3": r3, "adv-r4": adv_r4, "cert-r4": cert_r4, "ibp-ex": ibp_ex}


def trainer(net, method, compiled):
    """A function that takes one step on a batch."""
    parameters, objective = net.parameters(), OBJECTIVE[method]
    if compiled:
        objective = torch.compile(objective, dynamic=False)
    try:
        adam = torch.optim.Adam(parameters, 1e-3, fused=True)
    except (TypeError, RuntimeError):  # before 2.4
        adam = torch.optim.Adam(parameters, 1e-3, foreach=False)
    narrow = torch.autocast("cpu", torch.bfloat16, enabled=args.precision == "bf16")

    def step(data):
        adam.zero_grad(set_to_none=True)
        with narrow:
            loss = objective(net, data)
        loss.backward(inputs=parameters)
        adam.step()

    return step


def step_of(layout):
    torch.manual_seed(1)
    plain = layout.removesuffix(COMPILED)
    net = nets.net_of(args.net, plain)
    data = random_data(net, args.batch, plain)
    return functools.partial(trainer(net, args.method, plain != layout), data)


# ---- Timing --------------------------------------------------------------------------------------------


def tried():
    layouts = nets.layouts(args.net, args.method)
    small = args.net.startswith("mlp") or args.net == "derm28"
    if not hasattr(torch, "compile") or args.method != "erm" or not small or args.memory or args.precision == "bf16":
        return layouts
    return layouts + [layout + COMPILED for layout in layouts]


def faster_layout():
    all_of_them = tried()
    if args.layout != "auto":
        return args.layout
    if args.memory or len(all_of_them) == 1:
        return all_of_them[0]
    return min(all_of_them, key=lambda layout: measure(step_of(layout), 3, 3.0)[0])


def main():
    if args.layouts:
        print(*nets.layouts(args.net, args.method))
        return
    torch.set_num_threads(args.threads)
    layout = faster_layout()
    step = step_of(layout)
    if args.memory:
        for _ in range(3):
            step()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        return
    ms, good, every = measure(step, args.clean, args.limit)
    print(f"{ms:.3f} {good} {every} pytorch-{torch.__version__.split('+')[0]} {layout}")


if __name__ == "__main__":
    main()
