#!/usr/bin/env python3
"""Linear bounds of margins by r4 and by auto_LiRPA (CROWN), the same boxes of the same net in the same run.

    R4=build/r4 bench/certify.py RUN [--examples N] [--eps EPS] [--full] [--threads N] [--batch N]

RUN is a trained net of dense layers and relus on one seed (decoy-mnist/r3). The boxes are those of its masks over the whole
range, or with --full every feature within --eps, of the examples in RUN/certificate-test.npz, which "r4 certify RUN" has written. Margins are bounded against every other class, with the usual slopes,
undecided units by walking back, too. r4 encloses rounding, in double, and its time is that of the whole command; auto_LiRPA
computes in float, and its time is that of compute_bounds alone. Printed are seconds, the most memory, and how many margins
are positive. Needs numpy, torch and auto_LiRPA 0.3 (see scripts/golden_linear.py)."""

from __future__ import annotations

import argparse
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def tensors(path: Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    at = {k: [8 + size + o for o in v["data_offsets"]] for k, v in header.items()}
    return {k: np.frombuffer(data[at[k][0] : at[k][1]], "<f4").reshape(header[k]["shape"]) for k in header}


def certified(path: Path) -> np.ndarray:
    """Of each example its class, and whether it holds."""
    lines = [line.split() for line in path.read_text().splitlines()]
    rows = [line for line in lines if line[0].isdigit()]
    return np.array([[int(row[2]), row[4] == "holds"] for row in rows])


def by_r4(run: Path, folder: Path, options: argparse.Namespace) -> dict:
    box = ["--eps", str(options.eps), "--valid", "0,1"] if options.full else ["--range"]
    if options.full:
        with np.load(run / "certificate-test.npz") as masked:
            flat = masked["x"].reshape(len(masked["x"]), -1)
            few = {"x_train": flat[:100], "y_train": masked["y"][:100]}
            np.savez(folder / "full.npz", x_test=flat, y_test=masked["y"], m_test=np.ones_like(flat), **few,
                     mask_means="irrelevant")
        box += ["--data-now", str(folder / "full.npz"), "--other-data"]
    if options.examples:
        box += ["--examples", str(options.examples)]
    files = ["--out", str(folder / "certificate.txt"), "--data", str(folder / "data.npz"), "--force"]
    command = [os.environ.get("R4", "r4"), "certify", str(run), *box, "--attack", "0", "--method", "linear", "--slopes", "0"]
    began = time.monotonic()
    subprocess.run(command + files, check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, OMP_NUM_THREADS=str(options.threads)))
    seconds = time.monotonic() - began
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": seconds, "memory": memory, "lines": certified(folder / "certificate.txt")}


def by_peer(run: Path, folder: Path, options: argparse.Namespace, label: np.ndarray) -> dict:
    import torch
    from auto_LiRPA import BoundedModule, BoundedTensor, PerturbationLpNorm

    torch.set_num_threads(options.threads)
    weights = tensors(next(run.glob("seed-*/model.safetensors")))
    names = sorted({k.rsplit(".", 1)[0] for k in weights}, key=int)
    layers: list[torch.nn.Module] = []
    for name in names:
        w = torch.tensor(weights[name + ".weight"])
        layers += [torch.nn.ReLU()] if layers else []
        layers.append(torch.nn.Linear(w.shape[1], w.shape[0]))
        layers[-1].weight.data, layers[-1].bias.data = w, torch.tensor(weights[name + ".bias"])
    with np.load(folder / "data.npz") as f:
        x, mask = f["x"].reshape(len(label), -1), np.broadcast_to(f["mask"], f["x"].shape).reshape(len(label), -1)
    low = np.clip(x - options.eps, 0, 1) if options.full else np.where(mask > 0, 0, x)
    high = np.clip(x + options.eps, 0, 1) if options.full else np.where(mask > 0, 1, x)
    net, classes = BoundedModule(torch.nn.Sequential(*layers), torch.zeros(1, x.shape[1])), len(layers[-1].bias)
    held, seconds = 0, 0.0
    for first in range(0, len(label), options.batch):
        part = slice(first, first + options.batch)
        ends = [torch.tensor(v[part].astype(np.float32)) for v in (x, low, high)]
        own = torch.tensor(label[part])
        eye = torch.eye(classes)
        other = torch.stack([torch.cat([eye[:c], eye[c + 1 :]]) for c in own])
        began = time.monotonic()
        ball = BoundedTensor(ends[0], PerturbationLpNorm(norm=float("inf"), x_L=ends[1], x_U=ends[2]))
        with torch.no_grad():
            lower, _ = net.compute_bounds(x=(ball,), C=eye[own][:, None] - other, method="CROWN", bound_upper=False)
        seconds += time.monotonic() - began
        held += int((lower.min(1).values > 0).sum())
    return {"seconds": seconds, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "held": held}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--eps", default=0.02, type=float)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        r4 = by_r4(options.run, folder, options)
        peer = by_peer(options.run, folder, options, r4["lines"][:, 0])
    n = len(r4["lines"])
    print(f"{n} examples, {'every feature' if options.full else 'the mask'}; {options.threads} threads")
    print(f"r4          {r4['seconds']:7.2f} s  {r4['memory']:6.0f} MB  {r4['lines'][:, 1].sum()} positive")
    print(f"auto_LiRPA  {peer['seconds']:7.2f} s  {peer['memory']:6.0f} MB  {peer['held']} positive")
    print(f"ratio {peer['seconds'] / r4['seconds']:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
