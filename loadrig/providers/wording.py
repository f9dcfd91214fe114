"""An error in the words of whoever sent it: what a body says that is not in the shape of the API asked for.

Between us and a model stand gateways, proxies and frameworks, each with an error shape of its own, and sometimes it is
no model's server at all. Rules: of a JSON object the text under `error`, `message` or `detail` is what it says; of a
page of HTML its text, said to be one; of anything else its beginning. White space is folded, so that it fits a line.
Work is linear in the bytes looked at, whatever they are.
"""

from __future__ import annotations

import html
import re

import msgspec

_LONGEST = 300
_READ = 16_384  # of a page's bytes: its text may stand behind a style sheet
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<(style|script|head)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>|<[^<>]*\Z")


def words_of(body: bytes) -> str:
    """At most 300 characters; empty for a body that says nothing."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if isinstance(value, dict):
        told = next((value[key] for key in ("error", "message", "detail") if isinstance(value.get(key), str)), None)
        if told is not None:
            return _line(told)
    text = body[:_READ].decode(errors="replace")
    if text.lstrip()[:1] == "<":
        return _line(f"a page of HTML: {html.unescape(_TAG.sub(' ', _UNSEEN.sub(' ', text)))}")
    return _line(text)


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
