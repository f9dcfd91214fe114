"""The truth log: one JSON line a request, what really happened on the server's side of the socket.

Every `*_ns` is `time.perf_counter_ns` of this process, on Linux CLOCK_MONOTONIC: a client on the same machine may
subtract its own. An event's instant is taken just before its bytes are handed to the kernel, so a client on time
never sees an event earlier. Null means it did not happen. Lines are buffered and reach the file each second.
"""

from __future__ import annotations

from pathlib import Path

import msgspec


class Row(msgspec.Struct, kw_only=True):
    """One request. Token counts are those charged; `output` of a broken stream is what had been sent."""

    attempt: str | None
    request_id: str
    path: str
    peer: str
    server_pid: int
    in_flight: int
    """Requests being served when this one arrived, itself included."""
    received_ns: int
    """Request headers complete."""
    body_complete_ns: int
    body_bytes: int = 0
    body_sha256: str = ""
    service_ns: int | None = None
    """Start of service: the body's end, or later when it waited for a slot or for the reader."""
    slot_wait_ns: int = 0
    reader_wait_ns: int = 0
    """How much longer the reader took than the simulated provider would have; the schedule moved by so much."""
    first_event_ns: int | None = None
    first_token_ns: int | None = None
    """The first text or tool-input delta that was not empty."""
    first_text_ns: int | None = None
    last_token_ns: int | None = None
    end_ns: int | None = None
    """The last byte of the response, or the instant it broke."""
    model: str | None = None
    status: int = 0
    stop_reason: str | None = None
    fault: str | None = None
    disconnected: bool = False
    """The client went away before the end."""
    client_request_id: str | None = None
    """What the client calls the request: its header x-request-id."""
    input: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    output: int = 0
    thinking: int = 0
    events: int = 0
    spans: int = 0
    fabricated: int = 0
    misplaced: int = 0
    """Spans cited, and of these the planted ones; of a reply cut to its limit, those of its whole blocks."""
    text_sha256: str | None = None
    """Of the text sent, UTF-8; tool input not in it."""


class BodyLog:
    """Appends every request body as it came, between a line of JSON that tells whose it is and how long, and a line's
    end; without a path it keeps nothing. Whatever was sent can be looked for in it."""

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else path.open("wb")

    def write(self, row: Row, body: bytes) -> None:
        if self._file is not None:
            told = {"attempt": row.attempt, "request_id": row.request_id, "path": row.path, "bytes": len(body)}
            self._file.write(b"%b\n%b\n" % (msgspec.json.encode(told), body))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class TruthLog:
    """Appends rows to a file (truncated at start); without a path it keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else path.open("wb")

    def write(self, row: Row) -> None:
        if self._file is not None:
            self._file.write(msgspec.json.encode(row) + b"\n")

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
