#!/usr/bin/env python3
"""A simulated person finds the patches of ISIC 2017 with "r4 find", without any mask.

    R4=build/r4 bench/find.py FOLDER

FOLDER has images/, masks/ of the patches and metadata_2017.csv. The masks are hidden from r4 and answer for the person
alone: of the findings, in the order in which they are shown, at most ten are answered with "must not matter" if most of
the photos that show it are patched. Masks are proposed for these, and for each photo those of all accepted findings are
joined. Printed are the answers, how many of the patched photos have a mask (recall), how many photos without a patch
have one, and the median overlap (intersection over union) with the true masks.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

ANSWERS = 10


def read_mask(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("L")) >= 128


def find(*arguments: str | Path) -> None:
    subprocess.run([os.environ.get("R4", "r4"), "find", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def without_masks(data: Path, to: Path) -> Path:
    """The same folder, without masks and without the columns that say which photos are patched."""
    to.mkdir()
    (to / "images").symlink_to((data / "images").resolve())
    with (data / "metadata_2017.csv").open() as f, (to / "metadata.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["file", "label", "split"])
        rows.writerows([r["file"], r["label"], "train"] for r in csv.DictReader(f))
    return to


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    with (data / "metadata_2017.csv").open() as f:
        patched = {Path(r["file"]).stem for r in csv.DictReader(f) if r["patch"] == "1"}
    with tempfile.TemporaryDirectory() as work:
        plain, out = without_masks(data, Path(work) / "data"), Path(work) / "found"
        find(plain, "--out", out)
        findings = json.loads((out / "find.json").read_text())["findings"]
        proposed: dict[str, np.ndarray] = {}
        for k, finding in enumerate(findings[:ANSWERS]):
            shown = [Path(e["file"]).stem for e in finding["examples"]]
            of = sum(name in patched for name in shown)
            accepted = 2 * of > len(shown)
            print(f"{k + 1:2} {finding['id']}: p {finding['p']:.2g}, {of} of {len(shown)} photos are patched:", end=" ")
            print("must not matter" if accepted else "core")
            if not accepted:
                continue
            to = Path(work) / finding["id"]
            find(plain, "--propose", finding["id"], "--from", out / "find.json", "--out", to)
            for path in (to / "masks").rglob("*.png"):
                mask = read_mask(path)
                if mask.any():
                    proposed[path.stem] = proposed.get(path.stem, False) | mask
    hit = patched & proposed.keys()
    overlaps = [
        (proposed[name] & true).sum() / (proposed[name] | true).sum()
        for name in sorted(hit)
        if (data / "masks" / f"{name}.png").exists() and (true := read_mask(data / "masks" / f"{name}.png")).any()
    ]
    print(f"patched photos with a mask: {len(hit)} of {len(patched)} ({100 * len(hit) / len(patched):.1f} %)")
    print(f"photos without a patch that have one: {len(proposed) - len(hit)}")
    if overlaps:
        print(f"median overlap with the true masks: {statistics.median(overlaps):.2f} of {len(overlaps)} masks")


if __name__ == "__main__":
    main()
