#!/usr/bin/python3
"""The peer of "r4 train" on Decoy MNIST: whole epochs in PyTorch, with the steps and the tuning of peer.py.

    bench/peer_epoch.py METHOD FILE THREADS [--epochs N]

METHOD is erm, r3, cert-r4 or adv-r4 (10 steps), with lambda 1 and eps 0.5; FILE is what "r4 data make
decoy-mnist" writes. The net is 784-512-10, a batch has 256 examples, Adam's rate is 0.001.

Prints one line with the seconds of each epoch. The images stay bytes in memory, and become floats batch by
batch; a mask is one of four, one for each corner. Nothing is measured, summed up or logged on the way.
"""
import argparse
import time

import tuned

NET, BATCH, EPS = "mlp784-512-10", 256, 0.5


def arguments():
    ask = argparse.ArgumentParser(description="time epochs of Decoy MNIST in PyTorch")
    ask.add_argument("method", metavar="METHOD", choices=["erm", "r3", "cert-r4", "adv-r4"])
    ask.add_argument("file", metavar="FILE")
    ask.add_argument("threads", metavar="THREADS", type=int)
    ask.add_argument("--epochs", type=int, default=3)
    return ask.parse_args()


if __name__ == "__main__":
    args = arguments()
    tuned.start(args.threads)

import numpy
import torch

import peer


class Decoys:
    """Images and masks as bytes; corner[i] is the row of table that is the mask of example i."""

    def __init__(self, path):
        with numpy.load(path) as file:
            x, y, m = (file[name] for name in ("x_train", "y_train", "m_train"))
        table, corner = numpy.unique(m.reshape(len(m), -1), axis=0, return_inverse=True)
        self.x, self.y = torch.from_numpy(x.reshape(len(x), -1)), torch.from_numpy(y)
        self.table, self.corner = torch.from_numpy(table).float(), torch.from_numpy(corner)

    def batch(self, net, rows, masks):
        x = self.x.index_select(0, rows).float().mul_(1 / 255)
        m = self.table.index_select(0, self.corner.index_select(0, rows)) if masks else None
        return peer.Data(net, x, self.y.index_select(0, rows), m)


def epoch(net, step, decoys, masks):
    start = time.perf_counter()
    for rows in torch.randperm(len(decoys.y)).split(BATCH):
        step(decoys.batch(net, rows, masks))
    return time.perf_counter() - start


def main():
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    peer.EPS = EPS
    decoys, net = Decoys(args.file), peer.Net(NET, "nchw")
    step = peer.trainer(net, args.method)
    print(*(f"{epoch(net, step, decoys, args.method != 'erm'):.4f}" for _ in range(args.epochs)))


if __name__ == "__main__":
    main()
