"""The page about a model."""

from __future__ import annotations

import pickle
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from conftest import NET, Bars

import r4


class Sections(HTMLParser):
    """The ids of a page, and what it fetches."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.ids.add(named.get("id") or "")
        for key in ("src", "href"):
            value = named.get(key) or "#"
            if tag != "a" and not value.startswith(("data:", "#")):
                self.fetched.append(value)


def page(path: Path) -> tuple[str, Sections]:
    text, found = path.read_text(), Sections()
    found.feed(text)
    return text, found


@pytest.fixture(scope="module")
def fitted(bars: Bars) -> r4.Classifier:
    c = r4.Classifier(NET, "r3", epochs=20, batch=30, rate=0.01)
    return c.fit(bars.x, np.array(["up", "down"])[bars.y], masks=bars.m, mask_means="irrelevant")


def test_page(fitted: r4.Classifier, bars: Bars, tmp_path: Path) -> None:
    y = np.array(["up", "down"])[bars.y]
    m = fitted.evaluate(bars.x_test, y, masks=bars.m)
    fitted.report(tmp_path / "page.html", title="Bars & rows", name="mine")
    text, found = page(tmp_path / "page.html")
    assert text.rstrip().endswith("</html>")
    assert not found.fetched
    assert "Bars &amp; rows" in text
    assert f"{100 * m.worst_group_accuracy:.1f}" in text
    assert "data:image/png" in text  # heat maps
    assert "epoch" in text  # of training, from the log
    fitted.report(tmp_path / "other.html", bars.x[:50], y[:50], masks=bars.m[:50], mask_means="irrelevant")
    assert page(tmp_path / "other.html")[0] != text


def test_without_asking(fitted: r4.Classifier, bars: Bars, tmp_path: Path) -> None:
    c = r4.Classifier(NET, epochs=1).fit(bars.x, bars.y)
    c.report(tmp_path / "val.html")  # what was held out
    assert "</html>" in (tmp_path / "val.html").read_text()
    other = pickle.loads(pickle.dumps(c))
    with pytest.raises(r4.ArgumentError, match="no examples to report on"):
        other.report(tmp_path / "none.html")
    with pytest.raises(r4.ArgumentError, match="expected at least 1"):
        c.report(tmp_path / "none.html", kappa=0)
    with pytest.raises(r4.FileError):
        c.report(tmp_path / "nowhere" / "page.html")
    with pytest.raises(r4.Error, match="accuracy needs labels"):
        c.report(tmp_path / "none.html", bars.x)
    assert not (tmp_path / "none.html").exists()


def test_of_a_run(bars: Bars, tmp_path: Path) -> None:
    d = r4.Data(bars.x, bars.y, masks=bars.m, mask_means="irrelevant", splits=["train"] * 80 + ["test"] * 40)
    r4.Classifier(NET, "r3", epochs=2).fit(d).save(tmp_path / "run", data=d)
    (tmp_path / "run").rename(tmp_path / "moved")
    c = r4.load(tmp_path / "moved")
    c.report(tmp_path / "page.html")
    text, _ = page(tmp_path / "page.html")
    assert "40" in text
    assert len(c.log_.splitlines()) == 2
