"""Reads the pictures with Python's parsers: pictures.py FILE..."""

import base64
import hashlib
import json
import math
import re
import sys
from html.parser import HTMLParser
from xml.dom import minidom

VOID = {"meta", "input", "br", "rect", "path"}


class Page(HTMLParser):
    """The elements of a page: the texts of scripts and styles, and all attributes. Elements must be closed in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.attributes = [], {}, []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *attr) for attr in attrs]
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, *attr) for attr in attrs]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1][0] in ("script", "style"):
            tag, attrs = self.open[-1]
            self.texts.setdefault((tag, attrs.get("type")), []).append(data)


def sums(parents, own, inclusive):
    """Checks that the time of each frame is its own and that of the frames above."""
    found = list(own)
    for at in range(len(parents) - 1, 0, -1):
        found[parents[at]] += found[at]
    assert all(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) for one, other in zip(found, inclusive))


def check_flame(flame, functions):
    names = len(functions) + len(flame["names"])
    assert all(0 <= subject < names for subject in flame["subject"])
    lengths = {len(flame[column]) for column in flame if isinstance(flame[column], list) and column != "names"}
    assert len(lengths) == 1, lengths
    sums(flame["parent"], flame["own"], flame["time"])
    for lower, time, upper in zip(flame["lower"], flame["time"], flame["upper"]):
        assert lower is None or lower - 1e-9 <= time <= upper + 1e-9


def check_page(text):
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    # Nothing in the page can ask the network for anything.
    allowed = {"http://www.w3.org/2000/svg"}
    for tag, name, value in page.attributes:
        assert name not in ("src", "href", "action", "style", "srcset", "data") and not name.startswith("on"), (tag, name)
        assert name == "content" or not re.search("https?:", value or "") or value in allowed, (tag, name, value)
    [script], [style] = page.texts[("script", None)], page.texts[("style", None)]
    assert not re.search(r"fetch\(|XMLHttp|import\(|eval\(|innerHTML|url\(|https?:", script + style)
    policy = next(value for tag, name, value in page.attributes if name == "content" and "default-src" in value)
    for kind, code in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy, kind
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert len(script.encode()) < 60_000
    data = json.loads("".join(page.texts[("script", "application/json")]))
    functions = data["functions"]
    for column in ("id", "image", "file", "line", "own", "ownError", "inclusive", "inclusiveError", "calls", "selfCalls", "cycle"):
        assert len(data[column]) == len(functions), column
    # Each box of the drawing leads to a function.
    boxes = [int(value) for _, name, value in page.attributes if name == "data-function"]
    assert boxes and len(set(boxes)) == len(boxes) and set(boxes) <= set(data["id"]), boxes
    assert len(set(data["id"])) == len(functions)
    assert math.isclose(sum(data["own"]), data["head"]["total"], rel_tol=1e-9)
    # If one function has all time, its time has no error.
    assert any(error > 0 for error in data["ownError"]) or max(data["own"]) == data["head"]["total"]
    check_flame(data["flame"], functions)
    check_flame(data["dominators"], functions)
    return [of["name"] for of in functions]


def check_flame_svg(document):
    frames = document.getElementById("frames") or next(
        group for group in document.getElementsByTagName("g") if group.getAttribute("id") == "frames"
    )
    groups = frames.getElementsByTagName("g")
    rows = {}
    for group in groups:
        start, time = float(group.getAttribute("data-s")), float(group.getAttribute("data-t"))
        rect = group.getElementsByTagName("rect")[0]
        rows.setdefault(float(rect.getAttribute("y")), []).append((start, start + time))
    # No two frames of a row overlap, and no row is longer than the one below.
    lowest = rows[max(rows)]
    assert len(lowest) == 1 and lowest[0][0] == 0
    for spans in rows.values():
        spans.sort()
        assert all(one[1] <= other[0] + 1e-9 for one, other in zip(spans, spans[1:]))
        assert spans[-1][1] <= lowest[0][1] + 1e-9


def main(paths):
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        assert "\u202e" not in text and "\x1b" not in text, path
        if path.endswith(".html"):
            names = check_page(text)
            assert "hostile" not in path or any(name.startswith("</script><script>alert(1)") for name in names), names
        elif path.endswith(".svg"):
            document = minidom.parseString(text.encode())
            titles = [title.firstChild.data for title in document.getElementsByTagName("title")]
            assert "hostile" not in path or any(title.startswith("</script><script>alert(1)") for title in titles), titles
            if path.endswith(".flame.svg"):
                check_flame_svg(document)
    print(len(paths), "files")


main(sys.argv[1:])
