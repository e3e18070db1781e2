#!/usr/bin/python3
"""Writes the golden files of the tests, test/golden/*.txt: networks, inputs, and what PyTorch makes of them.

    scripts/golden.py [--dir test/golden]

Needs python3-torch. The tests read the files only; run this again when the set of values changes.
Everything is computed in double precision, on one thread, from fixed seeds.

A file is lines of text:
    # comment
    text NAME value ...                 the rest of the line
    tensor NAME rank d0 d1 ...          then the values, row-major, in as many lines as they take
Values have up to 17 significant digits, as few as read back to the same double. The layouts are r4's:
images [batch, height, width, channels], convolution weights [out, height, width, in], dense weights
[out, in] with the columns after "flatten" in the order height, width, channel. Parameter K.weight belongs
to the K-th layer of the line, counted from 0.

    x y m start   inputs, labels, masks (1 = must not matter; the last example has none), start of the
                  attack in [-1, 1]
    z loss g      logits, cross entropy of each example, g = d(sum of loss)/dx
    METHOD.penalty, METHOD.loss (mean cross entropy + METHOD.lambda * penalty), METHOD.grad.PARAMETER for
      r3          mean_i |m g_i|^2
      cert-r4     mean_i |m max(|lo_i|, |hi_i|)|, cert-r4.lo <= g <= cert-r4.hi while x moves by up to eps m
      ibp-ex      mean over the examples with a mask of the cross entropy of the worst logits in that box;
                  ibp-ex.lo and ibp-ex.hi bound the logits
      adv-r4      mean_i |m g_i(x + d)|, where d goes from 0 to eps m start and then takes steps of alpha along
                  the sign of the gradient of sum_i |m g_i|^2, clipped to |d| <= eps m; adv-r4.d is for each
                  example the d of this path, 0 and its end included, at which |m g_i| is largest, and a
                  constant for the gradient
"""
import argparse
import os
import sys

import torch
import torch.nn.functional as F

CASES = [
    # file, layers, shape of an example, batch, eps, spread of the weights
    ("dense", "dense 9, relu, dense 5", [12], 4, 0.08, 1.4),
    ("deep", "dense 10, relu, dense 8, relu, dense 3", [7], 5, 0.08, 1.4),
    ("conv", "conv 4 3 p1, relu, conv 5 4 s2 p1, relu, flatten, dense 6, relu, dense 3",
     [8, 8, 2], 3, 0.02, 1.4),
    ("derm", "conv 4 3 p1, relu, conv 4 4 s2 p1, relu, conv 6 4 p1, relu, conv 6 4 s2 p1, relu, "
             "flatten, dense 7, relu, dense 2", [12, 12, 3], 2, 0.004, 1.4),
]
METHODS = ["r3", "cert-r4", "ibp-ex", "adv-r4"]
STEPS = 3
MARGIN = 2e-6  # how far a value must be from a kink, relative to its tensor: float must take the same side
FLOAT = 3e-5   # how far the same sums in float may be from double, relative to the largest value


class Unlucky(Exception):
    """This seed puts a value too near to a kink; the next one will do."""


# ---- The network: PyTorch's layouts inside, r4's in the files ------------------------------------------


class Layer:
    def __init__(self, text):
        words = text.split()
        self.kind = words[0]
        numbers = [int(w) for w in words[1:] if w.isdigit()]
        options = {w[0]: int(w[1:]) for w in words[1:] if not w.isdigit()}
        self.out = numbers[0] if numbers else 0
        self.kernel = numbers[1] if len(numbers) > 1 else 0
        self.stride, self.pad = options.get("s", 1), options.get("p", 0)
        self.weight = self.bias = None  # names, if it has any
        self.shape = None               # of its input, without the batch


class Net:
    def __init__(self, line, example):
        self.layers = [Layer(part) for part in line.split(",")]
        self.image = None  # [channels, height, width] before "flatten"
        self.after = None  # the weight right after "flatten"
        shape = [example[2], example[0], example[1]] if len(example) == 3 else list(example)
        self.sizes = {}
        for k, layer in enumerate(self.layers):
            layer.shape = shape
            shape = self.grow(k, layer, shape)

    def grow(self, k, layer, shape):
        if layer.kind == "flatten":
            self.image = shape
            return [shape[0] * shape[1] * shape[2]]
        if layer.kind == "relu":
            return shape
        layer.weight, layer.bias = f"{k}.weight", f"{k}.bias"
        self.sizes[layer.bias] = [layer.out]
        if layer.kind == "dense":
            self.sizes[layer.weight] = [layer.out, shape[0]]
            if self.image and not self.after:
                self.after = layer.weight
            return [layer.out]
        self.sizes[layer.weight] = [layer.out, shape[0], layer.kernel, layer.kernel]
        side = [(n + 2 * layer.pad - layer.kernel) // layer.stride + 1 for n in shape[1:]]
        return [layer.out] + side

    def names(self):
        return [n for layer in self.layers if layer.weight for n in (layer.weight, layer.bias)]

    def stored(self, name, value):
        """A parameter, or its gradient, in r4's layout."""
        if value.dim() == 4:
            return value.permute(0, 2, 3, 1)
        if name == self.after:
            c, h, w = self.image
            return value.reshape(-1, c, h, w).permute(0, 2, 3, 1).reshape(value.shape)
        return value


def linear(layer, weight, x, bias=None):
    if layer.kind == "dense":
        return F.linear(x, weight, bias)
    return F.conv2d(x, weight, bias, layer.stride, layer.pad)


def transposed(layer, weight, dy):
    """The transpose of linear, applied to dy."""
    if layer.kind == "dense":
        return dy @ weight
    missing = [want - ((got - 1) * layer.stride - 2 * layer.pad + layer.kernel)
               for want, got in zip(layer.shape[1:], dy.shape[2:])]
    return F.conv_transpose2d(dy, weight, None, layer.stride, layer.pad, missing)


class Kinks:
    """Watches every value whose sign decides something."""

    def __init__(self):
        self.off, self.unstable, self.total = 1.0, [], []

    def near(self, value, among=None):
        """Every example by itself: the smallest magnitude (where among holds) against the largest."""
        size = value.detach().abs().flatten(1)
        chosen = torch.ones_like(size) if among is None else among.flatten(1)
        for row, pick in zip(size, chosen):
            if pick.any():
                self.off = min(self.off, (row[pick > 0].min() / row.max().clamp_min(1e-300)).item())


def logits(net, p, x, kinks):
    for layer in net.layers:
        if layer.weight:
            x = linear(layer, p[layer.weight], x, p[layer.bias])
        elif layer.kind == "relu":
            kinks.near(x)
            x = x.relu()
        else:
            x = x.flatten(1)
    return x


def explanation(net, p, x, y, kinks):
    """g = d(sum of loss)/dx, itself differentiable."""
    if not x.requires_grad:
        x = x.detach().requires_grad_(True)
    loss = F.cross_entropy(logits(net, p, x, kinks), y, reduction="none")
    return loss, torch.autograd.grad(loss.sum(), x, create_graph=True)[0]


# ---- Bounds ---------------------------------------------------------------------------------------------


def logit_bounds(net, p, centre, radius, kinks):
    """Bounds of the logits; gates[k] are the bounds of the derivative of the k-th relu."""
    gates = []
    for layer in net.layers:
        if layer.weight:
            centre = linear(layer, p[layer.weight], centre, p[layer.bias])
            radius = linear(layer, p[layer.weight].abs(), radius)
        elif layer.kind == "relu":
            lo, hi = centre - radius, centre + radius
            kinks.near(lo)
            kinks.near(hi)
            gates.append(((lo > 0).to(lo.dtype), (hi > 0).to(hi.dtype)))
            kinks.unstable.append(int((gates[-1][0] != gates[-1][1]).sum()))
            kinks.total.append(lo.numel())
            centre, radius = (hi.relu() + lo.relu()) / 2, (hi.relu() - lo.relu()) / 2
        else:
            centre, radius = centre.flatten(1), radius.flatten(1)
    return centre - radius, centre + radius, gates


def softmax_bounds(lo, hi):
    """An entry is largest with its own logit at its upper bound and the others at their lower ones."""
    def extreme(own, others):
        n = own.shape[1]
        apart = others.unsqueeze(1).expand(-1, n, -1) * (1 - torch.eye(n, dtype=own.dtype))
        return torch.diagonal((apart + torch.diag_embed(own)).softmax(2), dim1=1, dim2=2)
    return extreme(lo, hi), extreme(hi, lo)


def gated(lo, hi, gate, kinks):
    """[lo, hi] times a gate in [off, on], each 0 or 1."""
    off, on = gate
    open_gate = (off != on).to(lo.dtype)
    kinks.near(lo, open_gate)
    kinks.near(hi, open_gate)
    return torch.minimum(off * lo, on * lo), torch.maximum(off * hi, on * hi)


def gradient_bounds(net, p, y, zlo, zhi, gates, kinks):
    one_hot = F.one_hot(y, zlo.shape[1]).to(zlo.dtype)
    lo, hi = softmax_bounds(zlo, zhi)
    return pulled_back(net, p, lo - one_hot, hi - one_hot, gates, kinks)


def pulled_back(net, p, lo, hi, gates, kinks):
    """Bounds of the derivative in x, from bounds of the derivative in the logits."""
    gates = list(gates)
    for layer in reversed(net.layers):
        if layer.weight:
            centre = transposed(layer, p[layer.weight], (hi + lo) / 2)
            radius = transposed(layer, p[layer.weight].abs(), (hi - lo) / 2)
            lo, hi = centre - radius, centre + radius
        elif layer.kind == "relu":
            lo, hi = gated(lo, hi, gates.pop(), kinks)
        else:
            lo, hi = lo.reshape([-1] + layer.shape), hi.reshape([-1] + layer.shape)
    return lo, hi


# ---- Objectives -----------------------------------------------------------------------------------------


def norms(v):
    """The 2-norm of each example; its derivative at 0 is 0."""
    s = (v * v).flatten(1).sum(1)
    some = s > 0
    return torch.where(some, torch.where(some, s, torch.ones_like(s)).sqrt(), torch.zeros_like(s))


def penalty_r3(net, p, data, eps, out, kinks):
    g = explanation(net, p, data["x"], data["y"], kinks)[1]
    return (data["m"] * g).flatten(1).square().sum(1).mean()


def penalty_cert(net, p, data, eps, out, kinks):
    zlo, zhi, gates = logit_bounds(net, p, data["x"], eps * data["m"], kinks)
    lo, hi = gradient_bounds(net, p, data["y"], zlo, zhi, gates, kinks)
    kinks.near(lo.abs() - hi.abs(), data["m"])
    kinks.near(torch.maximum(lo.abs(), hi.abs()), data["m"])
    out["cert-r4.lo"], out["cert-r4.hi"] = lo, hi
    return norms(data["m"] * torch.maximum(lo.abs(), hi.abs())).mean()


def penalty_ibp(net, p, data, eps, out, kinks):
    lo, hi, _ = logit_bounds(net, p, data["x"], eps * data["m"], kinks)
    own = F.one_hot(data["y"], lo.shape[1]).to(lo.dtype)
    worst = F.cross_entropy(own * lo + (1 - own) * hi, data["y"], reduction="none")
    masked = data["m"].flatten(1).amax(1)
    out["ibp-ex.lo"], out["ibp-ex.hi"] = lo, hi
    return (masked * worst).sum() / masked.sum()


def best_of(points, sizes, kinks):
    """Example by example the point of the largest size; sizes are [points, batch]."""
    top, at = sizes.max(0)
    best = points[at, torch.arange(len(at))]
    other = (points != best).flatten(2).any(2)
    behind = torch.where(other, top - sizes, top).amin(0)[:-1]  # the last example has no mask
    kinks.near(torch.stack([behind, top[:-1]], 1))
    return best


def attack(explain, data, eps, kinks, steps=STEPS, alpha=None):
    """The best point of the path; explain(x) is the explanation at x, to be differentiated by x.

    Steps have the length alpha, eps / 4 if None. If 0, they begin with eps, and with each third of the steps
    the length halves and the path goes on from the best point, by the direction there."""
    box = eps * data["m"]
    points, sizes, ups = [], [], []

    def visit(d):
        at = (data["x"] + d).requires_grad_(True)
        squares = (data["m"] * explain(at)).square().flatten(1).sum(1)
        points.append(d)
        sizes.append(squares.detach())
        ups.append(torch.autograd.grad(squares.sum(), at)[0])
        return ups[-1]

    def best():
        return best_of(torch.stack(points), torch.stack(sizes), kinks)

    def up_at(d):
        """The direction at the first visited point that is d, for each example."""
        same = (torch.stack(points) == d).flatten(2).all(2)
        first = same.double().argmax(0)
        return torch.stack(ups)[first, torch.arange(len(first))]

    visit(torch.zeros_like(box))
    d, length = box * data["start"], eps / 4 if alpha is None else alpha or eps
    up = visit(d)
    for k in range(1, steps):
        if alpha == 0 and 3 * k // steps > 3 * (k - 1) // steps:
            d, length = best(), length / 2
            up = up_at(d)
        kinks.near(up, data["m"])
        d = torch.maximum(torch.minimum(d + length * up.sign(), box), -box)
        up = visit(d)
    return best()


def penalty_adv(net, p, data, eps, out, kinks):
    if "adv-r4.d" not in out:
        fixed = {k: v.detach() for k, v in p.items()}
        out["adv-r4.d"] = attack(lambda at: explanation(net, fixed, at, data["y"], kinks)[1], data, eps, kinks)
    g = explanation(net, p, data["x"] + out["adv-r4.d"], data["y"], kinks)[1]
    return norms(data["m"] * g).mean()


PENALTY = {"r3": penalty_r3, "cert-r4": penalty_cert, "ibp-ex": penalty_ibp, "adv-r4": penalty_adv}


def clean(net, p, data, out, kinks):
    loss, out["g"] = explanation(net, p, data["x"], data["y"], kinks)
    out["z"] = logits(net, p, data["x"], kinks)
    out["loss"] = loss
    return loss.mean()


def gradients(net, value, p):
    got = torch.autograd.grad(value, [p[n] for n in net.names()], retain_graph=True, allow_unused=True)
    return [torch.zeros_like(p[n]) if v is None else v for n, v in zip(net.names(), got)]


def flat(tensors):
    return torch.cat([t.flatten() for t in tensors])


def solve(net, p, data, eps, lambdas, kinks):
    """Every result by name, in PyTorch's layouts. lambdas is filled where it has no value yet."""
    p = {k: v.detach().clone().requires_grad_(True) for k, v in p.items()}
    out = {}
    ce = clean(net, p, data, out, kinks)
    for method in METHODS:
        penalty = PENALTY[method](net, p, data, eps, out, kinks)
        if method not in lambdas:
            lambdas[method] = balance(gradients(net, ce, p), gradients(net, penalty, p), method)
        total = ce + lambdas[method] * penalty
        out[f"{method}.penalty"], out[f"{method}.loss"] = penalty, total
        for name, value in zip(net.names(), gradients(net, total, p)):
            out[f"{method}.grad.{name}"] = value
    return {k: v.detach() for k, v in out.items()}


def balance(data_gradient, penalty_gradient, method):
    """A lambda of one digit that makes both terms count about the same: an error in either shows."""
    a, b = flat(data_gradient).norm().item(), flat(penalty_gradient).norm().item()
    if not b > 1e-3 * a:
        raise Unlucky(f"the penalty of {method} hardly moves the weights")
    return float(f"{a / b:.0e}")


# ---- Self-checks ----------------------------------------------------------------------------------------


def check_inside(net, p, data, eps, out):
    """Gradients and logits at random points and corners of the box lie inside the bounds."""
    for k in range(200):
        way = torch.rand(data["x"].shape, generator=data["rng"], dtype=torch.float64) * 2 - 1
        at = data["x"] + eps * data["m"] * (way.sign() if k % 2 else way)
        z = logits(net, p, at, Kinks())
        g = explanation(net, p, at, data["y"], Kinks())[1]
        for v, name in ((g, "cert-r4"), (z, "ibp-ex")):
            slack = 1e-12 * v.abs().max()
            assert (v >= out[f"{name}.lo"] - slack).all(), f"{name}: below its lower bound"
            assert (v <= out[f"{name}.hi"] + slack).all(), f"{name}: above its upper bound"


def check_tight(net, p, data, out):
    """Bounds over a box of radius 0 are the gradient."""
    at_point = {}
    penalty_cert(net, p, data, 0.0, at_point, Kinks())
    for side in ("cert-r4.lo", "cert-r4.hi"):
        assert (at_point[side] - out["g"]).abs().max() < 1e-12 * out["g"].abs().max(), "bounds at radius 0"


def check_slope(net, p, data, eps, lambdas, out):
    """The gradient of each total against central differences along a random direction."""
    names = net.names()
    way = {n: torch.randn(p[n].shape, generator=data["rng"], dtype=torch.float64) for n in names}
    h = 1e-7

    def total(method, t):
        moved = {n: p[n] + t * way[n] for n in names}
        known = {"adv-r4.d": out["adv-r4.d"]}
        return (clean(net, moved, data, known, Kinks())
                + lambdas[method] * PENALTY[method](net, moved, data, eps, known, Kinks())).item()

    for method in METHODS:
        want = sum((out[f"{method}.grad.{n}"] * way[n]).sum().item() for n in names)
        got = (total(method, h) - total(method, -h)) / (2 * h)
        assert abs(want - got) < 1e-5 * (abs(want) + 1), f"{method}: slope {want} against differences {got}"


def check_kinks(kinks):
    if kinks.off < MARGIN:
        raise Unlucky(f"a value is {kinks.off:.1e} from a kink")
    layers = len(kinks.total) // 2  # bounds are computed twice
    for unstable, total in zip(kinks.unstable[:layers], kinks.total[:layers]):
        if not 3 <= unstable < 0.6 * total:
            raise Unlucky(f"{unstable} of {total} gates of a layer are open or shut at will")


def check_alive(net, out):
    """Few parameters sit behind gates that are shut for all examples."""
    for method in METHODS:
        for name in net.names():
            grad = out[f"{method}.grad.{name}"]
            if (grad == 0).double().mean() > 0.3:
                raise Unlucky(f"{method} moves too few values of {name}")


def check_float(results, p, data, out):
    """Float arithmetic gives the same values: the tests compare with it, too."""
    single = {k: v.float() if v.is_floating_point() else v for k, v in data.items() if k != "rng"}
    got = results({k: v.float() for k, v in p.items()}, single)
    for name, want in out.items():
        off = ((got[name].double() - want).abs().max() / want.abs().max()).item()
        if not off < FLOAT:
            raise Unlucky(f"{name} in float is {off:.1e} from double")


# ---- Inputs and files -----------------------------------------------------------------------------------


def draw(net, example, batch, spread, seed):
    """Parameters and data. Values are multiples of 1/1024, so that float holds them exactly."""
    rng = torch.Generator().manual_seed(seed)

    def exact(t):
        return (t * 1024).round() / 1024

    p = {}
    for layer in net.layers:
        if layer.weight:
            shape = net.sizes[layer.weight]
            inputs = shape[1] * (layer.kernel ** 2 if layer.kernel else 1)
            scale = spread / inputs ** 0.5
            p[layer.weight] = exact(torch.randn(shape, generator=rng, dtype=torch.float64) * scale)
            p[layer.bias] = exact(torch.randn(shape[:1], generator=rng, dtype=torch.float64) * 0.2 + 0.2)
    shape = [batch] + net.layers[0].shape
    x = exact(torch.rand(shape, generator=rng, dtype=torch.float64))
    y = (torch.arange(batch) + seed) % net.layers[-1].out
    # Masks cover 0.6 of two thirds of the features, so that some features have none in the whole batch.
    touched = (torch.rand(shape[1:], generator=rng) < 2 / 3).double()
    m = touched * (torch.rand(shape, generator=rng) < 0.6).double()
    m[-1] = 0
    start = exact(torch.rand(shape, generator=rng, dtype=torch.float64) * 2 - 1)
    return p, {"x": x, "y": y, "m": m, "start": start, "rng": rng}


def make(name, line, example, batch, eps, spread, seed):
    net = Net(line, example)
    p, data = draw(net, example, batch, spread, seed)
    lambdas, kinks = {}, Kinks()
    out = solve(net, p, data, eps, lambdas, kinks)
    check_kinks(kinks)
    check_alive(net, out)
    check_float(lambda q, single: solve(net, q, single, eps, lambdas, Kinks()), p, data, out)
    check_inside(net, p, data, eps, out)
    check_tight(net, p, data, out)
    check_slope(net, p, data, eps, lambdas, out)
    layers = len(kinks.total) // 2
    gates = ", ".join(f"{u}/{t}" for u, t in zip(kinks.unstable[:layers], kinks.total[:layers]))
    print(f"{name}: seed {seed}, unstable gates {gates}, nearest kink {kinks.off:.1e}", file=sys.stderr)
    return net, p, data, lambdas, out


def number(v):
    return str(int(v)) if v == int(v) and abs(v) < 1e9 else repr(v)


def tensor_lines(name, value):
    shape = " ".join(str(n) for n in value.shape)
    yield f"tensor {name} {value.dim()} {shape}".rstrip()
    line = ""
    for v in value.flatten().tolist():
        word = number(v)
        if line and len(line) + 1 + len(word) > 110:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
    yield line


def batch_last(value):
    """[batch, channels, height, width] as [batch, height, width, channels]."""
    return value.permute(0, 2, 3, 1) if value.dim() == 4 else value


def file_lines(script, case, seed, options, made):
    name, line, example, batch, eps, _ = case
    net, p, data, out = made
    yield f"# {name}: made by scripts/{script} with torch {torch.__version__}, seed {seed}; do not edit"
    yield f"text layers {line}"
    yield "text input " + " ".join(str(n) for n in example)
    yield f"text batch {batch}"
    yield f"text eps {eps!r}"
    yield f"text alpha {eps / 4!r}"
    yield f"text steps {STEPS}"
    yield from options
    for key in ("x", "y", "m", "start", "noise"):
        if key in data:
            yield from tensor_lines(key, batch_last(data[key]))
    for key in net.names():
        yield from tensor_lines(key, net.stored(key, p[key]))
    for key, value in out.items():
        parameter = key.split(".grad.")[1] if ".grad." in key else None
        yield from tensor_lines(key, net.stored(parameter, value) if parameter else batch_last(value))


def write_files(what, cases, lines):
    """For each case lines(case, seed) of the first seed that will do."""
    ask = argparse.ArgumentParser(description=what)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    ask.add_argument("--dir", default=os.path.join(here, "test", "golden"))
    folder = ask.parse_args().dir
    torch.set_num_threads(1)
    os.makedirs(folder, exist_ok=True)
    for case in cases:
        for seed in range(1, 1000):
            try:
                text = "\n".join(lines(case, seed)) + "\n"
                break
            except Unlucky as why:
                print(f"{case[0]}: seed {seed} is passed over: {why}", file=sys.stderr)
        else:
            sys.exit(f"{case[0]}: no seed will do")
        with open(os.path.join(folder, case[0] + ".txt"), "w", encoding="ascii") as file:
            file.write(text)


def lines_of(case, seed):
    net, p, data, lambdas, out = make(*case, seed)
    options = [f"text {method}.lambda {lambdas[method]!r}" for method in METHODS]
    return file_lines("golden.py", case, seed, options, (net, p, data, out))


if __name__ == "__main__":
    write_files("write the golden files of the tests", CASES, lines_of)
