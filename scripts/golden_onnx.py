#!/usr/bin/env python3
"""Makes test/golden/onnx: nets that PyTorch has exported as ONNX, with examples and PyTorch's logits beside them.

    scripts/golden_onnx.py test/golden/onnx     # needs torch 2.x, onnx and onnxscript

NAME.onnx is the file, NAME.bin its examples [3, channels, height, width] or [3, features], or ids and masks of tokens [3,
tokens], and then the logits, as floats in a row. Each net comes from both exporters: "script", the older one, and "dynamo", the newer, which may put weights
into a file beside it.
"""

from __future__ import annotations

import math
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


class Attention(nn.Module):
    """As BERT has it; the factor stands behind the products, or before them."""

    def __init__(self, width: int, heads: int, bias: bool) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width, bias=bias), nn.Linear(width, width, bias=bias)
        self.value = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        b, t, w = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in (self.query(x), self.key(x), self.value(x)))
        scores = q @ k.transpose(-1, -2) / math.sqrt(w // self.heads) + mask
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, w)


class Text(nn.Module):
    """An encoder of tokens: BERT's order of norms and its first token, or norms first and the mean of the tokens."""

    def __init__(self, bert: bool) -> None:
        super().__init__()
        self.bert = bert
        self.word, self.place, self.kind = nn.Embedding(30, 8), nn.Embedding(10, 8), nn.Embedding(2, 8)
        self.norm, self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8), nn.LayerNorm(8)
        self.attention, self.out = Attention(8, 2, bert), nn.Linear(8, 8)
        self.up, self.down, self.head = nn.Linear(8, 12), nn.Linear(12, 8), nn.Linear(8, 3)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        x = self.word(input_ids) + self.place(torch.arange(input_ids.shape[1]))[None]
        there = attention_mask[:, None, None, :]
        if self.bert:
            x = self.norm(x + self.kind(torch.zeros_like(input_ids)))
            x = self.norm1(x + self.out(self.attention(x, (1.0 - there.float()) * torch.finfo(torch.float32).min)))
            x = self.norm2(x + self.down(nn.functional.gelu(self.up(x))))
            return self.head(torch.tanh(x[:, 0]))
        x = x + self.out(self.attention(self.norm1(x), torch.where(there.bool(), 0.0, -1e9)))
        x = x + self.down(nn.functional.gelu(self.up(self.norm2(x))))
        some = attention_mask[:, :, None].float()
        return self.head(self.norm((x * some).sum(1) / some.sum(1).clamp(min=1e-9)))


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
        if isinstance(m, (nn.LayerNorm, nn.Embedding)):
            for t in m.parameters():
                nn.init.normal_(t, 0.3, 0.7)
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
            for t, low, high in ((m.weight, 0.5, 1.5), (m.bias, -0.5, 0.5), (m.running_mean, -0.5, 0.5), (m.running_var, 0.5, 1.5)):
                nn.init.uniform_(t, low, high)


def export(net: nn.Module, inputs: tuple[torch.Tensor, ...], names: list[str], path: Path, dynamo: bool) -> None:
    """Texts as of operators 17, in which gelu is written out."""
    batch = torch.export.Dim("batch") if dynamo else "batch"
    each = {"dynamic_shapes": tuple({0: batch} for _ in names)} if dynamo else {"dynamic_axes": {n: {0: batch} for n in names}}
    version = {"opset_version": 18 if dynamo else 17} if len(names) > 1 else {}
    torch.onnx.export(net, inputs, str(path), input_names=names, dynamo=dynamo, verbose=False, **each, **version)
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
        leave(folder, name, net, (torch.randn(BATCH, *shape),), ["input"])
    for name in ("bert", "encoder"):
        torch.manual_seed(2)
        net = Text(name == "bert")
        fill(net)
        ids, lengths = torch.randint(0, 30, (BATCH, 6)), torch.tensor([6, 4, 1])
        leave(folder, name, net, (ids, (torch.arange(6) < lengths[:, None]).long()), ["input_ids", "attention_mask"])


def leave(folder: Path, name: str, net: nn.Module, inputs: tuple[torch.Tensor, ...], names: list[str]) -> None:
    """Files of both exporters."""
    net.eval()
    with torch.no_grad():
        numbers = [t.numpy().astype("<f4").ravel() for t in (*inputs, net(*inputs))]
    for dynamo in (False, True):
        path = folder / f"{name}-{'dynamo' if dynamo else 'script'}.onnx"
        export(net, inputs, names, path, dynamo)
        np.concatenate(numbers).tofile(path.with_suffix(".bin"))


main()
