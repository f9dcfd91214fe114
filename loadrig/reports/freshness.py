"""Tables of documents that changed in mid-run: when each arm saw it, and what became of each worker's index."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.freshness import Answers, CacheReset, Freshness, Seen, WorkerFreshness
from loadrig.analysis.summary import Summary
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, Table, label, milliseconds, number

TITLE = "Freshness: documents that changed in mid-run"
HEADERS = (
    "arm", "requests\nafter", "with new\nwording", "with old\nwording", "first with\nnew", "last with\nold",
    "cache: wrote,\nof n", "tokens\nwritten", "right\nafter", "stale\nafter",
)  # fmt: skip
NOTES = (
    "first, last: seconds from the change to the begin of the request; below 0: before it; - : there was none",
    "wording: four words in a row that only the documents of before, or of after, hold, looked for in every request as "
    "it was sent; an agent's conversation may hold both",
    "cache: of the n requests with new wording that asked for caching, those that wrote, and what they wrote in all",
    "right, stale: of answers begun after the change, by the keys that hold from then on; - : the plan names none",
)


def tables(summary: Summary) -> Iterator[Table]:
    """Nothing of a run whose documents did not change."""
    found = summary.freshness
    if found is None:
        return
    if found.at is None:
        yield Table(TITLE, ("arm",), (), (f"to change {found.after_s:g} s after the begin: the run ended before",))
        return
    yield Table(TITLE, HEADERS, tuple(_rows(found, models_of(summary))), (_told(found), *NOTES))
    yield _workers(found)


def _rows(found: Freshness, models: list[str]) -> Iterator[tuple[str, ...]]:
    for arm in found.arms:
        yield _row(label(arm.arm, arm.model, models), arm.seen, arm.cache, arm.answers)
        if len(arm.workers) > 1:
            yield from (_row(f"  on {name}", seen, None, None) for name, seen in arm.workers.items())


def _row(name: str, seen: Seen, cache: CacheReset | None, answers: Answers | None) -> tuple[str, ...]:
    return (
        name, str(seen.requests), f"{seen.new}/{seen.requests - seen.unknown}",
        f"{seen.old}/{seen.requests - seen.unknown}", _after(seen.seen_ns), _after(seen.let_go_ns),
        NONE if cache is None else f"{cache.writing}/{cache.n}", NONE if cache is None else number(cache.written),
        NONE if answers is None or not answers.n else f"{answers.right}/{answers.n}",
        NONE if answers is None or not answers.told else f"{answers.stale}/{answers.told}",
    )  # fmt: skip


def _workers(found: Freshness) -> Table:
    rows = tuple(row for one in found.workers for row in _worker(one))
    headers = (
        "worker", "texts new\n(ms)", "clock known\nto (ms)", "index", "new\n(s)", "built in\n(s)", "loaded in\n(ms)",
    )  # fmt: skip
    notes = (
        "from the change; built: the whole index, once on a machine, one retriever after the other, in a process of "
        "its own; until it is new, searches are of the old one; - : not before the run ended, or never",
    )
    return Table("Freshness: the workers' texts and indexes", headers, rows, notes)


def _worker(one: WorkerFreshness) -> Iterator[tuple[str, ...]]:
    head = (one.worker, milliseconds(one.changed_ns), milliseconds(one.error_ns))
    if not one.indexes:
        yield (*head, NONE, NONE, NONE, NONE)
    for name, index in one.indexes.items():
        yield (*head, name, _after(index.ready_ns), _after(index.build_ns), milliseconds(index.open_ns))


def _told(found: Freshness) -> str:
    counts = {"replaced": found.replaced, "added": found.added, "removed": found.removed}
    changed = ", ".join(f"{len(names)} {kind}" for kind, names in counts.items() if names)
    return f"documents {changed}, {found.after_s:g} s after the begin, at {found.at}"


def _after(value_ns: int | None) -> str:
    return NONE if value_ns is None else f"{value_ns / 1e9:.3f}"
