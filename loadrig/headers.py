"""Headers that a plan adds to a model's requests: which may be, and what their values stand for.

Rules: `$NAME` or `${NAME}` in a value is what that environment variable holds, `$$` a dollar; so a secret stands in no
file. Which headers belong to the connection is HTTP's affair, and one that a secret usually stands in must name a
variable. An empty value takes a header out. Pure: the environment is passed in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

OURS = frozenset(
    ("host", "content-length", "transfer-encoding", "accept-encoding", "connection", "keep-alive", "te", "trailer",
     "upgrade", "expect", "content-type", "content-encoding", "x-loadrig-attempt")
)  # fmt: skip
PROXYS = frozenset(("proxy-authorization", "proxy-connection", "proxy-authenticate"))
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET = re.compile(r"auth|key|token|secret|cookie|passw|credential|session", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_ODD_DOLLAR = re.compile(r"\$(?!\$|[A-Za-z_]|\{[A-Za-z_]\w*\})")


def mistake_in(name: str, value: str) -> tuple[str, str] | None:
    """What is wrong with a header of a plan, and the remedy; None for one that may be. Never tells a value."""
    if not _TOKEN.fullmatch(name):
        return f"{name!r} cannot be a header's name", "letters, digits and dashes, such as x-gateway-key"
    if name.lower() in OURS:
        return f"the header {name} belongs to the connection", "leave it out: loadrig writes it"
    if name.lower() in PROXYS:
        return f"the header {name} is the proxy's", "user and password stand in the URL of proxy"
    return _mistake_in_value(name, value)


def _mistake_in_value(name: str, value: str) -> tuple[str, str] | None:
    if not is_sendable(value):
        return f"the value of the header {name} cannot be sent", "one line of printable Latin-1 text"
    if _ODD_DOLLAR.search(value.replace("$$", "")):
        return f"the value of the header {name} has a $ without a name", "write $NAME, ${NAME}, or $$ for a dollar"
    if value and _SECRET.search(name) and not variables(value):
        remedy = 'name an environment variable, such as "$GATEWAY_KEY" or "Bearer $TOKEN": no secret in a file'
        return f"the header {name} is one that a secret stands in", remedy
    return None


def variables(value: str) -> tuple[str, ...]:
    """Names of the environment variables in a value, in order."""
    return tuple(found[1] or found[2] for found in _VARIABLE.finditer(value) if found[0] != "$$")


def expanded(value: str, held: Mapping[str, str]) -> str:
    """A value with what its variables hold filled in; `held` has all of them."""
    return _VARIABLE.sub(lambda found: "$" if found[0] == "$$" else held[found[1] or found[2]], value)


def is_sendable(text: str) -> bool:
    """Whether a header's value can be this: one line of printable Latin-1."""
    return all(" " <= one <= "~" or "\xa0" <= one <= "\xff" or one == "\t" for one in text)
