"""Heat maps as figures of matplotlib."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from conftest import NET, Bars

import r4


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Without a screen."""
    pytest.importorskip("matplotlib").use("Agg")


def test_a_heat_map() -> None:
    image, values, mask = np.zeros((4, 6, 3), np.uint8), np.zeros((4, 6, 3)), np.zeros((4, 6))
    values[1, 2], values[0, 0], mask[0, :2] = 1.0, -np.inf, 1
    ax = r4.plot.heatmap(image, values, mask)
    shown = ax.images[1]
    assert shown.get_array().shape == (4, 6)
    assert shown.get_array()[1, 2] == 3  # the sum over channels
    assert shown.get_clim() == (-3, 3)
    assert len(ax.collections) == 1  # the outline
    assert ax.get_ylim() == (3.5, -0.5)
    again = r4.plot.heatmap(image[..., 0], values[..., 0], ax=ax)
    assert again is ax
    with pytest.raises(r4.ShapeError, match=r"values have shape \(2, 2\)"):
        r4.plot.heatmap(image, np.zeros((2, 2)))
    with pytest.raises(r4.ShapeError, match="image has shape"):
        r4.plot.heatmap(np.zeros((4, 6, 2)), values)


def test_a_row_of_them(bars: Bars) -> None:
    from matplotlib import pyplot

    pyplot.close("all")
    c = r4.Classifier(NET, epochs=1).fit(bars.x, bars.y)
    figure = c.plot(bars.x, bars.y, masks=bars.m, most=3)
    assert [ax.get_title().split(":")[0] for ax in figure.axes] == ["0", "1", "0"]
    expected = c.explain(bars.x[:3], y=bars.y[:3])
    for k, ax in enumerate(figure.axes):
        assert np.allclose(ax.images[1].get_array(), expected[k])
        assert len(ax.collections) == 1
    d = r4.Data(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
    for other in (c.plot(r4.Masked(bars.x, bars.m), bars.y, most=3), c.plot(d, most=3)):
        assert np.allclose(other.axes[2].images[1].get_array(), expected[2])
        assert len(other.axes[2].collections) == 1
    assert len(c.plot(bars.x, n=2).axes) == 2
    assert pyplot.get_fignums() == []  # a notebook shows open figures once more
    own, two = pyplot.subplots(1, 2)
    assert c.plot(bars.x, bars.y, ax=two) is own
    assert two[1].images[1].get_array().shape == (6, 6)
    assert c.plot(bars.x, ax=two[0]) is own
    pyplot.close(own)
    first = np.stack([bars.x] * 3, axis=1)
    rgb = r4.Classifier("flatten, dense 2", layout="NCHW", epochs=1).fit(first, bars.y)
    assert rgb.plot(first, most=1).axes[0].images[0].get_array().shape == (6, 6)
    own = r4.Data(first, bars.y, layout="NCHW")
    assert np.allclose(
        rgb.plot(own, most=1).axes[0].images[1].get_array(), rgb.explain(first[:1], y=bars.y[:1])[0].sum(0)
    )
    widths = c.plot(bars.x, bars.y, masks=bars.m, mask_means="irrelevant", most=1, method="bounds").axes[0].images[1]
    assert np.allclose(
        widths.get_array(), c.bounds(bars.x[:1], bars.m[:1], y=bars.y[:1], mask_means="irrelevant").width[0]
    )
    flat = r4.Classifier(NET, epochs=1).fit(bars.x.reshape(120, -1), bars.y)
    with pytest.raises(r4.ArgumentError, match="plot shows images"):
        flat.plot(bars.x.reshape(120, -1))


def test_without_matplotlib() -> None:
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import numpy as np, r4\n"
        "try: r4.plot.heatmap(np.zeros((2, 2)), np.zeros((2, 2)))\n"
        "except ImportError as e: print(e)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said == "r4.plot draws with matplotlib, which is not installed: pip install matplotlib\n"
