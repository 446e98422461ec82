"""A terminal's screen as an SVG picture."""

from itertools import groupby
from xml.etree import ElementTree

from pyte.screens import Char, Screen

CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.4, 18, 12
BACKGROUND, FOREGROUND, DIM = "#0d1117", "#e6edf3", "#8b949e"
COLORS = {
    "default": FOREGROUND, "black": DIM, "red": "#ff7b72", "green": "#7ee787", "brown": "#f2cc60", "blue": "#79c0ff",
    "magenta": "#d2a8ff", "cyan": "#76e3ea", "white": FOREGROUND,
}  # fmt: skip


def style(char: Char) -> dict[str, str]:
    """The attributes of a character that the picture shows."""
    color = COLORS.get(char.fg.removeprefix("bright"), f"#{char.fg}")
    return {"fill": color} | ({"font-weight": "bold"} if char.bold else {})


def svg(screen: Screen, title: str) -> str:
    """The rows down to the last one that is not blank. Runs of one style are placed by their column."""
    rows = [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]
    while rows and not "".join(char.data for char in rows[-1]).strip():
        rows.pop()
    sides = screen.columns * CELL_WIDTH, len(rows) * CELL_HEIGHT
    width, height = (f"{side + 2 * MARGIN:g}" for side in sides)
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", width=width, height=height)
    ElementTree.SubElement(root, "title").text = title
    ElementTree.SubElement(root, "rect", width=width, height=height, rx="6", fill=BACKGROUND)
    font = {"font-family": "ui-monospace, Menlo, Consolas, monospace", "font-size": "14", "xml:space": "preserve"}
    text = ElementTree.SubElement(root, "text", font)
    for y, row in enumerate(rows):
        for attributes, run in groupby(enumerate(row), key=lambda cell: style(cell[1])):
            cells = list(run)
            shown = "".join(char.data for _, char in cells)
            if shown.strip():
                left, right = len(shown) - len(shown.lstrip()), len(shown.strip())
                place = {
                    "x": f"{MARGIN + (cells[0][0] + left) * CELL_WIDTH:g}",
                    "y": f"{MARGIN + (y + 0.75) * CELL_HEIGHT:g}",
                    "textLength": f"{right * CELL_WIDTH:g}",
                }
                ElementTree.SubElement(text, "tspan", place | attributes).text = shown.strip()
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode") + "\n"
