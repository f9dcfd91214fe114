"""Trials in full behind a click, and in a list: what was asked, what came when, what it cost, what was said.

Times of a trial's attempts stand on one axis, from the trial's begin to its end, all on its worker's clock. Long texts
are cut, and say how long they were; the whole is on the line of records.jsonl that is named with each trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from loadrig.analysis.accuracy import verdict
from loadrig.analysis.failures import phase_of
from loadrig.analysis.summary import Summary
from loadrig.analysis.traces import MOST, Key, Listed, Shown, lines_of, listed, shown
from loadrig.log import RunFolder
from loadrig.reports.html import Section
from loadrig.reports.html.pieces import body, environment, paragraph
from loadrig.reports.table import NONE, amount, number
from loadrig.stored import whole
from loadrig.words.corpus import Question
from loadrig.words.record import Attempt, Record, Turn

TEXT, INPUT, HITS, TURNS = 4000, 600, 40, 20
INSTANTS = (
    ("connect", "connected"), ("tls", "TLS done"), ("upload", "request sent"), ("wait", "first event"),
    ("first", "first token"), ("tokens", "last token"), ("rest", "end"),
)  # fmt: skip
WHAT = {
    "connect": "connecting", "tls": "TLS", "upload": "sending", "wait": "waiting for the first event",
    "first": "from the first event to the first token", "tokens": "tokens coming", "rest": "after the last token",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of an attempt, in percent of the trial's time."""

    kind: str
    left: float
    width: float
    told: str


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt: its bar, and its instants after its own begin."""

    attempt: Attempt
    begin: str
    bar: tuple[Segment, ...]
    instants: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn: its attempts, and the prompt's fragments that no earlier turn of the trial had sent."""

    turn: Turn
    attempts: tuple[Tried, ...]
    fresh: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """A trial as the template shows it."""

    record: Record
    why: tuple[str, ...]
    line: int | None
    question: Question | None
    right: bool | None
    reason: str
    turns: tuple[Asked, ...]
    more_turns: int


def section(run: RunFolder, summary: Summary) -> Section | None:
    """None where nothing was sent."""
    found = shown(run)
    rows = listed(run, found)
    if not rows.records:
        return None
    lines = lines_of(run, rows.records)
    traces = environment.get_template("traces.html").render(
        traces=[_told(run, one, lines) for one in found], currency=summary.currency, most_hits=HITS, parts=WHAT
    )
    full = {(one.record.trial, one.record.try_no) for one in found}
    trials = environment.get_template("trials.html").render(
        rows=[(r, lines.get((r.trial, r.try_no)), (r.trial, r.try_no) in full) for r in rows.records],
        currency=summary.currency,
    )  # fmt: skip
    return Section(
        "Trials",
        body(
            paragraph(_rule(rows)),
            Markup(traces),  # noqa: S704 - Jinja escaped
            Markup("<h3>List of trials</h3>"),
            paragraph(_listing(rows)),
            Markup(trials),  # noqa: S704 - as above
        ),
    )


def _rule(rows: Listed) -> str:
    return (
        f"In full below: the {MOST} slowest timed successes by service latency and the {MOST} dearest asked trials of "
        "the run, the slowest and the dearest of each arm, and the first that failed or went unanswered for each "
        f"reason. All {rows.of:,} trials that were sent stand in records.jsonl, on the lines named, and in answers.csv."
    )


def _listing(rows: Listed) -> str:
    if rows.every == 1:
        return f"All {rows.of:,}, in the order in which they ended."
    return f"{len(rows.records)} of {rows.of}: each {rows.every}th in the order in which they ended, and those in full."


def _told(run: RunFolder, one: Shown, lines: Mapping[Key, int]) -> Told:
    record, seen = whole(one.record), set[str]()
    turns = []
    for turn in record.turns[:TURNS]:
        fresh = tuple(digest for digest in turn.prompt if digest not in seen)
        seen.update(turn.prompt)
        text = "" if turn.text == record.answer and turn is record.turns[-1] else turn.text
        turns.append(Asked(turn, tuple(_tried(record, attempt) for attempt in turn.attempts), fresh, text))
    phase = phase_of(record)
    return Told(
        record=record,
        why=one.why,
        line=lines.get((record.trial, record.try_no)),
        question=run.questions.get(record.question),
        right=verdict(run, one.record),
        reason="" if record.reason is None else f"{record.reason} ({phase})" if phase else record.reason,
        turns=tuple(turns),
        more_turns=len(record.turns) - len(turns),
    )


def _tried(record: Record, attempt: Attempt) -> Tried:
    first = record.begin_ns if record.begin_ns is not None else attempt.begin_ns
    last = record.end_ns if record.end_ns is not None else attempt.end_ns
    ends = list(_ends(attempt))
    after = ((said, milliseconds(until - attempt.begin_ns)) for _, said, until in ends)
    return Tried(
        attempt, milliseconds(attempt.begin_ns - first), tuple(_segments(attempt, ends, first, max(1, last - first))),
        tuple(after),
    )  # fmt: skip


def _ends(attempt: Attempt) -> Iterator[tuple[str, str, int]]:
    """The instants that are known, each as what it ends, its name and when it was, on the worker's clock."""
    begin, connect, tls = attempt.begin_ns, attempt.connect_ns, attempt.tls_ns
    found = (
        None if connect is None else begin + connect,
        None if tls is None else begin + (connect or 0) + tls,
        None if attempt.upload_ns is None else begin + attempt.upload_ns,
        attempt.first_event_ns,
        attempt.first_token_ns,
        attempt.last_token_ns,
        attempt.end_ns,
    )
    for (kind, said), until in zip(INSTANTS, found, strict=True):
        if until is not None:
            yield kind, said, until


def _segments(
    attempt: Attempt, ends: Sequence[tuple[str, str, int]], first_ns: int, whole_ns: int
) -> Iterator[Segment]:
    at = attempt.begin_ns
    for kind, _, until in ends:
        if until > at:
            left, width = (round(100 * ns / whole_ns, 2) for ns in (at - first_ns, until - at))
            yield Segment(kind, left, width, f"{WHAT[kind]}: {milliseconds(until - at)} ms")
            at = until


def milliseconds(value_ns: int | None) -> str:
    """`138.2`; below a tenth of a millisecond with more digits."""
    if value_ns is None:
        return NONE
    value = value_ns / 1e6
    return f"{value:,.1f}" if value >= 0.1 or value == 0 else f"{value:.3f}"


def cut(text: str, most: int = TEXT) -> Markup:
    """The text, escaped; of a long one its beginning, and how long it was."""
    text = text.encode(errors="replace").decode()  # half of a pair of surrogates is in no file of UTF-8
    if len(text) <= most:
        return Markup("{}").format(text)
    return Markup('{} <em class="cut">... cut here, {} of {} characters; the whole is in records.jsonl</em>').format(
        text[:most], f"{most:,}", f"{len(text):,}"
    )


def tokens(value: int | None) -> str:
    """Tokens; those that were not told are no 0."""
    return number(value)


environment.filters.update(ms=milliseconds, cut=cut, money=amount, tokens=tokens)
