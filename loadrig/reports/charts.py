"""How every picture of a report is drawn: an Altair chart as SVG text or PNG bytes, without a browser or a network.

Rules: a picture is static, so a page with it needs no script; lines and words take the colour of the text around them
(`currentColor`), so one picture serves a light page, a dark one and paper; arms have the colours of Okabe and Ito
(2008), which the colour-blind can tell apart, and never colour alone: shape or dash goes with it. Each mark's value
is its title, which a browser shows under the pointer and a screen reader reads. Nothing here knows what is drawn.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import altair as alt
import vl_convert

# Okabe, Ito: Color Universal Design (2008), black last, for it is the text's.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
WIDTH, HEIGHT = 640, 240
_SVG = "http://www.w3.org/2000/svg"
_QUIET = "#88888855"


def svg(chart: alt.TopLevelMixin, about: str) -> str:
    """The chart as an `<svg>` element to stand in a page, `about` its accessible name. What comes from a run is escaped
    by the XML writer."""
    root = ET.fromstring(vl_convert.vegalite_to_svg(_themed(chart)))  # noqa: S314 - vl_convert's own output
    root.set("role", "img")
    root.set("aria-label", about)
    for mark in root.iter():
        told = mark.get("aria-label")
        if told and mark is not root and mark.get("role") == "graphics-symbol":
            title = ET.Element(f"{{{_SVG}}}title")
            title.text = told
            mark.insert(0, title)
    ET.register_namespace("", _SVG)
    return ET.tostring(root, encoding="unicode")


def png(chart: alt.TopLevelMixin, scale: float = 2) -> bytes:
    """The chart as a picture on white, for Markdown."""
    return vl_convert.vegalite_to_png(_themed(chart, "#222222", "white"), scale=scale)


def _themed(chart: alt.TopLevelMixin, ink: str = "currentColor", paper: str = "transparent") -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict()
    words = {
        "labelColor": ink,
        "titleColor": ink,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
    }
    spec["config"] = {
        "background": paper,
        "font": "sans-serif",
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": HEIGHT},
        "range": {"category": list(COLOURS)},
        "axis": {**words, "domainColor": ink, "tickColor": ink, "gridColor": _QUIET},
        "legend": words,
        "header": words,
        "title": {"color": ink, "fontSize": 12},
        "text": {"color": ink, "fill": ink},
        **spec.get("config", {}),
    }
    return spec
