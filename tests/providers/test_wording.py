"""Errors of servers that are not the API, in their own words."""

from __future__ import annotations

import pytest

from loadrig.providers import load
from loadrig.providers.wording import words_of

PAGE = b"""<!DOCTYPE HTML><html><head><title>Error</title><style>p { color: red }</style></head>
  <body><h1>Error response</h1><p>Error code: 501</p><!-- a note --><p>Unsupported &quot;POST&quot;.</p></html>"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"error": "model not found, pull it first"}', "model not found, pull it first"),
        (b'{"message": "no Route\\nmatched", "error": {"x": 1}}', "no Route matched"),
        (b'{"detail": [{"loc": ["body"]}]}', '{"detail": [{"loc": ["body"]}]}'),
        (b"  upstream\n gone ", "upstream gone"),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (PAGE, 'a page of HTML: Error response Error code: 501 Unsupported "POST".'),
        (b"<" * 20_000, "a page of HTML: " + "<" * 284),
        (b'["no", "object"]', '["no", "object"]'),
    ],
)
def test_what_a_body_says_fits_a_line(body: bytes, words: str) -> None:
    """The text of the usual keys, of a page, or the beginning of anything else; no markup, no line ends."""
    assert words_of(body) == words


def test_an_error_object_of_another_api_keeps_its_type() -> None:
    """`{"error": {"type", "message"}}` without the API's own `"type": "error"` is understood all the same."""
    body = b'{"error": {"code": 400, "type": "exceed_context_size_error", "message": "too long", "n_ctx": 8192}}'
    assert load("anthropic").error(body).told == "exceed_context_size_error: too long"
