#!/usr/bin/python3
"""Writes test/golden/words.txt: methods that replace words on a small BERT, and what PyTorch makes of them, in double.

    scripts/golden_words.py [--dir test/golden]

The format is that of golden.py, the net that of golden_modules.py. x holds ids of tokens, length how many of them are
there, m masks of tokens; list is ids of words, words [samples, batch, tokens] what is drawn in place of tokens, chance
[samples, batch, tokens] whether it is (below alpha). For each method

    METHOD.each, METHOD.loss     q of each example, and mean cross entropy + mean_i q_i
    METHOD.grad.P                the derivative of that loss with respect to each parameter P
    METHOD.ids                   the texts that a search has found

    r3               |m g_i|^2
    smooth           |m mean_s g_i(x_s)|^2, in x_s inner tokens are words_s where chance_s < alpha
    rand, element    max_s |m g_i(x_s)|, and |m max_s |g_i(x_s)||; in x_s masked tokens are words_s, and x_0 = x
    adv              |m g_i(x*)|: one masked token after the other is the word of the list, or stays, at which |g_i| there
                     is largest
    adv_log, adv_target   the same with mean_i log(1 + q_i / tau) and log(1 + mean_i q_i / delta) in place of mean_i q_i
    fill, filled     0, and q_i of r3; the cross entropy is that of "filled", texts with other words at masked tokens
    screened         the same as adv, over the "candidates" words w with the largest h . v_w, where h is the derivative of
                     |g_i|^2 there with respect to the vector there, and v_w the vector of w at that place
"""
import argparse
import os

import torch
import torch.nn.functional as F

from golden import tensor_lines
from golden_modules import Bert

BATCH, TOKENS, SAMPLES, ALPHA, CANDIDATES, TAU, DELTA = 4, 6, 3, 0.4, 2, 0.05, 0.3
NET = dict(layers=1, width=4, heads=2, inner=5, words=14, positions=6, classes=3)
LIST = [3, 12, 7, 13, 9, 5]
LENGTH = [6, 5, 4, 6]
MASKED = [(0, 2), (0, 4), (1, 1), (2, 1), (2, 2)]  # the last text has none
CLEAR = 1e-4  # how far apart the best and the next of a choice must be, relative to the best
SEED = 1


class Words:
    def __init__(self):
        self.net, self.p = Bert(pool="mean", **NET), {}
        self.net.grow(self.p, None)
        for value in self.p.values():
            value.requires_grad_(True)
        self.x = torch.randint(3, NET["words"], (BATCH, TOKENS))
        self.net.valid = torch.tensor([[float(t < n) for t in range(TOKENS)] for n in LENGTH])
        self.y = torch.arange(BATCH) % NET["classes"]
        self.m = torch.zeros(BATCH, TOKENS)
        for place in MASKED:
            self.m[place] = 1
        self.words = torch.randint(3, NET["words"], (SAMPLES, BATCH, TOKENS))
        self.chance = torch.rand(SAMPLES, BATCH, TOKENS)

    def loss(self, leaf, how):
        return F.cross_entropy(self.net.forward(self.p, leaf, None), self.y, reduction=how)

    def explain(self, ids, leaf=None):
        leaf = self.net.leaf(self.p, ids) if leaf is None else leaf
        return torch.autograd.grad(self.loss(leaf, "sum"), leaf, create_graph=True)[0]

    def squares(self, g):
        return (self.m.unsqueeze(2) * g).square().sum((1, 2))

    def norm(self, g):
        squares = self.squares(g)
        return torch.stack([q.sqrt() if self.m[i].any() else q * 0 for i, q in enumerate(squares)])

    # ---- Methods ----

    def inner(self):
        place, length = torch.arange(TOKENS), torch.tensor(LENGTH).unsqueeze(1)
        return (place > 0) & (place < length - 1)

    def smooth(self):
        moved = [torch.where((c < ALPHA) & self.inner(), w, self.x) for c, w in zip(self.chance, self.words)]
        return self.squares(sum(self.explain(x) for x in moved) / SAMPLES)

    def samples(self):
        return [self.x, *(torch.where(self.m > 0, w, self.x) for w in self.words)]

    def rand(self):
        return torch.stack([self.norm(self.explain(x)) for x in self.samples()]).max(0).values

    def element(self):
        return self.norm(torch.stack([self.explain(x).abs() for x in self.samples()]).max(0).values)

    def screen(self, i, t, x):
        leaf = self.net.leaf(self.p, x)
        size = self.explain(x, leaf)[i, t].square().sum()
        h = torch.autograd.grad(size, leaf)[0][i, t]
        place = self.p["embeddings.position_embeddings.weight"][t] + self.p["embeddings.token_type_embeddings.weight"][0]
        order = sorted(LIST, key=lambda w: -float(h @ (self.p["embeddings.word_embeddings.weight"][w] + place)))
        return order[:CANDIDATES]

    def search(self, candidates):
        x = self.x.clone()
        for i, t in MASKED:
            sizes = []
            for w in [int(x[i, t]), *candidates(i, t, x)]:
                other = x.clone()
                other[i, t] = w
                sizes.append((float(self.explain(other)[i, t].norm()), w))
            sizes.sort(reverse=True)
            assert sizes[0][0] - next(s for s, w in sizes if w != sizes[0][1]) > CLEAR * sizes[0][0]
            x[i, t] = sizes[0][1]
        return x


def main():
    ask = argparse.ArgumentParser(description="write the golden file of methods that replace words")
    ask.add_argument("--dir", default=os.path.join(os.path.dirname(__file__), "..", "test", "golden"))
    folder = ask.parse_args().dir
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    w = Words()
    leaf = w.net.leaf(w.p, w.x)
    data = w.loss(leaf, "mean")
    out = {"x": w.x, "y": w.y, "m": w.m, "length": torch.tensor(LENGTH), "list": torch.tensor(LIST), "words": w.words,
           "chance": w.chance, "z": w.net.forward(w.p, leaf, None), "g": w.explain(w.x)}
    full, screened = w.search(lambda i, t, x: LIST), w.search(w.screen)
    assert (full != screened).any()  # else the screening would not be tested
    methods = {"r3": w.squares(w.explain(w.x)), "smooth": w.smooth(), "rand": w.rand(), "element": w.element(),
               "adv": w.norm(w.explain(full)), "screened": w.norm(w.explain(screened))}
    out.update({"adv.ids": full, "screened.ids": screened})
    filled = torch.where(w.m > 0, w.words[0], w.x)
    data_filled = w.loss(w.net.leaf(w.p, filled), "mean")
    losses = {name: (each, data + each.mean()) for name, each in methods.items()}
    adv, none = methods["adv"], torch.zeros(BATCH)
    losses.update({"adv_log": (adv, data + (adv / TAU).log1p().mean()), "adv_target": (adv, data + (adv.mean() / DELTA).log1p()),
                   "fill": (none, data_filled), "filled": (methods["r3"], data_filled + methods["r3"].mean())})
    out["filled"] = filled
    for name, (each, loss) in losses.items():
        out.update({f"{name}.each": each, f"{name}.loss": loss})
        grads = torch.autograd.grad(loss, list(w.p.values()), retain_graph=True)
        out.update({f"{name}.grad.{k}": v for k, v in zip(w.p, grads)})
    text = ",".join(f"{k}={v}" for k, v in NET.items())
    lines = ["# words: made by scripts/golden_words.py; do not edit", f"text net bert({text},drop=0,pool=mean)",
             f"text alpha {ALPHA}", f"text tau {TAU}", f"text delta {DELTA}", f"text samples {SAMPLES}", f"text candidates {CANDIDATES}"]
    for name, value in {**w.p, **out}.items():
        lines += tensor_lines(name, value.detach().double())
    with open(os.path.join(folder, "words.txt"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
