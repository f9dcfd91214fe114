"""Whether a stream comes as it is made, or was held up on the way: from when its pieces arrived. Pure.

Rules: a reply that says its length was whole before its first byte left. Content that came in a single read, or in no
time compared with the wait before it, was held up - unless the whole reply took so little time that a server which
answers at once looks the same. The wait of a reply of a few tokens against that of a long one tells them apart: a held
up reply waits the longer the longer it is, a fast one does not. A few lumps of many events are a buffer of some size,
or a server that sends so. Whatever cannot be told is said to be so.
"""

from __future__ import annotations

from itertools import pairwise

from loadrig.doctor.findings import Finding
from loadrig.doctor.listening import Listened
from loadrig.words.safeguard import Figure

CHECK = "streaming"
ENOUGH = 5  # pieces of content, below which nothing can be said
AT_ONCE_NS = 50_000_000  # a reply that is over by then may have been made at once
NO_SPREAD, LITTLE_SPREAD = 0.02, 0.1  # of the wait before it; the second where there are but a few lumps
GROWN, GROWN_NS = 1.5, 30_000_000  # the wait of the long reply over that of the short one
LUMP, APART_NS = 4, 300_000  # pieces a lump, on average, and lumps in all; what lies between two
UNTRUE = "first-token times and gaps would be those of the buffer, not of the model; whole latencies stay true"


def streaming(long: Listened, short: Listened | None) -> Finding:
    """`long` is a reply of many pieces, `short` one of a few tokens; None where there was none."""
    reads = long.content_reads
    if not long.is_stream or len(reads) < ENOUGH:
        said = f"{len(reads)} pieces of content came: too few to tell"
        return Finding(CHECK, "cannot tell", said, f"if it is buffered, {UNTRUE}")
    wait_ns, spread_ns = long.at_ns(reads[0]), long.at_ns(reads[-1]) - long.at_ns(reads[0])
    lumps = _lumps([long.at_ns(read) for read in reads])
    figures = (
        Figure("pieces of content", len(reads)),
        Figure("arrivals of content", lumps),
        Figure("first piece ms", round(wait_ns / 1e6, 1)),
        Figure("spread ms", round(spread_ns / 1e6, 1)),
    )
    arrivals = f"{lumps} arrival{'s' if lumps != 1 else ''}"
    came = f"{len(reads)} pieces in {arrivals} over {spread_ns / 1e6:,.0f} ms, after {wait_ns / 1e6:,.0f} ms"
    if long.seen.header("content-length") is not None:
        said = f"buffered on the way: the stream came with a content-length, so it was whole before it left ({came})"
        return Finding(CHECK, "broken", said, UNTRUE, "not measurable", figures)
    if lumps > 1 and spread_ns > (NO_SPREAD if lumps > LUMP else LITTLE_SPREAD) * wait_ns:
        return _in_pieces(came, len(reads) / lumps, lumps, figures)
    return _at_once(came, wait_ns, short, figures)


def _lumps(at_ns: list[int]) -> int:
    """Arrivals that lie apart: what one packet brought is handed over chunk by chunk, microseconds after another."""
    return 1 + sum(later - earlier > APART_NS for earlier, later in pairwise(at_ns))


def _in_pieces(came: str, a_lump: float, lumps: int, figures: tuple[Figure, ...]) -> Finding:
    if a_lump >= LUMP and lumps <= LUMP:
        said = f"{came}: in lumps of about {a_lump:.0f}"
        means = "a buffer on the way, or a server that sends so; first-token times and gaps are those of the lumps"
        return Finding(CHECK, "cannot tell", said, means, figures=figures)
    means = "first-token times and gaps are what the endpoint made them"
    return Finding(CHECK, "ok", f"not buffered: {came}", means, figures=figures)


def _at_once(came: str, wait_ns: int, short: Listened | None, figures: tuple[Figure, ...]) -> Finding:
    """All content together: held up, or made at once?"""
    first = short.content_reads if short is not None and short.is_good else ()
    short_ns = short.at_ns(first[0]) if short is not None and first else None
    if short_ns is not None and wait_ns > GROWN * short_ns + GROWN_NS:
        said = f"buffered on the way: {came}, where a reply of a few tokens took {short_ns / 1e6:,.0f} ms"
        return Finding(CHECK, "broken", said, UNTRUE, "not measurable", figures)
    if wait_ns <= AT_ONCE_NS or short_ns is not None:
        said = f"{came}: all at once, as a server would that answers at once; whether it is buffered cannot be told"
        return Finding(CHECK, "cannot tell", said, f"if it is, {UNTRUE}", figures=figures)
    said = f"buffered on the way, or made at once: {came}"
    return Finding(CHECK, "cannot tell", said, f"if it is buffered, {UNTRUE}", "not measurable", figures)
