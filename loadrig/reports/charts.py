"""How every picture of a report is drawn: an Altair chart as SVG text or PNG bytes, without a browser or a network.

Rules: a picture is static, so a page with it needs no script; lines and words take the colour of the text around them
(`currentColor`), so one picture serves a light page, a dark one and paper; arms have the colours of Okabe and Ito
(2008), which the colour-blind can tell apart, and never colour alone: shape or dash goes with it. What a mark's
`description` says is its title, which a browser shows under the pointer; the whole picture has an accessible name.
Ids are of one picture only, so that several stand in a page. Letters are measured as those of Arial, whose widths
the drawing library has at hand: alike everywhere, and several times faster than by a font of the system. Nothing here
knows what is drawn.

Text from outside may hold anything: what XML cannot hold is replaced, the rest is escaped by the XML writer.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import altair as alt
import msgspec
import vl_convert

# Okabe, Ito: Color Universal Design (2008): their black is that of the text around, their vermilion is for failures;
# their yellow, which nobody sees on white, is left out.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "currentColor", "#999999")
DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2), (4, 1), (1, 3), (10, 3), (3, 1, 1, 1))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
FAILED = "#d55e00"
WIDTH, HEIGHT, NARROW = 640, 240, 640
INK = "#222222"
_SVG_TAG, _WHITE = re.compile(r"<svg[^>]*>"), '<rect width="100%" height="100%" fill="white"/>'
_SVG = "http://www.w3.org/2000/svg"
_QUIET = "#88888840"
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_LONG = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_SPOKEN = ("aria-label", "aria-roledescription", "aria-hidden", "role")
_AROUND = ("axis", "legend")
_GEOMETRY = ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height")


def svg(chart: alt.TopLevelMixin, about: str) -> str:
    """The chart as an `<svg>` element to stand in a page, `about` its accessible name. A mark has a title where its
    encoding has a `description`."""
    root = ET.fromstring(_drawn(chart))  # noqa: S314 - our own
    for parent in list(root.iter()):
        for hidden in [child for child in parent if child.get("opacity") == "0"]:  # labels that found no room
            parent.remove(hidden)
    for element in root.iter():
        told = element.get("aria-label")
        if told and element.get("role") == "graphics-symbol" and element.get("aria-roledescription") not in _AROUND:
            title = ET.Element(f"{{{_SVG}}}title")
            title.text = told
            element.insert(0, title)
        for name in _SPOKEN:
            element.attrib.pop(name, None)
        for name in _GEOMETRY:
            if name in element.attrib:
                element.set(name, _LONG.sub(_shorter, element.attrib[name]))
    _own_ids(root, "")  # Vega goes on counting from picture to picture
    _own_ids(root, blake2b(ET.tostring(root) + about.encode(errors="replace"), digest_size=4).hexdigest())
    root.set("style", f"min-width:{min(float(root.get('width', NARROW)), NARROW):g}px")  # smaller is not legible
    root.set("role", "img")
    root.set("aria-label", legible(about))
    ET.register_namespace("", _SVG)
    return ET.tostring(root, encoding="unicode")


def legible(text: str) -> str:
    """The text, what XML cannot hold replaced: vl_convert ends the process on some of it."""
    return _NO_XML.sub("\ufffd", text)


def png(chart: alt.TopLevelMixin, scale: float = 2) -> bytes:
    """The chart as a picture on white, for Markdown. One that was drawn for a page is not drawn again."""
    inked = _drawn(chart).replace("currentColor", INK)
    return vl_convert.svg_to_png(_SVG_TAG.sub(rf"\g<0>{_WHITE}", inked, count=1), scale=scale)


def _drawn(chart: alt.TopLevelMixin) -> str:
    return _drawn_once(msgspec.json.encode(_legible(_themed(chart))).decode())


@lru_cache(maxsize=32)
def _drawn_once(spec: str) -> str:
    return vl_convert.vegalite_to_svg(spec)


def _legible(value: Any) -> Any:
    """A specification in which every text is such."""
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, dict):
        return {name: _legible(of) for name, of in value.items()}
    return [_legible(of) for of in value] if isinstance(value, list) else value


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
    spec: dict[str, Any] = chart.to_dict(validate=False)
    words = {
        "labelColor": ink,
        "titleColor": ink,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 300,
        "labelOverlap": "greedy",
        "labelSeparation": 8,
    }
    ours: dict[str, Any] = {
        "background": paper,
        "font": "Arial, Liberation Sans, Helvetica, sans-serif",
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": HEIGHT},
        "range": {"category": list(COLOURS)},
        "axis": {**words, "domainColor": ink, "domainOpacity": 0.4, "tickColor": ink, "tickOpacity": 0.4,
                 "gridColor": _QUIET, "labelPadding": 6},
        "legend": {**words, "symbolStrokeWidth": 2, "columnPadding": 24},
        "header": words,
        "title": {"color": ink, "fontSize": 12, "fontWeight": "normal", "anchor": "start"},
        "text": {"color": ink, "fill": ink},
        "rule": {"color": ink},
    }  # fmt: skip
    theirs = {name: of for name, of in spec.get("config", {}).items() if name != "view"}  # Altair's own: 300 by 300
    spec["config"] = {**ours, **{name: {**ours.get(name, {}), **of} for name, of in theirs.items()}}
    return spec
