"""The summary as Markdown: report.md, the terminal's tables and more, with every quantity defined in one line.

What a model, a document or a plan says is data: it can neither end a cell nor start a link, a tag or a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports import (
    behaviour,
    built,
    caching,
    experiments,
    freshness,
    grading,
    load,
    long_context,
    money,
    quality,
    rig,
    routes,
    safeguards,
    screening,
    speed,
)  # fmt: skip
from loadrig.reports.table import Table, one_line

if TYPE_CHECKING:
    from loadrig.reports.pictures import Picture

DEFINITIONS = (
    ("timed", "trials of the measured phase, asked once; the tail ended with fewer than N in flight and is not timed"),
    ("ok", "trials answered, or cut off with text, of those timed"),
    ("TTFT", "first token of the first turn - trial begin; thinking counts as a token, seen or hidden"),
    ("TTFAT", "first token of answer text - trial begin, with retrieval, tools and earlier turns in it"),
    ("service", "trial end - trial begin"),
    (
        "scheduled",
        "open loop: trial end - due time; a trial never sent counts with what it had waited, beyond every success",
    ),
    ("sent late", "open loop: trial begin - due time, the dispatch delay"),
    ("offered, achieved", "open loop: measured trials due, and successes that ended, a second of the measured part"),
    ("p50, p95, p99", "smallest value with at least that share of values at or below it, exact, from the records"),
    ("with failures", "the same where a trial that did not succeed ranks beyond every success"),
    ("prompt", "uncached input + cache writes + cache reads, as the provider reported, summed over turns"),
    ("cost per question", "money of measured and tail trials with retries and failures / asked, answered, correct"),
    (
        "right",
        "marked correct by the grading that accuracy names; by the pre-check, which is no grade: the answer holds what "
        "the question's key demands and does not open with the opposite of the reference",
    ),
    ("correct", "in costs: passes the pre-check, for it alone knows every repetition"),
    (
        "accuracy",
        "questions right / questions asked that can be graded, each by its first trial; of graded: / those",
    ),
    ("stale, invented", "questions whose answer is marked so / those that have such a mark; apart from correct"),
    ("recall", "gold documents retrieved, searched out or read / gold documents; listings do not count"),
    ("evidence", "quotes of the key found word for word in the prompt / quotes"),
    ("reached", "mean trials in flight in the steady window; not given over fewer measured trials than N"),
    (
        "client-bound",
        "loop lag p99 of a worker or an embedded simulator > max(5 ms, 5 % of the stage's TTFT p50), or "
        "CPU over 5 s > 85 % of a core, or the driver's lag p99 > 100 ms",
    ),
)
CELL = 400
NOT_CHECKED = "The worst verdict of the checks for each; not checked means that nothing is known."
# A star that ends a number, as in 0.146*/0.184*, can neither open emphasis nor close any: every other one is escaped.
_SPECIAL = re.compile(r"((?<!\d)\*|\*(?!/|$)|[\\`\[\]<>|&#~])")


def write(run: RunFolder, summary: Summary) -> Path:
    """Writes report.md into the run's folder, and its pictures beside it."""
    from loadrig.reports import pictures  # noqa: PLC0415 - others take their Markdown from here and draw nothing

    path = run.path / "report.md"
    path.write_text(render(summary, pictures.write(run.path, summary)), encoding="utf-8")
    return path


def render(summary: Summary, pictures: Sequence[Picture] = ()) -> str:
    """The whole report, with the pictures that were drawn for it."""
    parts = (*head(summary), *map(shown, pictures), *(section(table) for table in tables(summary)), _definitions())
    return "\n\n".join(parts) + "\n"


def shown(picture: Picture) -> str:
    """A picture, with what it shows for those who do not see it."""
    return f"![{escaped(picture.text, 900)}]({picture.path})"


def tables(summary: Summary) -> Iterator[Table]:
    """Every table of the report, in order; one that has nothing to tell is left out."""
    yield from speed.headlines(summary)
    found = (
        load.arrivals(summary), load.outcomes(summary), load.failures(summary),
        speed.latencies(summary), speed.intervals(summary),
        speed.token_rates(summary), speed.retrieval(summary), load.stages(summary),
        rig.itself(summary), rig.stamps(summary),
        screening.table(summary.screening),
        quality.accuracy(summary), *grading.tables(summary), *quality.recalls(summary),
        *behaviour.tables(summary), *experiments.tables(summary),
        *long_context.tables(summary),
        *routes.tables(summary), money.cost(summary), built.table(summary), money.bill(summary),
        money.tokens(summary), money.turns(summary), money.turn_by_turn(summary), *caching.tables(summary),
        *freshness.tables(summary), quality.repeated(summary), quality.dropped(summary),
        safeguards.contamination(summary),
    )  # fmt: skip
    yield from (table for table in found if table is not None)


def head(summary: Summary) -> Iterator[str]:
    """Title, the simulated mark, the balance of trials, safeguards, of a screening its verdict, warnings."""
    identity, counts = summary.identity, summary.counts[0]
    yield f"# Run {escaped(identity.run)}"
    if summary.note:
        yield f"> **{escaped(summary.note)}**"
    corpus = identity.corpus if isinstance(identity.corpus, dict) else {}
    facts = {
        "plan": identity.plan, "status": identity.status, "began": identity.began_at, "ended": identity.ended_at,
        "loadrig": identity.version, "seed": identity.seed, "corpus": corpus.get("name"),
        "documents": corpus.get("documents"), "estimated corpus tokens": corpus.get("tokens"),
    }  # fmt: skip
    table = identity.price_table if isinstance(identity.price_table, dict) else {}
    for row in table.get("rows") or []:
        facts[f"price of {row.get('model')}"] = f"effective {row.get('effective_from')}, seen {row.get('seen')}"
    yield "\n".join(f"- {escaped(name)}: {escaped(str(value))}" for name, value in facts.items() if value is not None)
    yield (
        f"{counts.planned} planned = {counts.answered} answered + {counts.unanswered} unanswered + {counts.failed} "
        f"failed + {counts.not_run} not run" + (f" + {counts.missing} missing" if counts.missing else "")
    )
    yield _listed("Safeguards", safeguards.headline(summary), safeguards.lines(summary))
    if (found := summary.screening) is not None:
        yield _listed(screening.TITLE, found.sentence, [*screening.lines(found), found.keep])
    yield _listed("Artefacts that look like findings", NOT_CHECKED, safeguards.artefacts(summary))
    if summary.warnings:
        yield "\n".join(("**Warnings**", "", *(f"- {escaped(warning)}" for warning in summary.warnings)))


def _listed(title: str, first: str, lines: Sequence[str]) -> str:
    """Lines under a title, behind a sentence."""
    return "\n".join((f"## {title}", "", escaped(first), "", *(f"- {escaped(one)}" for one in lines)))


def section(table: Table) -> str:
    """A table under its title, with its notes."""
    drawn = tabulate(
        [[escaped(cell) for cell in row] for row in table.rows],
        headers=[escaped(header) for header in table.headers],
        tablefmt="pipe",
        disable_numparse=True,
        colalign=("left", *["left" if table.words else "right"] * (len(table.headers) - 1)) if table.rows else None,
    )
    notes = "".join(f"\n\n{escaped(note)}" for note in table.notes)
    return f"## {escaped(table.title)}\n\n{drawn}{notes}"


def escaped(text: str, most: int = CELL) -> str:
    """Text as Markdown shows it: on one line of at most so many characters, its special ones without effect."""
    return _SPECIAL.sub(r"\\\1", one_line(text, most))


def _definitions() -> str:
    lines = "\n".join(f"- **{name}**: {escaped(meaning)}" for name, meaning in DEFINITIONS)
    return f"## Definitions\n\n{lines}\n\nTimes are seconds. Formulas and units of all quantities: docs/quantities.md."
