"""Server-sent events out of bytes, sans I/O: `feed` takes what one read brought and gives what it completed.

Rules (WHATWG HTML, section "Interpreting an event stream"): LF, CRLF and CR end a line, also when CRLF is cut between
two reads; one leading byte-order mark is skipped; several data lines are joined by LF; one space after the colon is
dropped when it is there; comments and every field but `data` are passed over, the event name too, because a dialect
trusts only what the payload says. An event exists when its blank line has arrived: an incomplete tail never does.
An event without data is none. Lines may be of any length, and only the three ends above end one: U+2028 and U+0085
are text. Knows nothing of JSON, of providers or of time.
"""

from __future__ import annotations

import re

_BOM = b"\xef\xbb\xbf"
# The usual event: its name, one line of data, a blank line. Each match holds three line feeds, so when the matches hold
# all there are, nothing lies between them.
_USUAL = re.compile(rb"^event:[^\n]*+\ndata: ([^\n]++)\n\n", re.MULTILINE)


class Decoder:
    """Decodes one stream. Work is linear in its bytes however they are cut."""

    __slots__ = ("_after_cr", "_opening", "_tail")

    def __init__(self) -> None:
        self._opening: bytes | None = b""  # bytes held back until the byte-order mark is ruled out; None: ruled out
        self._after_cr = False  # the last read ended in CR: an LF that comes next belongs to it
        self._tail = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads (joined data lines) of the events that `data` completes, in order; often one, often none."""
        if self._opening is not None:
            data = self._opened(data)
        if self._after_cr or b"\r" in data:
            data = self._with_lf(data)
        tail = self._tail
        if tail:
            seen = len(tail)
            tail += data
            end = tail.rfind(b"\n\n", max(seen - 1, 0))
            if end < 0:
                return []
            data = bytes(tail[: end + 2])
            del tail[: end + 2]
        elif not data.endswith(b"\n\n"):
            end = data.rfind(b"\n\n")
            tail += data[end + 2 :] if end >= 0 else data
            if end < 0:
                return []
            data = data[: end + 2]
        found: list[bytes] = _USUAL.findall(data)
        if 3 * len(found) == data.count(b"\n"):
            return found
        return [payload for block in data[:-2].split(b"\n\n") if (payload := _payload(block))]

    def _opened(self, data: bytes) -> bytes:
        data = (self._opening or b"") + data
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._opening = data
            return b""
        self._opening = None
        return data.removeprefix(_BOM)

    def _with_lf(self, data: bytes) -> bytes:
        """Every line end as LF. A CR counts at once, so an event is never held back for an LF that may not come."""
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        if data.endswith(b"\r"):
            self._after_cr = True
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _payload(block: bytes) -> bytes:
    """The joined data of one event's lines; empty when it has none."""
    data = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
    return b"\n".join(data)
