#!/usr/bin/python3
"""Writes the golden files for the options of the objectives: what PyTorch makes of each of a list of variants.

    scripts/golden_options.py [--dir test/golden]

The format and the layouts are those of golden.py. A variant NAME of a file has its options as lines
"text NAME.OPTION value" with the names of r4_objective_options (choices as numbers), and its results as
NAME.penalty, NAME.loss and NAME.grad.PARAMETER. All variants share x, y, m, start and noise.
"""
import torch
import torch.nn.functional as F

from golden import (MARGIN, STEPS, Kinks, Net, Unlucky, attack, balance, check_float, draw, file_lines, gradients,
                    logit_bounds, logits, norms, pulled_back, softmax_bounds, write_files)

LOSS, LOGIT, MARGIN_OF, LOGPROBS = range(4)  # r4_explain
L2, L1, SUM = range(3)                       # r4_norm
LINEAR, LOG, TARGET = range(3)               # r4_form

SAMPLES = 3
CASES = [
    # file, layers, shape of an example, batch, eps, variants
    ("options", "dense 9, relu, dense 5", [12], 4, 0.08, {
        "smooth-r3": {}, "rand-r4": {}, "ibp-ex+r3": {},
        "logit": {"method": "cert-r4", "explain": LOGIT},
        "margin": {"method": "cert-r4", "explain": MARGIN_OF},
        "logprobs": {"method": "adv-r4", "explain": LOGPROBS, "norm": L1},
        "sum": {"method": "cert-r4", "norm": SUM, "form": TARGET, "delta": 0.3},
        "log": {"method": "cert-r4", "form": LOG, "tau": 0.25},
        "weights": {"method": "r3", "class_weights": [0.5, 2.0, 1.0, 3.0, 0.25], "weight_penalty": 0.03},
        "twice": {"method": "rand-r4", "double_softmax": 1, "norm": L1},
    }),
    ("image", "conv 3 3 p1, relu, flatten, dense 3", [5, 5, 2], 3, 0.05, {
        "smooth-r3": {}, "rand-r4": {}, "ibp-ex+r3": {}, "margin": {"method": "cert-r4", "explain": MARGIN_OF},
    }),
    ("one", "dense 8, relu, dense 1", [10], 4, 0.08, {
        "r3": {"class_weights": [0.5, 2.0]}, "smooth-r3": {}, "ibp-ex": {}, "rand-r4": {}, "adv-r4": {},
        "cert-r4": {}, "logit": {"method": "cert-r4", "explain": LOGIT},
    }),
    ("attack", "dense 9, relu, dense 7, relu, dense 3", [8], 5, 0.5, {"adv-r4": {"alpha": 0, "steps": 9}}),
]


# ---- Definitions; z has one column or more ---------------------------------------------------------------


def losses(z, y):
    if z.shape[1] == 1:
        return F.binary_cross_entropy_with_logits(z[:, 0], y.to(z.dtype), reduction="none")
    return F.cross_entropy(z, y, reduction="none")


def others(y, classes):
    """For each example the classes that are not its label."""
    return torch.tensor([[k for k in range(classes) if k != label] for label in y.tolist()])


def explained(z, y, kind):
    if kind == LOSS:
        return losses(z, y)
    if z.shape[1] == 1:
        return z[:, 0] * (2 * y.to(z.dtype) - 1)  # the logit and the margin
    own = z.gather(1, y[:, None])[:, 0]
    if kind == LOGIT:
        return own
    if kind == MARGIN_OF:
        return own - z.gather(1, others(y, z.shape[1])).logsumexp(1)
    return z.log_softmax(1).sum(1)


def slope_bounds(lo, hi, y, kind):
    """Bounds of the derivative of what is explained in the logits."""
    if lo.shape[1] == 1:
        label = y[:, None].to(lo.dtype)
        return (lo.sigmoid() - label, hi.sigmoid() - label) if kind == LOSS else (2 * label - 1, 2 * label - 1)
    one_hot = F.one_hot(y, lo.shape[1]).to(lo.dtype)
    if kind == LOSS:
        low, high = softmax_bounds(lo, hi)
        return low - one_hot, high - one_hot
    if kind == LOGIT:
        return one_hot, one_hot
    if kind == MARGIN_OF:
        rest = others(y, lo.shape[1])
        low, high = softmax_bounds(lo.gather(1, rest), hi.gather(1, rest))
        return one_hot.scatter(1, rest, -high), one_hot.scatter(1, rest, -low)
    low, high = softmax_bounds(lo, hi)
    return 1 - lo.shape[1] * high, 1 - lo.shape[1] * low


def explanation(net, p, x, y, kind, kinks):
    if not x.requires_grad:
        x = x.detach().requires_grad_(True)
    return torch.autograd.grad(explained(logits(net, p, x, kinks), y, kind).sum(), x, create_graph=True)[0]


def size(v, norm):
    return v.abs().flatten(1).sum(1) if norm == L1 else norms(v)


# ---- Quantities: q of each example -----------------------------------------------------------------------


def r3(net, p, data, eps, o, kinks):
    g = explanation(net, p, data["x"], data["y"], o["explain"], kinks)
    return (data["m"] * g).flatten(1).square().sum(1)


def smooth_r3(net, p, data, eps, o, kinks):
    noise = data["noise"].reshape([SAMPLES] + list(data["x"].shape))
    g = sum(explanation(net, p, data["x"] + eps * xi, data["y"], o["explain"], kinks) for xi in noise) / SAMPLES
    return (data["m"] * g).flatten(1).square().sum(1)


def rand_r4(net, p, data, eps, o, kinks):
    noise = data["noise"].reshape([SAMPLES] + list(data["x"].shape))
    points = [data["x"]] + [data["x"] + eps * data["m"] * xi for xi in noise]
    sizes = torch.stack([size(data["m"] * explanation(net, p, x, data["y"], o["explain"], kinks), o["norm"])
                         for x in points])
    first, second = sizes.topk(2, 0).values[:, :-1]  # the last example has no mask
    kinks.near(torch.stack([first - second, first], 1))
    return sizes.amax(0)


def adv_r4(net, p, data, eps, o, kinks):
    fixed = {k: v.detach() for k, v in p.items()}

    def path(alpha):
        return attack(lambda at: explanation(net, fixed, at, data["y"], o["explain"], kinks), data, eps, kinks,
                      o.get("steps", STEPS), alpha)

    d = path(o.get("alpha"))
    if o.get("alpha") == 0 and (d == path(eps)).flatten(1).all(1).sum() > 2:
        raise Unlucky("steps that get shorter find nothing new")
    return size(data["m"] * explanation(net, p, data["x"] + d, data["y"], o["explain"], kinks), o["norm"])


def cert_r4(net, p, data, eps, o, kinks):
    zlo, zhi, gates = logit_bounds(net, p, data["x"], eps * data["m"], kinks)
    lo, hi = pulled_back(net, p, *slope_bounds(zlo, zhi, data["y"], o["explain"]), gates, kinks)
    kinks.near(lo.abs() - hi.abs(), data["m"])
    if o["norm"] == SUM:
        return (data["m"] * (lo.abs() + hi.abs())).flatten(1).sum(1)
    return size(data["m"] * torch.maximum(lo.abs(), hi.abs()), o["norm"])


def ibp_ex(net, p, data, eps, o, kinks):
    lo, hi, _ = logit_bounds(net, p, data["x"], eps * data["m"], kinks)
    own = data["y"][:, None] == (torch.arange(lo.shape[1]) if lo.shape[1] > 1 else torch.ones(1))
    return data["m"].flatten(1).amax(1) * losses(torch.where(own, lo, hi), data["y"])


QUANTITY = {"r3": r3, "smooth-r3": smooth_r3, "rand-r4": rand_r4, "adv-r4": adv_r4, "cert-r4": cert_r4,
            "ibp-ex": ibp_ex}


# ---- Objectives ------------------------------------------------------------------------------------------


def average(v, method, data):
    return v.sum() / data["m"].flatten(1).amax(1).sum() if method == "ibp-ex" else v.mean()


def form(q, method, data, o):
    if o["form"] == LOG:
        return average(torch.log1p(q / o["tau"]), method, data)
    if o["form"] == TARGET:
        return torch.log1p(average(q, method, data) / o["delta"])
    return average(q, method, data)


def data_term(net, p, data, o):
    z = logits(net, p, data["x"], Kinks())
    each = losses(z.softmax(1) if o["double_softmax"] else z, data["y"])
    if o["class_weights"]:
        each = torch.tensor(o["class_weights"], dtype=each.dtype)[data["y"]] * each
    return each.mean() + o["weight_penalty"] * sum((v * v).sum() for k, v in p.items() if k.endswith(".weight"))


def solve(net, p, data, eps, variants, kinks):
    """Every result by name. Weights are filled in where a variant has none yet."""
    p = {k: v.detach().clone().requires_grad_(True) for k, v in p.items()}
    out = {}
    for name, o in variants.items():
        total = plain = data_term(net, p, data, o)
        for k, method in enumerate(o["method"].split("+")):
            q = QUANTITY[method](net, p, data, eps, o, kinks)
            term, weight = form(q, method, data, o), "lambda_r3" if k else "lambda"
            if weight not in o:
                o[weight] = balance(gradients(net, plain, p), gradients(net, term, p), name)
            total = total + o[weight] * term
            if k == 0:
                out[f"{name}.penalty"] = average(q, method, data)
        out[f"{name}.loss"] = total
        for parameter, value in zip(net.names(), gradients(net, total, p)):
            out[f"{name}.grad.{parameter}"] = value
    return {k: v.detach() for k, v in out.items()}


# ---- Self-checks, inputs and files -----------------------------------------------------------------------


def check_slope(net, p, data, eps, variants, out):
    names = net.names()
    way = {n: torch.randn(p[n].shape, generator=data["rng"], dtype=torch.float64) for n in names}
    h = 1e-7
    ends = [solve(net, {n: p[n] + t * way[n] for n in names}, data, eps, variants, Kinks()) for t in (h, -h)]
    for name in variants:
        want = sum((out[f"{name}.grad.{n}"] * way[n]).sum().item() for n in names)
        got = (ends[0][f"{name}.loss"] - ends[1][f"{name}.loss"]).item() / (2 * h)
        assert abs(want - got) < 1e-5 * (abs(want) + 1), f"{name}: slope {want} against differences {got}"


def filled(variants):
    usual = {"explain": LOSS, "norm": L2, "form": LINEAR, "class_weights": None, "weight_penalty": 0.0,
             "double_softmax": 0, "samples": SAMPLES}
    return {name: {**usual, "method": name, **o} for name, o in variants.items()}


def make(line, example, batch, eps, variants, seed):
    net = Net(line, example)
    p, data = draw(net, example, batch, 1.4, seed)
    if net.layers[-1].out == 1:
        data["y"] = torch.arange(batch) % 2
    rows = [SAMPLES * batch] + list(data["x"].shape[1:])
    data["noise"] = ((torch.rand(rows, generator=data["rng"], dtype=torch.float64) * 2 - 1) * 1024).round() / 1024
    kinks = Kinks()
    out = solve(net, p, data, eps, variants, kinks)
    if kinks.off < MARGIN:
        raise Unlucky(f"a value is {kinks.off:.1e} from a kink")
    check_float(lambda q, single: solve(net, q, single, eps, variants, Kinks()), p, data, out)
    check_slope(net, p, data, eps, variants, out)
    return net, p, data, out


def option_lines(name, o):
    for key, value in o.items():
        if value is not None:
            words = value if isinstance(value, list) else [value]
            yield f"text {name}.{key} " + " ".join(str(w) for w in words)


def lines_of(case, seed):
    variants = filled(case[5])
    made = make(*case[1:5], variants, seed)
    options = [line for name, o in variants.items() for line in option_lines(name, o)]
    return file_lines("golden_options.py", case, seed, options, made)


if __name__ == "__main__":
    write_files("write the golden files of the objectives' options", CASES, lines_of)
