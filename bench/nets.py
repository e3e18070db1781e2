"""The networks of the peers, as one would write them in PyTorch, and fast in it."""
import functools
import sys

import torch
import torch.nn.functional as F

class Dense:
    def __init__(self, n_in, n_out):
        module = torch.nn.Linear(n_in, n_out)
        self.w, self.b = module.weight, module.bias

    def apply(self, x, w, b=None):
        return F.linear(x, w, b)

    def transposed(self, dy, w):
        return dy @ w


class Conv:
    def __init__(self, n_in, n_out, kernel, stride, side):
        module = torch.nn.Conv2d(n_in, n_out, kernel, stride, 1)
        self.w, self.b, self.stride, self.side = module.weight, module.bias, stride, side

    def apply(self, x, w, b=None):
        return F.conv2d(x, w, b, self.stride, 1)

    def transposed(self, dy, w):
        shape = (dy.shape[0], w.shape[1], self.side, self.side)
        return torch.nn.grad.conv2d_input(shape, w, dy, self.stride, 1)


class Flatten:
    """Images become rows."""


def derm(side):
    """The network of the dermatology images: four convolutions, three dense layers."""
    layers, channels = [], 3
    for out, kernel, stride in ((32, 3, 1), (32, 4, 2), (64, 4, 1), (64, 4, 2)):
        layers.append(Conv(channels, out, kernel, stride, side))
        channels, side = out, (side + 2 - kernel) // stride + 1
    flat = channels * side * side
    return layers + [Flatten(), Dense(flat, 1024), Dense(1024, 1024), Dense(1024, 2)]


class Net:
    """Linear layers with relu after each but the last."""

    def __init__(self, name, layout):
        if name.startswith("mlp"):
            sizes = [int(n) for n in name[3:].split("-")]
            self.shape, self.layers = (sizes[0],), [Dense(a, b) for a, b in zip(sizes, sizes[1:])]
        elif name in ("derm28", "derm64"):
            side = int(name[4:])
            self.shape, self.layers = (3, side, side), derm(side)
        else:
            sys.exit(f"bench/peer.py: unknown net {name}: mlpA-B-..., derm28, derm64, resnet18, efficientnet-lite0, "
                     "each of these two also with -frozen, or minilm")
        self.linear = [l for l in self.layers if not isinstance(l, Flatten)]
        self.classes = self.linear[-1].b.numel()
        if layout == "nhwc":
            for l in self.linear:
                if l.w.dim() == 4:
                    l.w.data = l.w.data.contiguous(memory_format=torch.channels_last)

    def parameters(self):
        return [p for l in self.linear for p in (l.w, l.b)]

    def leaf(self, x):
        """What is explained: the input itself."""
        return x.requires_grad_(True)

    def logits(self, x, first=None, constant=False):
        """first: what the first layer made of x, if somebody knows. constant: weights get no gradient."""
        for l in self.layers:
            if isinstance(l, Flatten):
                x = x.flatten(1)
            elif l is self.linear[0] and first is not None:
                x = first
            else:
                x = l.apply(x, l.w.detach(), l.b.detach()) if constant else l.apply(x, l.w, l.b)
            if l is not self.linear[-1] and not isinstance(l, Flatten):
                x = x.relu()
        return x


class Block(torch.nn.Module):
    def __init__(self, n_in, n_out, stride):
        super().__init__()
        conv, norm = functools.partial(torch.nn.Conv2d, bias=False), torch.nn.BatchNorm2d
        self.conv1, self.bn1 = conv(n_in, n_out, 3, stride, 1), norm(n_out)
        self.conv2, self.bn2 = conv(n_out, n_out, 3, 1, 1), norm(n_out)
        self.shortcut = torch.nn.Sequential(conv(n_in, n_out, 1, stride), norm(n_out)) if stride > 1 else None

    def forward(self, x):
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (y + (x if self.shortcut is None else self.shortcut(x))).relu()


class Photos(torch.nn.Module):
    """What the nets for photographs of ImageNet share. Batch norm takes the statistics of the batch, everywhere:
    PyTorch computes one pass for loss and penalty."""

    shape, classes = (3, 224, 224), 1000

    def arrange(self, layout):
        if layout == "nhwc":
            self.to(memory_format=torch.channels_last)

    def parameters(self, recurse=True):
        return list(super().parameters(recurse))

    def leaf(self, x):
        return x.requires_grad_(True)

    def logits(self, x):
        return self.fc(self.features(x).mean((2, 3)))


class ResNet18(Photos):
    def __init__(self, layout):
        super().__init__()
        stem = [torch.nn.Conv2d(3, 64, 7, 2, 3, bias=False), torch.nn.BatchNorm2d(64), torch.nn.ReLU(),
                torch.nn.MaxPool2d(3, 2, 1)]
        sizes = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
        self.features = torch.nn.Sequential(*stem, *[b for i, o, s in sizes for b in (Block(i, o, s), Block(o, o, 1))])
        self.fc = torch.nn.Linear(512, self.classes)
        self.arrange(layout)


class Same(torch.nn.Conv2d):
    """TensorFlow's padding of images with even sides: with a stride, the pixel that is too many comes behind."""

    def __init__(self, n_in, n_out, kernel, stride=1, groups=1):
        self.missing = kernel - stride
        pad = kernel // 2 if stride == 1 else 0
        super().__init__(n_in, n_out, kernel, stride, pad, groups=groups, bias=False)

    def forward(self, x):
        if self.stride[0] > 1:
            before = self.missing // 2
            x = F.pad(x, (before, self.missing - before) * 2)
        return super().forward(x)


class Inverted(torch.nn.Module):
    """Wide channels, a window in each of them, then few; with a shortcut where nothing changes in size."""

    def __init__(self, n_in, n_out, kernel, stride, expand):
        super().__init__()
        wide, norm = n_in * expand, functools.partial(torch.nn.BatchNorm2d, eps=1e-3, momentum=0.01)
        first = [Same(n_in, wide, 1), norm(wide), torch.nn.ReLU6()] if expand > 1 else []
        self.parts = torch.nn.Sequential(*first, Same(wide, wide, kernel, stride, wide), norm(wide), torch.nn.ReLU6(),
                                         Same(wide, n_out, 1), norm(n_out))
        self.keeps = stride == 1 and n_in == n_out

    def forward(self, x):
        return x + self.parts(x) if self.keeps else self.parts(x)


class EfficientNetLite0(Photos):
    """Without dropout."""

    blocks = [(16, 3, 1, 1, 1), (24, 3, 2, 6, 2), (40, 5, 2, 6, 2), (80, 3, 2, 6, 3), (112, 5, 1, 6, 3),
              (192, 5, 2, 6, 4), (320, 3, 1, 6, 1)]  # channels, kernel, stride of the first, expansion, how many

    def __init__(self, layout):
        super().__init__()
        norm = functools.partial(torch.nn.BatchNorm2d, eps=1e-3, momentum=0.01)
        parts, channels = [Same(3, 32, 3, 2), norm(32), torch.nn.ReLU6()], 32
        for out, kernel, stride, expand, many in self.blocks:
            for k in range(many):
                parts.append(Inverted(channels, out, kernel, 1 if k else stride, expand))
                channels = out
        self.features = torch.nn.Sequential(*parts, Same(320, 1280, 1), norm(1280), torch.nn.ReLU6())
        self.fc = torch.nn.Linear(1280, self.classes)
        self.arrange(layout)


class Encoder(torch.nn.Module):
    """A layer of BERT. fused: attention as PyTorch's one operation, which has no second derivative on the CPU."""

    def __init__(self, width, heads, inner, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, inner), torch.nn.Linear(inner, width)
        self.norm1, self.norm2 = torch.nn.LayerNorm(width, 1e-12), torch.nn.LayerNorm(width, 1e-12)

    def attention(self, x):
        batch, tokens, width = x.shape
        each = width // self.heads
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, each).permute(2, 0, 3, 1, 4)
        if self.fused:
            seen = F.scaled_dot_product_attention(q, k, v)
        else:
            seen = ((q * each**-0.5) @ k.transpose(-1, -2)).softmax(-1) @ v
        return self.out(seen.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x):
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class MiniLM(torch.nn.Module):
    """BERT's encoder in the sizes of MiniLM, with a classifier on the first token and without dropout; texts of 128
    tokens, none of them padding. Explained is the sum of the embeddings."""

    shape, classes, words = (128,), 2, 30522

    def __init__(self, layout):
        super().__init__()
        width, table = 384, torch.nn.Embedding
        self.word, self.position, self.kind = table(self.words, width), table(512, width), table(2, width)
        self.norm = torch.nn.LayerNorm(width, 1e-12)
        self.layers = torch.nn.Sequential(*[Encoder(width, 12, 1536, layout == "fused") for _ in range(6)])
        self.classifier = torch.nn.Linear(width, self.classes)

    def parameters(self, recurse=True):
        return list(super().parameters(recurse))

    def leaf(self, ids):
        return self.word(ids) + (self.position.weight[: ids.shape[1]] + self.kind.weight[0])

    def logits(self, x):
        """Of ids, or of the leaf that was made of them."""
        x = x if x.is_floating_point() else self.leaf(x)
        return self.classifier(self.layers(self.norm(x))[:, 0])


NAMED = {"resnet18": ResNet18, "efficientnet-lite0": EfficientNetLite0, "minilm": MiniLM}
FROZEN = "-frozen"


def layouts(name, method):
    """What is tried: the order of the numbers of images, or how attention is computed."""
    if name == "minilm":
        fused = method == "erm" and hasattr(F, "scaled_dot_product_attention")
        return ["plain", "fused"] if fused else ["plain"]
    return ["nchw"] if name.startswith("mlp") else ["nchw", "nhwc"]


def net_of(name, layout):
    """NAME-frozen: batch norm has its running statistics, as when a pretrained net is fine-tuned. (Its scale taken into the
    weights by hand was not faster.)"""
    known = name.removesuffix(FROZEN)
    if known not in NAMED:
        return Net(name, layout)
    net = NAMED[known](layout)
    return net.eval() if known != name else net
