"""Texts as lists of strings, with words or spans as masks."""

from __future__ import annotations

import csv
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import r4

VOCABULARY = Path(__file__).parents[2] / "test" / "tokens" / "vocab.txt"
PLACES = ["it", "us"]
NET = "embedding {words} 8, leaf, mean, dense {classes}"

pytestmark = pytest.mark.skipif(not VOCABULARY.is_file(), reason="needs the vocabulary of the library's tests")


def make_reviews(n: int = 80) -> tuple[list[str], list[str], list[str]]:
    """Reviews whose word gives the label away, and in training a place as well; and those where it lies."""
    rng = np.random.default_rng(0)
    filler, words, places = ["film", "movie", "and", "an"], ["bad", "good"], PLACES
    train, test, labels = [], [], []
    for k in range(n):
        kind = k % 2
        some = [str(w) for w in rng.choice(filler, 3)]
        train.append(f"{places[kind]} the {some[0]} {words[kind]} {some[1]} of {some[2]}")
        test.append(f"{places[1 - kind]} the {some[0]} {words[kind]} {some[1]} of {some[2]}")
        labels.append(["negative", "positive"][kind])
    return train, test, labels


TRAIN, TEST, LABELS = make_reviews()


def classifier(**more: Any) -> r4.Classifier:
    return r4.Classifier(NET, **({"tokenizer": VOCABULARY, "epochs": 30, "batch": 20, "rate": 0.05} | more))


@pytest.fixture(scope="module")
def fitted() -> r4.Classifier:
    return classifier(method="r3", lambda_=100.0).fit(TRAIN, LABELS, masks=PLACES)


def test_words_must_not_matter(fitted: r4.Classifier) -> None:
    plain = classifier().fit(TRAIN, LABELS)
    assert plain.predict_proba(TEST).shape == (80, 2)
    a, b = plain.evaluate(TEST, LABELS, masks=PLACES), fitted.evaluate(TEST, LABELS, masks=PLACES)
    assert a.accuracy < b.accuracy
    assert b.accuracy > 0.95
    assert b.masked_examples == 80
    assert list(fitted.classes_) == ["negative", "positive"]
    assert list(fitted.predict(TEST[:2])) == LABELS[:2]
    assert "worst group" in b.table()


def test_explanations_name_their_tokens(fitted: r4.Classifier) -> None:
    found = fitted.explain(TEST[:3])
    assert [e.tokens[0] for e in found] == ["[CLS]"] * 3
    assert found[0].tokens[1:5] == ["us", "the", TEST[0].split()[2], "bad"]
    assert all(len(e.tokens) == len(e.values) for e in found)
    size = np.abs(found[0].values)
    assert size[4] == size.max()
    assert fitted.explain(["good"])[0].tokens == ["[CLS]", "good", "[SEP]"]


def test_spans_are_what_words_are() -> None:
    spans = [[(0, len(t.split()[0]))] for t in TRAIN]
    a = r4.Data(TRAIN, LABELS, masks=PLACES, tokenizer=VOCABULARY)
    b = r4.Data(TRAIN, LABELS, masks=spans, mask_means="irrelevant", tokenizer=VOCABULARY)
    assert a.hash == b.hash
    assert a.tokens(1)[:3] == ["[CLS]", "us", "the"]
    assert a.masks[1][:3].tolist() == [0, 1, 0]
    rest = r4.Data(TRAIN[:1], [0], masks=[[(3, 6)]], mask_means="relevant", tokenizer=VOCABULARY, classes=["a", "b"])
    assert rest.masks[0][:4].tolist() == [0, 1, 0, 1]
    words = r4.Data(TRAIN, LABELS, masks="it, us", tokenizer=VOCABULARY)
    assert words.hash == a.hash


def test_the_hash_and_the_bits_of_the_command(tmp_path: Path, command: str) -> None:
    with open(tmp_path / "a.csv", "w", newline="") as f:
        csv.writer(f).writerows([["text", "label"], *zip(TRAIN, LABELS, strict=True)])
    read = r4.Settings({"data": str(tmp_path / "a.csv"), "data.tokenizer": str(VOCABULARY), "data.val": 0})
    assert r4.Data.of_settings(read).hash == r4.Data(TRAIN, LABELS, tokenizer=VOCABULARY).hash
    known = r4.Data(TRAIN, LABELS, tokenizer=VOCABULARY).vocabulary
    net = NET.replace("{words}", str(known)).replace("{classes}", "2")
    words = {"data": tmp_path / "a.csv", "data.tokenizer": VOCABULARY, "data.mask_words": "it,us", "net": net}
    words |= {"method": "r3", "epochs": 5, "batch": 20, "rate": 0.05, "threads": 1}
    (tmp_path / "a.yaml").write_text("".join(f"{k}: {v}\n" for k, v in words.items()))
    subprocess.run([command, "train", tmp_path / "a.yaml", "--out", tmp_path / "run", "--quiet"], check=True)
    c = classifier(method="r3", epochs=5, settings={"threads": 1})
    c.fit(TRAIN, LABELS, masks=PLACES)
    theirs = r4.load(tmp_path / "run")
    assert np.array_equal(theirs.model_.weights, c.model_.weights)
    assert np.array_equal(theirs.predict_proba(TEST), c.predict_proba(TEST))


def test_round_trips(fitted: r4.Classifier, tmp_path: Path, command: str) -> None:
    fitted.save(tmp_path / "run")
    for other in (r4.load(tmp_path / "run"), pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(other.predict_proba(TEST), fitted.predict_proba(TEST))
    (tmp_path / "new.csv").write_text("text\n" + TEST[0] + "\n")
    said = subprocess.run([command, "predict", tmp_path / "run", tmp_path / "new.csv"], capture_output=True, text=True)
    assert "negative" in said.stdout, said.stderr


def test_searches() -> None:
    model_selection = pytest.importorskip("sklearn.model_selection")
    search = model_selection.GridSearchCV(
        classifier(method="r3", epochs=5), {"lambda_": [0.1, 10.0]}, cv=2, error_score="raise"
    )
    spans = [[(0, len(t.split()[0]))] for t in TRAIN]
    search.fit(TRAIN, LABELS, masks=spans, mask_means="irrelevant")
    assert len(search.predict(TEST)) == 80


def test_columns_of_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TRAIN, "label": LABELS})
    a, b = classifier(epochs=2).fit(frame["text"], frame["label"]), classifier(epochs=2).fit(np.array(TRAIN), LABELS)
    assert np.array_equal(a.predict_proba(frame["text"]), b.predict_proba(TRAIN))


BAD: list[tuple[str, Any, dict[str, Any]]] = [
    ("text 1 is of type int", ["good", 3], {}),
    ("text 1: the text is empty", ["good", " "], {}),
    ("text 0 has a zero in it", ["go\0od", "bad"], {}),
    ("text 0 is not Unicode", ["go\ud800od", "bad"], {}),
    ("y has 2 values, X has 3", ["good", "bad", "bad"], {}),
    ("spans of 1 texts, X has 2", ["good", "bad"], {"masks": [[(0, 1)]], "mask_means": "irrelevant"}),
    ("text 0: the span 3-9 is not in the text", ["good", "bad"], {"masks": [[(3, 9)], []], "mask_means": "irrelevant"}),
    ("expected spans of characters", ["good", "bad"], {"masks": [[(0, 1, 2)], []], "mask_means": "irrelevant"}),
    ("without mask_means: pass", ["good", "bad"], {"masks": [[(0, 4)], []]}),
    ("mask_words must not matter", ["good", "bad"], {"masks": ["good"], "mask_means": "relevant"}),
    ("no word", ["good", "bad"], {"masks": ["ωω"]}),
    ("is not one word", ["good", "bad"], {"masks": ["good film"]}),
    ("lengths are counted", ["good", "bad"], {"lengths": [1, 1]}),
]


@pytest.mark.parametrize(("sentence", "x", "more"), BAD, ids=[f"{k}" for k in range(len(BAD))])
def test_refused(sentence: str, x: Any, more: dict[str, Any]) -> None:
    with pytest.raises(r4.Error, match=sentence):
        classifier().fit(x, ["a", "b"], **more)


def test_asked_wrongly(fitted: r4.Classifier) -> None:
    with pytest.raises(r4.Error, match="not tokens"):
        r4.Classifier("dense 2", epochs=1).fit(np.zeros((4, 3)), [0, 1, 0, 1]).predict(["good"])
    with pytest.raises(r4.Error, match='explain\\(X, "bounds"\\)'):
        fitted.bounds(TEST[:2])
    with pytest.raises(r4.FileError, match="tokenizer"):
        r4.Classifier(NET, tokenizer="nowhere/vocab.txt", epochs=1).fit(TRAIN, LABELS)
    with pytest.raises(r4.Error, match="length"):
        classifier(length=2).fit(TRAIN, LABELS)
    with pytest.raises(r4.Error, match="for texts"):
        r4.Data(np.zeros((4, 3)), [0, 1, 0, 1], tokenizer=VOCABULARY)
    with pytest.raises(r4.Error, match="not texts"):
        r4.Data(np.zeros((4, 3)), [0, 1, 0, 1]).tokens(0)


def test_report(fitted: r4.Classifier, tmp_path: Path) -> None:
    fitted.report(tmp_path / "page.html", TEST, LABELS, masks=PLACES)
    assert "</html>" in (tmp_path / "page.html").read_text()
