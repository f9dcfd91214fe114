"""The table of rules, and what it takes to add one: a function over the subject, and a line here.

A rule that cannot be looked at says why: it has an obstacle, a function that gives the reason or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loadrig.corpus.rules import documents, hardened, history, key, likeness, rests
from loadrig.corpus.rules.outcome import Outcome
from loadrig.corpus.rules.subject import Subject


def nothing(subject: Subject) -> str | None:
    """Any corpus will do."""
    return None if subject.key else "there are no questions"


def no_ledger(subject: Subject) -> str | None:
    """The rule speaks of the ledger."""
    return subject.no_ledger


def no_dates(subject: Subject) -> str | None:
    """The rule needs documents with dates."""
    return None if subject.true_dates else "no document has a date"


def not_hardened(subject: Subject) -> str | None:
    """Only the hardened variant promises it."""
    return subject.no_ledger or _other_variant(subject, ("hardened",))


def not_plain(subject: Subject) -> str | None:
    """Only texts without requoting promise it."""
    return subject.no_ledger or _other_variant(subject, ("original", "translated"))


def _other_variant(subject: Subject, variants: tuple[str, ...]) -> str | None:
    promised = subject.ledger.variant in variants
    return None if promised else f"no promise of the variant {subject.ledger.variant!r}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A named promise. `judge` gives findings, notes and what it could not look at; `obstacle` why it cannot run."""

    name: str
    judge: Callable[[Subject], Iterator[Outcome]]
    obstacle: Callable[[Subject], str | None] = nothing


RULES = (
    Rule("question ids", key.question_ids),
    Rule("question documents", key.question_documents),
    Rule("gold is whole", key.gold_is_whole),
    Rule("quotes", key.quotes),
    Rule("references pass", key.references_pass),
    Rule("echoes fail", key.echoes_fail),
    Rule("refusals fail", key.refusals_fail),
    Rule("stale fails", key.stale_fails),
    Rule("stale stands", key.stale_stands),
    Rule("must not contain", key.must_not_contain),
    Rule("duplicates", key.duplicates),
    Rule("callers", documents.callers),
    Rule("multi-hop", likeness.multi_hop),
    Rule("paraphrase overlap", likeness.paraphrase_overlap),
    Rule("date in text", documents.date_in_text, no_dates),
    Rule("ledger documents", documents.ledger_documents, no_ledger),
    Rule("dates rise", documents.dates_rise, no_ledger),
    Rule("canary", documents.canary, no_ledger),
    Rule("states stand", history.states_stand, no_ledger),
    Rule("states say", history.states_say, no_ledger),
    Rule("histories", history.histories, no_ledger),
    Rule("final values", history.final_values, no_ledger),
    Rule("ledger references", rests.references_exist, no_ledger),
    Rule("supersession is whole", rests.supersession_is_whole, no_ledger),
    Rule("amending is last", rests.amending_is_last, no_ledger),
    Rule("stale is earlier", rests.stale_is_earlier, no_ledger),
    Rule("gold holds states", rests.gold_holds_states, no_ledger),
    Rule("superseded fails", rests.superseded_fails, no_ledger),
    Rule("topics", rests.topics, no_ledger),
    Rule("derivations", rests.derivations),
    Rule("refusals alike", likeness.refusals_alike, no_ledger),
    Rule("project named", likeness.project_named, no_ledger),
    Rule("last mention right", history.last_mention_right, not_plain),
    Rule("opaque names", hardened.opaque_names, not_hardened),
    Rule("references by date", hardened.references_by_date, not_hardened),
    Rule("requoted", hardened.requoted, not_hardened),
    Rule("last mention misleads", hardened.last_mention_misleads, not_hardened),
)
