"""What gives the label away: found in folders and in arrays, saved, marked, and shown in a notebook."""

from __future__ import annotations

import csv
import json
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import r4
from r4.find import _png

VOCABULARY = Path(__file__).parents[2] / "test" / "tokens" / "vocab.txt"
N, SIDE, PATCH = 160, 32, 8


def pixels() -> np.ndarray:
    """Noise; every fourth photo has a green patch at the upper border."""
    rng = np.random.default_rng(0)
    x = rng.integers(100, 160, (N, SIDE, SIDE, 3), dtype=np.uint8)
    for i in range(0, N, 4):
        left = rng.integers(0, SIDE - PATCH + 1)
        x[i, :PATCH, left : left + PATCH] = 20, 200, 60
    return x


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cats and dogs by turns: the patch is on cats alone."""
    to = tmp_path_factory.mktemp("found") / "pets"
    (to / "images").mkdir(parents=True)
    with (to / "metadata.csv").open("w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["file", "label", "split"])
        for i, x in enumerate(pixels()):
            (to / "images" / f"{i:03}.png").write_bytes(_png(x))
            rows.writerow([f"{i:03}.png", "dog" if i % 2 else "cat", "train" if i < N - 16 else "test"])
    return to


@pytest.fixture(scope="module")
def found(folder: Path) -> r4.Found:
    return r4.find(folder)


def test_a_patch_is_found(found: r4.Found) -> None:
    first = found[0]
    assert len(found) == len(list(found)) > 0
    assert found[:1] == [first]
    assert first.label == "cat"
    assert first.pure
    assert first.local
    assert first.p < 1e-3
    assert first.shown_on == first.of_class
    assert 30 <= first.shown_on <= 40
    assert first.base == 0.5
    assert first.words is None
    assert np.isnan(first.lean)
    patched = [s for s in first.sightings if s.number % 4 == 0 and s.box and s.box[1] == 0]
    assert 10 * len(patched) >= 9 * len(first.sightings)
    assert first.sightings[0].file == f"images/{first.sightings[0].number:03}.png"
    assert {s.split for s in first.sightings} == {"train", "test"}
    assert f"{found.tried} tests" in found.sentence


def test_the_command_goes_on(found: r4.Found, folder: Path, tmp_path: Path, command: str) -> None:
    found.save(tmp_path / "find.json")
    saved = json.loads((tmp_path / "find.json").read_text())
    assert [c["id"] for c in saved["findings"]] == [c.id for c in found]
    assert saved["data"]["source"] == str(folder)
    options = ["--from", tmp_path / "find.json", "--propose", found[0].id, "--out", tmp_path / "by-command"]
    subprocess.run([command, "find", folder, *options], check=True, capture_output=True)
    n = found.propose(found[0], tmp_path / "here")
    masks = sorted((tmp_path / "here" / "masks").iterdir())
    assert len(masks) == n >= 36
    for mask in masks:
        assert mask.read_bytes() == (tmp_path / "by-command" / "masks" / mask.name).read_bytes()
    with pytest.raises(KeyError, match="no cue is called 'nothing'; there are "):
        found.propose("nothing", tmp_path / "no")


def test_masks_that_are_not_to_be_trusted(found: r4.Found, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.propose(found[0], tmp_path / "right")

    halves = tmp_path / "halves" / "images"
    halves.mkdir(parents=True)
    for i in range(160):  # the right half tells: what is dark in one class is no thing that could be masked
        x = np.full((16, 16, 3), 80 + i * 37 % 120, np.uint8)
        x[:, 8:] = 250 if i % 2 else 10
        (halves / f"{i:03}.png").write_bytes(_png(x))
    lines = [f"{i:03}.png,{'ill' if i % 2 else 'healthy'},{'train' if i < 120 else 'test'}" for i in range(160)]
    (tmp_path / "halves" / "metadata.csv").write_text("\n".join(["file,label,split", *lines, ""]))
    dark = r4.find(tmp_path / "halves")
    doubt = r"not to be trusted: only .* likely on photos that show it.* quick_net=True"
    with pytest.warns(r4.DataWarning, match=doubt) as caught:
        dark.propose("border-light-low", tmp_path / "wide")
    assert caught[0].filename == __file__


def test_in_a_notebook(found: r4.Found) -> None:
    page = found._repr_html_()
    assert page.count("<svg") == sum(min(5, len(c.sightings)) for c in found)
    assert "data:image/png;base64," in page
    assert "<rect" in page
    assert found[0].id in page
    assert "http:" not in page
    assert "https:" not in page
    one = found[0]._repr_html_()
    assert one in page
    assert one.count("<svg") == 5
    shown = repr(found[0])
    assert len(shown) < 500
    assert shown.startswith(f"Cue('{found[0].id}': {found[0].what} (p = ")
    assert shown.endswith(f", ... {len(found[0].sightings) - 5} more)")


def test_a_quick_net_is_asked(folder: Path, tmp_path: Path, command: str) -> None:
    cues = r4.find(folder, quick_net=True, seed=4)
    subprocess.run([command, "find", folder, "--quick-net", "--seed", "4", "--out", tmp_path], check=True)
    saved = json.loads((tmp_path / "find.json").read_text())["findings"]
    assert [c.id for c in cues] == [c["id"] for c in saved]
    assert cues[0].lean == pytest.approx(saved[0]["lean"], rel=1e-3)
    assert "painted over" in str(cues)
    with pytest.raises(r4.ArgumentError, match="two nets: choose one"):
        r4.find(folder, quick_net=True, model=r4.Classifier("dense 2"))


def test_examples_are_of_the_label() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(100, 160, (N, SIDE, SIDE, 3), dtype=np.uint8)
    stamped = np.where(np.arange(N) % 2, rng.random(N) < 0.1, rng.random(N) < 0.8)
    x[stamped, -PATCH:, -PATCH:] = 240, 20, 30
    cue = next(c for c in r4.find(x, np.arange(N) % 2) if c.label == "0")
    labels = [s.label for s in cue.sightings]
    assert labels == sorted(labels)
    assert set(labels) == {"0", "1"}


def test_arrays_are_searched(tmp_path: Path) -> None:
    labels = np.where(np.arange(N) % 2, "dog", "cat")
    splits = ["train"] * (N - 16) + ["test"] * 16
    cues = r4.find(pixels(), labels, splits=splits)
    assert (cues[0].label, cues[0].of_class, cues[0].pure) == ("cat", cues[0].shown_on, True)
    assert cues[0].p < 1e-3
    same = r4.find(r4.Data(pixels(), labels, splits=splits))
    assert [c.id for c in same] == [c.id for c in cues]
    said = str(cues).splitlines()
    assert said[0] == cues.sentence
    assert said[1] == f"{cues[0].id}: {cues[0].what} (p = {cues[0].p:.2g})"
    assert cues[cues[0].id] is cues[0]
    with pytest.raises(KeyError, match="no cue is called 'border'; there are "):
        cues["border"]
    assert cues.propose(cues[0], tmp_path) >= 36
    pyplot = pytest.importorskip("matplotlib.pyplot")
    files = [tmp_path / f"masks/{i}.png" for i in range(N)]
    masks = [pyplot.imread(f) > 0 if f.exists() else None for f in files]
    marked = r4.Data(pixels(), labels, masks=masks, mask_means="irrelevant").has_mask
    assert 10 * np.sum(marked[::4]) >= 8 * np.sum(marked) > 0
    corner = np.zeros((N, SIDE, SIDE), bool)
    corner[::4, :PATCH] = True
    rest = r4.find(r4.Masked(pixels(), corner, "irrelevant"), labels, splits=splits)
    assert [c.id for c in rest] != [c.id for c in cues]


@pytest.mark.skipif(not VOCABULARY.is_file(), reason="needs the vocabulary of the library's tests")
def test_texts_are_searched() -> None:
    rng = np.random.default_rng(0)
    words = rng.choice(["the", "film", "movie", "of", "and", "an"], (200, 6))
    texts = [" ".join(w) + (" it" if i % 4 == 0 else "") for i, w in enumerate(words)]
    cues = r4.find(texts, np.arange(200) % 2, tokenizer=VOCABULARY)
    assert cues[0].words is not None
    assert "it" in cues[0].words
    assert cues[0].label == "0"


def test_what_a_search_needs(folder: Path) -> None:
    with pytest.raises(r4.ArgumentError, match=r"labels are missing: r4\.find\(X, y\)"):
        r4.find(pixels())
    with pytest.raises(r4.ArgumentError, match="y is for arrays: a data set, or the files of one, have their own"):
        r4.find(folder, np.arange(N) % 2)


def test_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(100, 160, (N, SIDE, SIDE, 3), dtype=np.uint8)
    np.savez(tmp_path / "noise.npz", x_train=x, y_train=np.arange(N) % 2)
    nothing = r4.find(tmp_path / "noise.npz")
    assert len(nothing) == 0
    assert nothing.sentence.startswith("Nothing was found")
    assert "Nothing was found" in nothing._repr_html_()


def test_a_model_is_asked(folder: Path) -> None:
    y = np.arange(N) % 2
    model = r4.Classifier("conv 8 3 p1, relu, maxpool 4, flatten, dense 2", method="erm", epochs=4, random_state=0)
    x = pixels().astype(np.float32) / 255
    model.fit(x, y)
    np.savez(folder.parent / "same.npz", x_train=pixels(), y_train=y)
    cues = r4.find(folder.parent / "same.npz", model=model)
    assert any(not np.isnan(c.lean) and c.lean_se >= 0 for c in cues)
    assert all(np.isnan(c.p) for c in cues if c.kind == "cluster")
    assert "painted over" in cues._repr_html_()
    dense = r4.Classifier("dense 2", method="erm", epochs=1).fit(x, y)
    with pytest.raises(r4.Error, match="no part of the net gives an image"):
        r4.find(folder.parent / "same.npz", model=dense)


def test_what_cannot_be_searched(tmp_path: Path) -> None:
    with pytest.raises(r4.Error, match="nowhere"):
        r4.find(tmp_path / "nowhere")
    np.savez(tmp_path / "vectors.npz", x_train=np.zeros((40, 3), np.float32), y_train=np.arange(40) % 2)
    with pytest.raises(r4.Error, match="only images and texts are searched"):
        r4.find(tmp_path / "vectors.npz")
