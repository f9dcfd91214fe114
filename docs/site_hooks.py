"""What the site needs beside Markdown for a forge: links out of docs/ become the name of what they lead to."""

from __future__ import annotations

import re
from typing import Any

# [text](../corpora/README.md#part): on a forge a link, in the site a file that is not there.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./(?!docs/)([^)#\s]+)[^)]*\)")
_ROUNDABOUT = re.compile(r"\]\(\.\./docs/")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page."""
    return _ROUNDABOUT.sub("](", _OUTSIDE.sub(r"\1 (`\2`)", markdown))
