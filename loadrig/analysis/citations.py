"""Cited spans, each held against what the same trial sent from the document it is cited from.

A span is `sent` when it is a substring of a text that was sent from the document it names; `misplaced` when it is one
of a text from another document, or names none; `fabricated` when no text that was sent has it. `unchecked`: it is
blank, or the prompt is not on file. Two texts are compared after the same three steps and no other: Unicode normal form
C, every run of white space made one blank and none at the ends, and our own two delimiters written out. Case, hyphens
and punctuation count; an ellipsis is three dots like any others, so a quote with something left out is fabricated. One
pair of quotation marks around a whole span is its form, not its text.

    fabrication rate = answers with a fabricated span / answers with a span that was checked

with Wilson's interval, which shows how few they are: repetitions of a question are not independent. Spans of one answer
are even less so, and have no interval. A span that was sent need not bear the claim, and one of a word or two is
anywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from loadrig.analysis.answers import FOUND, TOLD, Finding
from loadrig.analysis.contexts import Looked
from loadrig.analysis.selection import by_arm_and_model, by_category
from loadrig.analysis.sent import Documents, documents_in, prompts_of
from loadrig.log import RunFolder
from loadrig.measures.context import answered
from loadrig.stats import Share, wilson
from loadrig.words.prompt import Citation
from loadrig.words.record import Record

Verdict = Literal["sent", "misplaced", "fabricated", "unchecked"]

_DEFUSED = re.compile(r"&lt;(/?document)", re.IGNORECASE)
_MARKS = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "‚": "‘", "«": "»", "»": "«"}  # noqa: RUF001
_KEPT = 16  # prompts: a question's trials follow one another


@dataclass(frozen=True, slots=True)
class Span:
    """A cited span and what became of it."""

    text: str
    source: str | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Audited:
    """An answer, whole or cut off, and its cited spans."""

    one: Looked
    spans: tuple[Span, ...]

    def has(self, *verdicts: Verdict) -> bool:
        return any(span.verdict in verdicts for span in self.spans)


@dataclass(frozen=True, slots=True)
class CategoryCitations:
    """Of one category (`all`: every one), all repetitions. Of `answers`, `citing` cite something, and `bare` neither
    cite nor decline. Of `spans`, so many have each verdict. `rate`, `misplacing`: answers with a fabricated or a
    misplaced span, of those with a span that was checked. `silent_sound`: answers that are wrong, told as if known, and
    cite spans that were all sent: nothing on them looks wrong."""

    category: str
    answers: int
    citing: int
    bare: int
    spans: int
    sent: int
    misplaced: int
    fabricated: int
    unchecked: int
    rate: Share | None
    misplacing: Share | None
    silent_sound: int


@dataclass(frozen=True, slots=True)
class ArmCitations:
    """An arm that was to cite, or of which some answer did."""

    arm: str
    model: str
    categories: tuple[CategoryCitations, ...]


class Audit:
    """Checks the spans of trials against the prompts of a run."""

    def __init__(self, prompts: Mapping[str, bytes]) -> None:
        self._documents = lru_cache(maxsize=_KEPT)(lambda prompt: documents_in(prompt, prompts))

    def spans(self, record: Record) -> tuple[Span, ...]:
        """The spans of a trial's answer, in its order."""
        if not record.citations:
            return ()
        found = [self._documents(prompt) for prompt in prompts_of(record)]
        known = [documents for documents in found if documents is not None]
        is_whole = bool(found) and len(known) == len(found)
        return tuple(
            Span(cited.text, cited.source, _verdict(cited, known) if is_whole else "unchecked")
            for cited in record.citations
        )


def audited(run: RunFolder, looked: Sequence[Looked], prompts: Mapping[str, bytes]) -> list[Audited]:
    """Every answer with its spans, of the arms that were to cite or of which some answer did."""
    audit = Audit(prompts)
    citing = _asked(run.manifest).union(one.record.arm for one in looked if one.record.citations)
    found = (one for one in looked if one.record.arm in citing)
    return [Audited(one, audit.spans(one.record)) for one in found if answered(one.record)]


def citations_by_arm(run: RunFolder, found: Sequence[Audited]) -> tuple[ArmCitations, ...]:
    """Every arm and model of which an answer was audited, in the plan's order."""
    groups = by_arm_and_model(run, (((one.one.record.arm, one.one.record.model), one) for one in found))
    return tuple(ArmCitations(arm, model, _categories(answers)) for arm, model, answers in groups)


def ill_cited(found: Iterable[Audited]) -> tuple[Finding, ...]:
    """The first spans that were not sent, and that were not sent from there, for a grader to read."""
    kept: dict[str, list[Finding]] = {"fabricated": [], "misplaced": []}
    for one in found:
        for span in one.spans:
            if span.verdict in kept and len(kept[span.verdict]) < FOUND:
                record = one.one.record
                what = f"[{span.source or 'no document named'}] {span.text}"[:TOLD]
                kept[span.verdict].append(
                    Finding(f"spans_{span.verdict}", record.arm, record.model, record.question, record.trial, what)
                )
    return (*kept["fabricated"], *kept["misplaced"])


def told(found: Iterable[ArmCitations]) -> tuple[str, ...]:
    """A sentence for each arm of which an answer cites what was not sent."""
    wholes = ((arm, arm.categories[0]) for arm in found)
    return tuple(
        f"{arm.arm} ({arm.model}): {of.rate.k} of {of.rate.n} answers with citations cite words that were not sent, "
        f"{of.fabricated} of {of.spans} spans: read them before the answers are believed"
        for arm, of in wholes
        if of.rate is not None and of.rate.k
    )


def flat(text: str) -> str:
    """A text as it is compared."""
    return " ".join(_DEFUSED.sub(r"<\1", unicodedata.normalize("NFC", text)).split())


_flat_text = lru_cache(maxsize=256)(flat)


def _verdict(cited: Citation, sent: Sequence[Documents]) -> Verdict:
    ways = list(_ways(flat(cited.text)))
    if not ways:
        return "unchecked"
    if cited.source and any(_holds(documents.get(cited.source, ()), ways) for documents in sent):
        return "sent"
    texts = (text for documents in sent for text in documents.values())
    return "misplaced" if any(_holds(of, ways) for of in texts) else "fabricated"


def _ways(span: str) -> Iterator[str]:
    """The span, and what is left of it without the quotation marks around it."""
    if span:
        yield span
    if len(span) > 2 and _MARKS.get(span[0]) == span[-1] and (inner := span[1:-1].strip()):
        yield inner


def _holds(texts: Iterable[str], ways: Sequence[str]) -> bool:
    """As they stand, which most do, before white space is looked into."""
    texts = tuple(texts)
    return any(way in text for text in texts for way in ways) or any(
        way in _flat_text(text) for text in texts for way in ways
    )


def _categories(found: Sequence[Audited]) -> tuple[CategoryCitations, ...]:
    return tuple(_category(*of) for of in by_category((one.one.record.category, one) for one in found))


def _category(name: str, found: Sequence[Audited]) -> CategoryCitations:
    spans = [span.verdict for one in found for span in one.spans]
    checked = [one for one in found if one.has("sent", "misplaced", "fabricated")]
    return CategoryCitations(
        name,
        answers=len(found),
        citing=sum(bool(one.spans) for one in found),
        bare=sum(not one.spans and not one.one.values["declined"] for one in found),
        spans=len(spans),
        sent=spans.count("sent"),
        misplaced=spans.count("misplaced"),
        fabricated=spans.count("fabricated"),
        unchecked=spans.count("unchecked"),
        rate=wilson(sum(one.has("fabricated") for one in checked), len(checked)),
        misplacing=wilson(sum(one.has("misplaced") for one in checked), len(checked)),
        silent_sound=sum(bool(one.one.values["silent"]) and _is_sound(one) for one in found),
    )


def _is_sound(one: Audited) -> bool:
    return bool(one.spans) and all(span.verdict == "sent" for span in one.spans)


def _asked(manifest: Mapping[str, Any]) -> set[str]:
    """Names of the arms whose options say that they are to cite."""
    arms = (manifest.get("plan") or {}).get("arms") or ()
    wanting = (("citations", ("asked", "blocks")), ("results", ("blocks",)))
    return {
        str(arm.get("name")) for arm in arms
        if isinstance(arm, dict) and any(arm.get(option) in values for option, values in wanting)
    }  # fmt: skip
