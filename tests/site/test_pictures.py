"""Pictures in the page: their own identifiers, a name to announce, text that can be selected."""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from pictures import inline_svg
from recbias.book.figures import FONT_SIZE, WIDTH, use_book_style

pytestmark = pytest.mark.slow


def draw() -> str:
    """Draw with the style of the book what has clips, markers, a hatch and two kinds of text."""
    use_book_style()
    figure, axis = plt.subplots()
    axis.plot([0, 1], [0, 1], marker="o")
    axis.bar([0], [1], hatch="/")
    axis.set(title="pLSA < 2 & more", xlabel=r"share $\rho$")
    plt.close(figure)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


@pytest.fixture(scope="module")
def drawn() -> str:
    with plt.rc_context():
        return draw()


def test_text_is_text_and_at_least_twelve_points(drawn: str) -> None:
    assert "pLSA &lt; 2 &amp; more" in drawn
    sizes = re.findall(r"font(?:-size)?: [^;\"]*?([\d.]+)px", drawn)
    assert {float(size) for size in sizes} == {FONT_SIZE}
    assert f'width="{72 * WIDTH:g}pt"' in drawn


def test_two_pictures_of_a_page_share_no_identifier(drawn: str) -> None:
    both = [inline_svg(drawn, "one", "a-"), inline_svg(drawn, "two", "b-")]
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in both]
    assert len(ids[0]) >= 3
    assert not ids[0] & ids[1]
    for svg, own in zip(both, ids, strict=True):
        assert set(re.findall(r'(?:href="|url\()#([^")]+)', svg)) == own


def test_the_description_names_the_picture(drawn: str) -> None:
    assert 'role="img" aria-label="bars &amp; &quot;lines&quot;"' in inline_svg(
        drawn, 'bars & "lines"', "a-"
    )
    assert 'aria-hidden="true"' in inline_svg(drawn, "", "a-")


def test_nothing_of_a_picture_changes_the_page(drawn: str) -> None:
    assert "<style" in drawn
    assert "<metadata" in drawn
    svg = inline_svg(drawn, "one", "a-")
    assert "<style" not in svg
    assert "<metadata" not in svg
    assert svg == inline_svg(drawn, "one", "a-")


def test_pages_hold_their_pictures(site: Path) -> None:
    text = (site / "notebooks/01_tiny.html").read_text(encoding="utf-8")
    assert re.search(r'<svg [^>]*role="img" aria-label="A line\. It rises\."', text)
    assert ".svg" not in re.sub(r'href="data:[^"]+"|download="[^"]+"', "", text)
