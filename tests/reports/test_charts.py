"""How pictures are drawn: static SVG whose ids are its own, whose marks have titles, and in which text is text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import altair as alt

from loadrig.reports import charts

NASTY = "</svg><script>alert(1)</script>&\x1b\x00\u202e\ufffe\ud800'\""


def chart(name: str = "a") -> alt.Chart:
    """Two points and a clipped line."""
    rows = [{"name": name, "x": x, "y": x / 3} for x in (1, 2)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x="x:Q", y="y:Q", description="name:N")
    return base.mark_line(clip=True) + base.mark_point().encode(color="name:N")


def test_two_pictures_in_one_page_share_no_id() -> None:
    """Clips and gradients are called by the picture; what refers to them follows."""
    texts = [charts.svg(chart(), about) for about in ("one", "two")]
    ids = [set(re.findall(r'\bid="([^"]*)"', text)) for text in texts]
    assert ids[0]
    assert ids[0] & ids[1] == set()
    for text, known in zip(texts, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]*)\)", text)) <= known


def test_the_same_picture_is_the_same_text() -> None:
    """Drawn again, after others, nothing has moved: a report that is made again is the same report."""
    first = charts.svg(chart(), "one")
    charts.svg(chart("other"), "two")
    assert charts.svg(chart(), "one") == first


def test_letters_are_measured_by_a_font_that_the_library_has_at_hand() -> None:
    """A machine's own fonts take several times as long for each label, and make each machine's report another."""
    families = set(re.findall(r'font-family="([^"]*)"', charts.svg(chart(), "one")))
    assert families == {"Arial, Liberation Sans, Helvetica, sans-serif"}


def test_text_from_outside_stays_text() -> None:
    """Tags of a name are escaped, what XML cannot hold is replaced, and the picture is well-formed."""
    text = charts.svg(chart(NASTY), NASTY)
    root = ET.fromstring(text)
    assert root.get("role") == "img"
    assert [element.tag for element in root.iter() if "script" in element.tag] == []
    assert "<script" not in text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\ud800-\udfff]", text)


def test_a_mark_has_what_describes_it_as_its_title() -> None:
    """Each of the two points; nothing is left for a screen reader inside of what is one image to it."""
    text = charts.svg(chart("of a"), "two points")
    assert text.count("<title>of a</title>") >= 2
    assert 'aria-label="two points"' in text
    assert text.count("aria-") == 1


def test_lines_and_words_take_the_colour_around_them() -> None:
    """So one picture serves a light page and a dark one; a PNG, for Markdown, is on white."""
    assert "currentColor" in charts.svg(chart(), "one")
    assert charts.png(chart())[:8] == b"\x89PNG\r\n\x1a\n"


def test_failures_have_a_colour_of_their_own() -> None:
    """No arm is drawn in it."""
    assert charts.FAILED not in charts.COLOURS


def test_channels_are_named_by_their_classes() -> None:
    """Altair goes through all its schemas for each channel that is a plain text: a tenth of the time of a report."""
    plain = re.compile(r"\.encode\((?:[^()]|\([^()]*\))*?\b(?!errors)\w+=\"")
    files = sorted(Path(charts.__file__).parent.rglob("*.py"))
    assert [file.name for file in files if "import altair" in (text := file.read_text()) and plain.search(text)] == []
