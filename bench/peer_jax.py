#!/usr/bin/python3
"""Another peer of "r4 bench": the same training step in JAX, compiled as one program.

    bench/peer_jax.py NET METHOD BATCH THREADS [--clean N] [--limit SECONDS]

NET is mlpA-B-..., derm28 or derm64; METHOD is erm, r3, adv-r4 (10 steps) or cert-r4, for the data of bench/peer.py.
Prints its line. Tuned means: one jitted function for the loss, its gradient and Adam, whose arguments are given away
(donated), so that nothing is copied; images in NHWC; the first layer's product shared by the clean pass and the
interval's centre (XLA finds it); max(|c - r|, |c + r|) as |c| + r.
"""
import argparse
import os
import sys

from timing import measure


def arguments():
    ask = argparse.ArgumentParser(description="time one training step in JAX")
    ask.add_argument("net", metavar="NET")
    ask.add_argument("method", metavar="METHOD", choices=["erm", "r3", "adv-r4", "cert-r4"])
    ask.add_argument("batch", metavar="BATCH", type=int)
    ask.add_argument("threads", metavar="THREADS", type=int)
    ask.add_argument("--clean", type=int, default=15, help="samples wanted")
    ask.add_argument("--limit", type=float, default=12.0, help="seconds to wait for them")
    return ask.parse_args()


args = arguments()
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])  # XLA starts a thread for each CPU it may use
try:
    import jax
    import jax.numpy as jnp
except ImportError:
    sys.exit("bench/peer_jax.py: JAX is missing (pip install 'jax[cpu]')")

EPS, LAMBDA, STEPS, RATE = 0.1, 1.0, 10, 1e-3


# ---- Networks: lists of layers (kind, weights, bias, stride), relu after each but the last ---------------


def uniform(key, shape, fan_in):
    return jax.random.uniform(key, shape, minval=-1, maxval=1) / fan_in**0.5


def network():
    """What each layer is, its parameters, the shape of an example and the number of classes."""
    keys = iter(jax.random.split(jax.random.PRNGKey(1), 32))
    kinds, weights = [], []

    def dense(n_in, n_out):
        kinds.append(None)
        weights.append((uniform(next(keys), (n_in, n_out), n_in), jnp.zeros(n_out)))

    if args.net.startswith("mlp"):
        sizes = [int(n) for n in args.net[3:].split("-")]
        for pair in zip(sizes, sizes[1:]):
            dense(*pair)
        return kinds, weights, (sizes[0],), sizes[-1]
    if args.net not in ("derm28", "derm64"):
        sys.exit(f"bench/peer_jax.py: no net {args.net}: mlpA-B-..., derm28 or derm64")
    side = int(args.net[4:])
    shape, channels = (side, side, 3), 3
    for out, kernel, stride in ((32, 3, 1), (32, 4, 2), (64, 4, 1), (64, 4, 2)):
        kinds.append(stride)
        size = (kernel, kernel, channels, out)
        weights.append((uniform(next(keys), size, kernel * kernel * channels), jnp.zeros(out)))
        channels, side = out, (side + 2 - kernel) // stride + 1
    for pair in ((channels * side * side, 1024), (1024, 1024), (1024, 2)):
        dense(*pair)
    return kinds, weights, shape, 2


def linear(stride, x, w):
    if stride is None:
        return x.reshape(len(x), -1) @ w
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, w, (stride, stride), [(1, 1), (1, 1)], dimension_numbers=numbers)


def logits(kinds, weights, x):
    for k, (w, b) in enumerate(weights):
        x = linear(kinds[k], x, w) + b
        x = jax.nn.relu(x) if k + 1 < len(weights) else x
    return x


# ---- Objectives ------------------------------------------------------------------------------------------


def losses(z, y):
    return jax.nn.logsumexp(z, 1) - jnp.take_along_axis(z, y[:, None], 1)[:, 0]


def norms(v):
    squares = jnp.square(v).reshape(len(v), -1).sum(1)
    return jnp.sqrt(jnp.where(squares > 0, squares, 1)) * (squares > 0)


def erm(kinds, weights, data):
    return losses(logits(kinds, weights, data["x"]), data["y"]).mean()


def explanation(kinds, weights, x, y):
    return jax.grad(lambda x: losses(logits(kinds, weights, x), y).sum())(x)


def r3(kinds, weights, data):
    g = explanation(kinds, weights, data["x"], data["y"])
    return erm(kinds, weights, data) + LAMBDA * jnp.square(data["m"] * g).sum() / len(g)


def attack(kinds, weights, data, key):
    """The best point of each path, its end included."""
    box = EPS * data["m"]

    def squares(d):
        g = explanation(kinds, weights, data["x"] + d, data["y"])
        each = jnp.square(data["m"] * g).reshape(len(d), -1).sum(1)
        return each.sum(), each

    def move(_, state):
        d, best, largest = state
        (_, each), up = jax.value_and_grad(squares, has_aux=True)(d)
        larger = (each > largest).reshape(-1, *[1] * (d.ndim - 1))
        best, largest = jnp.where(larger, d, best), jnp.maximum(each, largest)
        return jnp.clip(d + EPS / 4 * jnp.sign(up), -box, box), best, largest

    d = box * jax.random.uniform(key, box.shape, minval=-1, maxval=1)
    d, best, largest = jax.lax.fori_loop(0, STEPS, move, (d, d, jnp.full(len(d), -1.0)))
    larger = (squares(d)[1] > largest).reshape(-1, *[1] * (d.ndim - 1))
    return jnp.where(larger, d, best)


def adv_r4(kinds, weights, data):
    at = data["x"] + jax.lax.stop_gradient(attack(kinds, jax.lax.stop_gradient(weights), data, data["key"]))
    g = explanation(kinds, weights, at, data["y"])
    return erm(kinds, weights, data) + LAMBDA * norms(data["m"] * g).mean()


def softmax_bounds(lo, hi):
    """Own entry against the others: log p = -log(1 + sum exp(other - own))."""
    same = jnp.eye(lo.shape[1], dtype=bool)
    up = jnp.where(same, 0, lo[:, None, :] - hi[:, :, None])
    down = jnp.where(same, 0, hi[:, None, :] - lo[:, :, None])
    return jnp.exp(-jax.nn.logsumexp(down, 2)), jnp.exp(-jax.nn.logsumexp(up, 2))


def cert_r4(kinds, weights, data):
    c, r, before, shapes = data["x"], EPS * data["m"], [], []
    for k, (w, b) in enumerate(weights):
        shapes.append(c)
        c, r = linear(kinds[k], c, w) + b, linear(kinds[k], r, jnp.abs(w))
        if k + 1 < len(weights):
            before.append((c - r, c + r))
            lo, hi = jax.nn.relu(c - r), jax.nn.relu(c + r)
            c, r = (hi + lo) / 2, (hi - lo) / 2
    lo, hi = softmax_bounds(c - r, c + r)
    c, r = (hi + lo) / 2 - data["one_hot"], (hi - lo) / 2
    for k in reversed(range(len(weights))):
        if k + 1 < len(weights):
            lo, hi = c - r, c + r
            on, may = (before[k][0] > 0) * 1.0, (before[k][1] > 0) * 1.0
            lo, hi = lo * jnp.where(lo < 0, may, on), hi * jnp.where(hi > 0, may, on)
            c, r = (hi + lo) / 2, (hi - lo) / 2
        back = jax.linear_transpose(lambda x, k=k: linear(kinds[k], x, weights[k][0]), shapes[k])
        size = jax.linear_transpose(lambda x, k=k: linear(kinds[k], x, jnp.abs(weights[k][0])), shapes[k])
        c, r = back(c)[0], size(r)[0]
    return erm(kinds, weights, data) + LAMBDA * norms(data["m"] * (jnp.abs(c) + r)).mean()


OBJECTIVE = {"erm": erm, "r3": r3, "adv-r4": adv_r4, "cert-r4": cert_r4}


# ---- A step ----------------------------------------------------------------------------------------------


def random_data(shape, classes):
    x, y, m, key = jax.random.split(jax.random.PRNGKey(2), 4)
    label = jax.random.randint(y, (args.batch,), 0, classes)
    mask = (jax.random.uniform(m, (args.batch, *shape)) < 0.3).astype(jnp.float32)
    return {"x": jax.random.uniform(x, (args.batch, *shape)), "y": label, "m": mask, "key": key,
            "one_hot": jax.nn.one_hot(label, classes)}


def adam(weights, gradient, state):
    mean, square, n = state
    n = n + 1
    mean = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, mean, gradient)
    square = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, square, gradient)

    def move(w, a, b):
        return w - RATE * (a / (1 - 0.9**n)) / (jnp.sqrt(b / (1 - 0.999**n)) + 1e-8)

    return jax.tree.map(move, weights, mean, square), (mean, square, n)


def step_of():
    kinds, weights, shape, classes = network()
    data, objective = random_data(shape, classes), OBJECTIVE[args.method]

    def whole(weights, state, data):
        loss, gradient = jax.value_and_grad(lambda w: objective(kinds, w, data))(weights)
        return loss, *adam(weights, gradient, state)

    compiled = jax.jit(whole, donate_argnums=(0, 1))
    zero = [jax.tree.map(jnp.zeros_like, weights) for _ in range(2)]
    now = [weights, (*zero, jnp.float32(0))]

    def step():
        loss, now[0], now[1] = compiled(*now, data)
        jax.block_until_ready(now)
        return float(loss)

    return step


if __name__ == "__main__":
    run = step_of()
    ms, good, every = measure(run, args.clean, args.limit)
    print(f"{ms:.3f} {good} {every} jax-{jax.__version__} nhwc")
