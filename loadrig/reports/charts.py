"""How every picture of a report is drawn: an Altair chart as SVG text or PNG bytes, without a browser or a network.

Rules: a picture is static, so a page with it needs no script; lines and words take the colour of the text around them
(`currentColor`), so one picture serves a light page, a dark one and paper; arms have the colours of Okabe and Ito
(2008), which the colour-blind can tell apart, and never colour alone: shape or dash goes with it. What a mark's
`description` says is its title, which a browser shows under the pointer; the whole picture has an accessible name.
Ids are of one picture only, so that several stand in a page. Nothing here knows what is drawn.

Text from outside may hold anything: what XML cannot hold is replaced, the rest is escaped by the XML writer.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import altair as alt
import vl_convert

# Okabe, Ito: Color Universal Design (2008), without black, which is the text's, and vermilion, which is for failures.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#999999", "#f0e442")
DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2), (4, 1), (1, 3), (10, 3), (3, 1, 1, 1))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
FAILED = "#d55e00"
WIDTH, HEIGHT = 640, 240
_SVG = "http://www.w3.org/2000/svg"
_QUIET = "#88888840"
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_LONG = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_SPOKEN = ("aria-label", "aria-roledescription", "aria-hidden", "role")
_GEOMETRY = ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height")


def svg(chart: alt.TopLevelMixin, about: str) -> str:
    """The chart as an `<svg>` element to stand in a page, `about` its accessible name. A mark has a title where its
    encoding has a `description`."""
    root = ET.fromstring(_NO_XML.sub("\ufffd", vl_convert.vegalite_to_svg(_themed(chart))))  # noqa: S314 - our own
    for element in root.iter():
        told = element.get("aria-label")
        if told and element.get("role") == "graphics-symbol":
            title = ET.Element(f"{{{_SVG}}}title")
            title.text = told
            element.insert(0, title)
        for name in _SPOKEN:
            element.attrib.pop(name, None)
        for name in _GEOMETRY:
            if name in element.attrib:
                element.set(name, _LONG.sub(_shorter, element.attrib[name]))
    _own_ids(root, blake2b(ET.tostring(root) + about.encode(errors="replace"), digest_size=4).hexdigest())
    root.set("role", "img")
    root.set("aria-label", _NO_XML.sub("\ufffd", about))
    ET.register_namespace("", _SVG)
    return ET.tostring(root, encoding="unicode")


def png(chart: alt.TopLevelMixin, scale: float = 2) -> bytes:
    """The chart as a picture on white, for Markdown."""
    return vl_convert.vegalite_to_png(_themed(chart, "#222222", "white"), scale=scale)


def _shorter(found: re.Match[str]) -> str:
    """A coordinate to a hundredth."""
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".")


def _own_ids(root: ET.Element, prefix: str) -> None:
    """Renames every id, and what refers to it, to one that no other picture has."""
    names = {found: f"c{prefix}-{place}" for place, found in enumerate(_ids(root))}
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            if name == "id":
                element.set(name, names[value])
            elif value.startswith("#") and value[1:] in names:
                element.set(name, f"#{names[value[1:]]}")
            elif "url(#" in value:
                element.set(name, _REFERENCE.sub(lambda found: f"url(#{names.get(found[1], found[1])})", value))


def _ids(root: ET.Element) -> Iterator[str]:
    return (element.attrib["id"] for element in root.iter() if "id" in element.attrib)


def _themed(chart: alt.TopLevelMixin, ink: str = "currentColor", paper: str = "transparent") -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict()
    words = {
        "labelColor": ink,
        "titleColor": ink,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 300,
    }
    spec["config"] = {
        "background": paper,
        "font": "sans-serif",
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": HEIGHT},
        "range": {"category": list(COLOURS)},
        "axis": {**words, "domainColor": ink, "domainOpacity": 0.4, "tickColor": ink, "tickOpacity": 0.4,
                 "gridColor": _QUIET, "labelPadding": 6},
        "legend": {**words, "symbolStrokeWidth": 2},
        "header": words,
        "title": {"color": ink, "fontSize": 12, "fontWeight": "normal", "anchor": "start"},
        "text": {"color": ink, "fill": ink},
        "rule": {"color": ink},
        **spec.get("config", {}),
    }  # fmt: skip
    return spec
