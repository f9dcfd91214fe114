"""A screening in figures: its lines, its categories, and the verdict. Of a run that was fired with --screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loadrig.analysis.compare.words import ALPHA
from loadrig.analysis.contexts import Looked
from loadrig.analysis.grounding import Gap
from loadrig.analysis.retrieval import ArmRecall
from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.screening import lines
from loadrig.analysis.screening.answers import Answers, ScreenedCategory, answers, unjudged
from loadrig.analysis.screening.lines import Line
from loadrig.analysis.screening.rule import LEAST, SHOWN, Facts, Verdict, many, sentence, verdict
from loadrig.statistics.power import detectable
from loadrig.words.safeguard import Safeguard

KEEP = "Keep the question set and its key: they serve the next model, retriever and prompt; the figures do not."


@dataclass(frozen=True, slots=True)
class Screening:
    """`reread`: questions that a person should read again; `left_out`: what the plan has and the screening had not."""

    verdict: Verdict
    sentence: str
    keep: str
    lines: tuple[Line, ...]
    categories: tuple[ScreenedCategory, ...]
    reread: tuple[str, ...]
    left_out: tuple[str, ...]


def screening(
    seen: Seen,
    looked: Sequence[Looked],
    *,
    checked: Sequence[Safeguard],
    recall: Sequence[ArmRecall],
    gaps: Sequence[Gap],
) -> Screening | None:
    """Of what else was found of the run; None of one that was not a screening."""
    if not seen.run.manifest.get("screen"):
        return None
    told: Mapping[str, Any] = seen.run.manifest.get("screening") or {}
    full = told.get("full")
    models = [answers(name, looked, seen) for name in seen.models]
    by_model = [_of_model(one, gaps, seen, recall) for one in models]
    shown = detectable(full["questions"], alpha=ALPHA["accuracy"]) if full else None
    keyless, asked = unjudged(looked), len({one.record.question for one in looked})
    found, reasons = verdict(
        Facts(
            control=not all(one.control for one in models),
            instrument=any(one.verdict == "failed" for one in checked),
            few=not models or any(len(one.counted) < LEAST for one in models),
            saturated=all(one.saturated() for one in models),
            hopeless=all(one.hopeless for one in models),
            alike=all(one.alike for one in models) and not _misses_any(recall),
            known=any(many(len(one.known), len(one.control)) for one in models),
            gap=not all(lines.is_clear([gap for gap in gaps if gap.model == one.model]) for one in models),
            keyless=many(len(keyless), asked),
            reread=any(many(len(one.reread or ()), len(one.counted)) for one in models),
            blind=shown is None or shown > SHOWN,
        )
    )
    currency = str(seen.run.manifest.get("currency") or "")
    beside = (lines.key(keyless, asked), lines.instrument(checked), lines.full_plan(full, shown, currency))
    return Screening(
        verdict=found,
        sentence=sentence(found, reasons),
        keep=KEEP,
        lines=(*(line for of in by_model for line in of), *beside),
        categories=tuple(row for one in models for row in one.categories()),
        reread=tuple(dict.fromkeys(question for one in models for question in one.reread or ())),
        left_out=tuple(told.get("left_out") or ()),
    )


def _of_model(one: Answers, gaps: Sequence[Gap], seen: Seen, recall: Sequence[ArmRecall]) -> list[Line]:
    """The model's lines, with its name where there are several."""
    mine = [gap for gap in gaps if gap.model == one.model]
    found = lines.of_model(one, mine, [arm for arm in recall if arm.model == one.model])
    return [line if len(seen.models) < 2 else replace(line, name=f"{line.name} ({one.model})") for line in found]


def _misses_any(recall: Sequence[ArmRecall]) -> bool:
    return any(row.recall is not None and row.recall.mean < 1 for arm in recall for row in arm.categories)
