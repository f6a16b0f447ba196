"""What makes the texts of a picture hard to read."""

from __future__ import annotations

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


def texts(figure: Figure) -> list[Text]:
    """Draw a figure and list the texts that are seen."""
    FigureCanvasAgg(figure).draw()
    hidden = set()  # ticks beyond the limits of their axis, and all of an axis that is off
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not axes.axison or not low <= tick.get_loc() <= high:
                    hidden |= {id(tick.label1), id(tick.label2)}
    return [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]


def faults(figure: Figure) -> list[str]:
    """List texts that are too small, outside the picture, or on top of each other."""
    found = texts(figure)
    boxes = {id(text): text.get_window_extent() for text in found}
    width, height = figure.canvas.get_width_height()
    said = [f"small: {text.get_text()}" for text in found if text.get_fontsize() < 12]
    for text in found:
        box = boxes[id(text)]
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1:
            said.append(f"outside: {text.get_text()}")
    for one, other in combinations(found, 2):
        a, b = boxes[id(one)], boxes[id(other)]
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        if across > 1 and down > 2:
            said.append(f"overlap: {one.get_text()!r} and {other.get_text()!r}")
    return said
