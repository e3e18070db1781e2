#!/usr/bin/env python3
"""Makes test/golden/onnx: nets that PyTorch has exported as ONNX, with examples and PyTorch's logits beside them.

    scripts/golden_onnx.py test/golden/onnx     # needs torch 2.x, onnx and onnxscript

NAME.onnx is the file, NAME.bin its examples [3, channels, height, width] or [3, features] and then the logits, as floats
in a row. Each net comes from both exporters: "script", the older one, and "dynamo", the newer, which may put weights
into a file beside it.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn

BATCH = 3


class Block(nn.Module):
    """A residual block as torchvision writes it."""

    def __init__(self, n: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(n, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        same = n == out and stride == 1
        self.downsample = None if same else nn.Sequential(nn.Conv2d(n, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class Small(nn.Module):
    """A small ResNet."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(Block(4, 4, 1), Block(4, 8, 2))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layer1(x)), 1))


class Viewed(nn.Module):
    """Flattened by view, which knows the size of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)
        self.fc = nn.Linear(3 * 4 * 5, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.conv(x))
        return torch.log_softmax(self.fc(x.view(x.size(0), -1)), dim=1)


def nets() -> dict[str, tuple[nn.Module, tuple[int, ...]]]:
    dense = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 5, bias=False), nn.Tanh(), nn.Dropout(0.5), nn.Linear(5, 3))
    conv = nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1, groups=2), nn.BatchNorm2d(4), nn.ReLU6(), nn.AvgPool2d(2), nn.Conv2d(4, 3, 2, dilation=2),
        nn.ReLU(), nn.MaxPool2d(2, 1), nn.Flatten(), nn.Linear(3 * 1 * 2, 4), nn.BatchNorm1d(4), nn.Linear(4, 2),
    )
    return {"dense": (dense, (6,)), "conv": (conv, (2, 8, 10)), "resnet": (Small(), (3, 11, 10)), "viewed": (Viewed(), (2, 6, 7))}


def fill(net: nn.Module) -> None:
    """Statistics and scales that are not 0 and 1."""
    for m in net.modules():
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
            for t, low, high in ((m.weight, 0.5, 1.5), (m.bias, -0.5, 0.5), (m.running_mean, -0.5, 0.5), (m.running_var, 0.5, 1.5)):
                nn.init.uniform_(t, low, high)


def export(net: nn.Module, x: torch.Tensor, path: Path, dynamo: bool) -> None:
    options = {"dynamic_shapes": ({0: torch.export.Dim("batch")},)} if dynamo else {"dynamic_axes": {"input": {0: "batch"}}}
    torch.onnx.export(net, (x,), str(path), input_names=["input"], dynamo=dynamo, verbose=False, **options)
    forget(path)


def forget(path: Path) -> None:
    """Leaves out what speaks of the machine that made the file, and a file of weights with nothing in it."""
    model = onnx.load(path, load_external_data=False)
    for thing in (model, model.graph, *model.graph.node, *model.graph.input, *model.graph.output, *model.graph.initializer):
        thing.ClearField("metadata_props")
        thing.ClearField("doc_string")
    model.graph.ClearField("value_info")
    onnx.save(model, path)
    beside = path.with_name(path.name + ".data")
    if beside.exists() and not beside.stat().st_size:
        beside.unlink()


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name, (net, shape) in nets().items():
        torch.manual_seed(1)
        fill(net)
        net.eval()
        x = torch.randn(BATCH, *shape)
        for dynamo in (False, True):
            path = folder / f"{name}-{'dynamo' if dynamo else 'script'}.onnx"
            export(net, x, path, dynamo)
            with torch.no_grad():
                logits = net(x)
            np.concatenate([x.numpy().ravel(), logits.numpy().ravel()]).astype("<f4").tofile(path.with_suffix(".bin"))


main()
