#!/usr/bin/python3
"""Checks with PyTorch what "r4 data get resnet50" and "r4 data get minilm" have left in the folder of data.

    scripts/check_pretrained.py DATA [--photos FOLDER] [--golden FILE]

Both nets are written out here, by the conventions that doc/pretrained.md states, and not taken from r4. ResNet-50
looks at photographs NAME_LABEL.jpg of FOLDER, where LABEL is the number of a class of ImageNet; MiniLM (needs the
package tokenizers) at three sentences whose cosines are published. FILE gets the logits of the photographs, a line
each.
"""
import argparse
import glob
import json
import math
import os
import re
import struct

import numpy
import torch
import torch.nn.functional as F

MEANS = (123.68, 116.779, 103.939)  # of red, green and blue
EPS = 1e-3
SENTENCES = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
PUBLISHED = (0.6660, 0.1046, 0.1411)  # by sentence-transformers, for all-MiniLM-L6-v2 in float32


def tensors(path):
    with open(path, "rb") as f:
        data = f.read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    kinds = {"F32": numpy.float32, "F16": numpy.float16, "I64": numpy.int64}
    result = {}
    for name, t in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        begin, end = t["data_offsets"]
        values = numpy.frombuffer(data[start + begin:start + end], kinds[t["dtype"]])
        result[name] = torch.from_numpy(values.astype(numpy.float32).reshape(t["shape"]))
    return result


def resnet50(w, x):
    def norm(x, p):
        return F.batch_norm(x, w[p + ".running_mean"], w[p + ".running_var"], w[p + ".weight"], w[p + ".bias"], eps=EPS)

    def conv(x, p, **options):
        return F.conv2d(x, w[p + ".weight"], **options)

    x = F.max_pool2d(F.relu(norm(conv(x, "conv1", stride=2, padding=3), "bn1")), 3, 2, 1)
    for layer, blocks in enumerate((3, 4, 6, 3), 1):
        for b in range(blocks):
            p = f"layer{layer}.{b}."
            stride = 2 if layer > 1 and not b else 1  # in the first convolution
            y = F.relu(norm(conv(x, p + "conv1", stride=stride), p + "bn1"))
            y = F.relu(norm(conv(y, p + "conv2", padding=1), p + "bn2"))
            y = norm(conv(y, p + "conv3"), p + "bn3")
            if not b:
                x = norm(conv(x, p + "downsample.0", stride=stride), p + "downsample.1")
            x = F.relu(x + y)
    return F.linear(x.mean((2, 3)), w["fc.weight"], w["fc.bias"])


def photograph(path):
    """The shorter side becomes 256 pixels, and the middle 224 x 224 is seen."""
    from PIL import Image
    image = Image.open(path).convert("RGB")
    scale = 256 / min(image.size)
    image = image.resize([max(256, round(n * scale)) for n in image.size], Image.BILINEAR)
    left, top = ((n - 224) // 2 for n in image.size)
    pixels = numpy.asarray(image.crop((left, top, left + 224, top + 224)), numpy.float32)
    return torch.from_numpy(pixels - numpy.float32(MEANS)).permute(2, 0, 1)


def check_resnet50(folder, photos, golden):
    w = tensors(os.path.join(folder, "resnet50", "resnet50.safetensors"))
    files = sorted(glob.glob(os.path.join(photos, "*_[0-9]*.jpg")))
    logits = resnet50(w, torch.stack([photograph(f) for f in files]))
    labels = [int(re.search(r"_(\d+)\.jpg$", f).group(1)) for f in files]
    answers = logits.argmax(1).tolist()
    print("resnet50:", sum(a == b for a, b in zip(answers, labels)), "of", len(files), "right")
    if golden:
        numpy.savetxt(golden, logits.numpy(), "%.6g")


def minilm(w, ids):
    def norm(x, p):
        return F.layer_norm(x, x.shape[-1:], w[p + ".weight"], w[p + ".bias"], 1e-12)

    def dense(x, p):
        return F.linear(x, w[p + ".weight"], w[p + ".bias"])

    n, e = len(ids), "embeddings."
    x = w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][:n]
    x = norm(x + w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
    for layer in range(6):
        p = f"encoder.layer.{layer}."
        q, k, v = (dense(x, p + "attention.self." + s).view(n, 12, 32).transpose(0, 1) for s in ("query", "key", "value"))
        a = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(32), -1) @ v
        a = dense(a.transpose(0, 1).reshape(n, 384), p + "attention.output.dense")
        x = norm(x + a, p + "attention.output.LayerNorm")
        h = dense(F.gelu(dense(x, p + "intermediate.dense")), p + "output.dense")
        x = norm(x + h, p + "output.LayerNorm")
    return F.normalize(x.mean(0), dim=0)


def check_minilm(folder):
    from tokenizers import Tokenizer
    w = tensors(os.path.join(folder, "minilm", "model.fp16.safetensors"))
    words = Tokenizer.from_file(os.path.join(folder, "minilm", "tokenizer.json"))
    words.no_padding()
    a, b, c = (minilm(w, words.encode(s).ids) for s in SENTENCES)
    for found, published in zip((a @ b, a @ c, b @ c), PUBLISHED):
        print(f"minilm: {found:.4f}, published {published:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--photos")
    parser.add_argument("--golden")
    args = parser.parse_args()
    with torch.no_grad():
        if args.photos:
            check_resnet50(args.data, args.photos, args.golden)
        check_minilm(args.data)


if __name__ == "__main__":
    main()
