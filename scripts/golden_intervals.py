"""Intervals that can be differentiated, for the golden files: the rules of doc/bounds.md, written again in PyTorch.

An Interval knows what it was made of. Of each argument it keeps a function that takes an interval of the derivative
with respect to itself to one with respect to the argument; slope() adds these up on the way back to where it began.
"""
import torch
import torch.nn.functional as F

GELU_VALLEY = -0.75179152469356445


class Interval:
    """lo <= x <= hi, element by element."""

    def __init__(self, lo, hi, *made_of):
        self.lo, self.hi, self.made_of = lo, hi, made_of  # (argument, pull)

    def ball(self):
        return (self.hi + self.lo) / 2, (self.hi - self.lo) / 2

    # ---- Derivatives

    def slope(self, start, of):
        """The derivative with respect to `of`, from `start`, the one with respect to self."""
        order, seen, slopes = [], set(), {id(self): start}

        def visit(x):
            if id(x) not in seen:
                seen.add(id(x))
                for argument, _ in x.made_of:
                    visit(argument)
                order.append(x)
        visit(self)
        for x in reversed(order):
            for argument, pull in x.made_of:
                part, old = pull(slopes[id(x)]), slopes.get(id(argument))
                slopes[id(argument)] = part if old is None else Interval(old.lo + part.lo, old.hi + part.hi)
        return slopes[id(of)]

    # ---- Linear

    def map(self, f, back):
        """f moves elements, or adds them with weights that are not negative; back is its transpose."""
        return Interval(f(self.lo), f(self.hi), (self, lambda d: Interval(back(d.lo), back(d.hi))))

    def plus(self, value):
        return Interval(self.lo + value, self.hi + value, (self, lambda d: d))

    def times(self, value):
        """value: one number for each element, or that broadcasts to them."""
        def f(x):
            p, q = x.lo * value, x.hi * value
            return torch.minimum(p, q), torch.maximum(p, q)
        return Interval(*f(self), (self, lambda d: Interval(*f(d))))

    def linear(self, weight, bias):
        def f(x, w):
            c, r = x.ball()
            c, r = c @ w, r @ w.abs()
            return Interval(c - r, c + r)
        y = f(self, weight.T)
        return Interval(y.lo + bias, y.hi + bias, (self, lambda d: f(d, weight)))

    def mean(self):
        """Over the last axis, which stays."""
        n = self.lo.shape[-1]
        return self.map(lambda v: v.mean(-1, keepdim=True), lambda v: v.expand(*v.shape[:-1], n) / n)

    def __add__(self, other):
        return Interval(self.lo + other.lo, self.hi + other.hi, (self, lambda d: d), (other, lambda d: d))

    def __sub__(self, other):
        """other may have one element where self has a row."""
        def back(d):
            minus = Interval(-d.hi, -d.lo)
            return minus if other.lo.shape == self.lo.shape else minus.map(lambda v: v.sum(-1, keepdim=True), None)
        return Interval(self.lo - other.hi, self.hi - other.lo, (self, lambda d: d), (other, back))

    # ---- Products

    def __mul__(self, other):
        """other may have one element where self has a row."""
        def f(a, b):
            ends = torch.stack(torch.broadcast_tensors(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi))
            return Interval(ends.min(0).values, ends.max(0).values)

        def back(d):
            by = f(d, self)
            return by if other.lo.shape == self.lo.shape else by.map(lambda v: v.sum(-1, keepdim=True), None)
        y = f(self, other)
        return Interval(y.lo, y.hi, (self, lambda d: f(d, other)), (other, back))

    def __matmul__(self, other):
        def f(x, y):
            a, r, b, s = *x.ball(), *y.ball()
            c, d = a @ b, a.abs() @ s + r @ (b.abs() + s)
            return Interval(c - d, c + d)
        y = f(self, other)
        return Interval(y.lo, y.hi, (self, lambda d: f(d, other.turned())), (other, lambda d: f(self.turned(), d)))

    def turned(self):
        """The last two axes change places."""
        return self.map(lambda v: v.transpose(-1, -2), lambda v: v.transpose(-1, -2))

    # ---- Curves

    def square(self):
        most = torch.maximum(self.lo.abs(), self.hi.abs())
        least = torch.maximum(torch.maximum(self.lo, -self.hi), torch.zeros(()))
        return Interval(least ** 2, most ** 2, (self, lambda d: d * Interval(2 * self.lo, 2 * self.hi)))

    def relu(self):
        open_ = Interval(*((v > 0).to(v.dtype) for v in (self.lo, self.hi)))
        return Interval(self.lo.relu(), self.hi.relu(), (self, lambda d: d * open_))

    def rsqrt(self):
        lo, hi = self.hi.rsqrt(), self.lo.rsqrt()
        return Interval(lo, hi, (self, lambda d: d * Interval(-hi ** 3 / 2, -lo ** 3 / 2)))

    def softmax(self):
        def one(own, others):
            square = torch.where(torch.eye(own.shape[-1], dtype=torch.bool), own.unsqueeze(-1), others.unsqueeze(-2))
            return (own - square.logsumexp(-1)).exp()

        def back(d):  # y (d - sum y d)
            total = (y * d).map(lambda v: v.sum(-1, keepdim=True), None)
            return y * (d - total)
        y = Interval(one(self.lo, self.hi), one(self.hi, self.lo))
        return Interval(y.lo, y.hi, (self, back))

    def gelu(self):
        def back(d):  # d (Phi(x) + x phi(x)), Phi rises
            below = Interval(*((1 + torch.erf(v * 0.5 ** 0.5)) / 2 for v in (self.lo, self.hi)))
            far = self.square()
            bell = Interval(*((-v / 2).exp() / (2 * torch.pi) ** 0.5 for v in (far.hi, far.lo)))
            return d * (below + self * bell)
        lowest = torch.minimum(torch.maximum(torch.tensor(GELU_VALLEY), self.lo), self.hi)
        return Interval(F.gelu(lowest), torch.maximum(F.gelu(self.lo), F.gelu(self.hi)), (self, back))

    # ---- Of nets

    def layer_norm(self, weight, bias, eps):
        centred = self - self.mean()
        return (centred * centred.square().mean().plus(eps).rsqrt()).times(weight).plus(bias)

    def cross_entropy_slope(self, y):
        """The derivative of cross entropy with respect to self, the logits."""
        p, own = self.softmax(), F.one_hot(y, self.lo.shape[-1])
        return Interval(p.lo - own, p.hi - own)


def around(x, radius):
    return Interval(x - radius, x + radius)
