"""Makes test/golden/torch/: small files of PyTorch of both kinds, and what is in them as text.

    python3 scripts/golden_torch.py        with PyTorch 1.6 or later

values.txt has a line for each file, tensor and its elements: FILE NAME SHAPE VALUES.
"""
import collections
import os
import zipfile

import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "golden", "torch")


def ramp(*shape):
    n = 1
    for k in shape:
        n *= k
    return (torch.arange(n, dtype=torch.float32) * 0.25 - 1).reshape(shape)


def state():
    """Types, a view of another tensor, a transposed one, a scalar, an empty one, and a counter."""
    whole = ramp(4, 3)
    return collections.OrderedDict([
        ("layer1.0.weight", ramp(2, 3)), ("whole", whole), ("view", whole[1:3, ::2]), ("turned", whole.t()),
        ("half", ramp(3).half()), ("brain", ramp(3).bfloat16()), ("double", ramp(2, 2).double()),
        ("scalar", torch.tensor(2.5)), ("empty", torch.empty(0, 4)), ("é", ramp(1)),
        ("bn.num_batches_tracked", torch.tensor(7)), ("parameter", torch.nn.Parameter(ramp(2)))])


def turn_round(old, new):
    """The same archive, but it says that its numbers have their highest byte first."""
    with zipfile.ZipFile(old) as a, zipfile.ZipFile(new, "w") as b:
        for name in a.namelist():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            b.writestr(info, b"big" if name.endswith("/byteorder") else a.read(name))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))
    files = {"state": state(), "checkpoint": {"epoch": 3, "lr": 0.1, "done": None, "state_dict": state()}}
    lines = []
    for name, value in files.items():
        for old in (False, True):
            file = f"{name}.{'old' if old else 'zip'}.pth"
            torch.save(value, os.path.join(FOLDER, file), _use_new_zipfile_serialization=not old)
            for key, t in (value.get("state_dict", value)).items():
                if t.is_floating_point():
                    shape = ",".join(map(str, t.shape))
                    values = " ".join(repr(float(v)) for v in t.detach().float().flatten())
                    lines.append(f"{file} {key} [{shape}] {values}".rstrip())
    torch.save(state(), os.path.join(FOLDER, "four.zip.pth"), pickle_protocol=4)
    torch.save(net, os.path.join(FOLDER, "model.zip.pth"))
    torch.save({"epoch": 3}, os.path.join(FOLDER, "nothing.zip.pth"))
    turn_round(os.path.join(FOLDER, "four.zip.pth"), os.path.join(FOLDER, "big.zip.pth"))
    torch.save({"w": torch.zeros(1).expand(5)}, os.path.join(FOLDER, "expanded.zip.pth"))
    with open(os.path.join(FOLDER, "values.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")


main()
