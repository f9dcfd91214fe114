"""Who may see what, over the questions that will be asked: looked at before anything is sent. Pure.

A corpus has mixed rights for those who ask when one of them may not see every document. An arm that lays the whole of
what a caller may see, or a part that many prompts share, before the model says so by an option `mixed_rights`: it runs
over such a corpus only where that is true. Other arms pick for each question what its caller may see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass

from loadrig.words.arm import Arm
from loadrig.words.corpus import Corpus, Question, sees
from loadrig.words.errors import InputError

OPTION = "mixed_rights"
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Rights:
    """`labelled` of the `documents` have labels; `callers` are the sets of labels that ask; `mixed`: one of them may
    not see every document. `nameless` are the questions of nobody though documents have labels; `hidden` those with a
    gold document that the caller may not see."""

    documents: int
    labelled: int
    callers: int
    mixed: bool
    nameless: tuple[str, ...]
    hidden: tuple[str, ...]


def rights_of(corpus: Corpus, questions: Sequence[Question]) -> Rights:
    """The rights of those who ask these questions over this corpus."""
    labels = {document.id: document.access for document in corpus.documents}
    closed = {access for access in labels.values() if access}
    callers = {frozenset(question.caller) for question in questions}
    return Rights(
        documents=len(labels),
        labelled=sum(bool(access) for access in labels.values()),
        callers=len(callers),
        mixed=any(not sees(tuple(caller), access) for caller in callers for access in closed),
        nameless=tuple(question.id for question in questions if closed and not question.caller),
        hidden=tuple(question.id for question in questions if _is_hidden(question, labels)),
    )


def check(arms: Iterable[Arm], rights: Rights) -> None:
    """Raises `InputError` for an arm that shows all its caller may see where rights are mixed and nobody said so."""
    shown = [arm.name for arm in arms if _shows_all(arm)]
    if rights.mixed and shown:
        raise InputError(
            f"{', '.join(shown)}: the whole of a corpus in the prompt, and not everyone who asks may see all of it "
            f"({rights.labelled} of {rights.documents} documents have labels)",
            remedy=f"retrieve instead, or set {OPTION} = true for it in the plan: each caller then gets, and caches, a "
            "prompt of his own documents alone",
        )


def told(rights: Rights) -> tuple[str, ...]:
    """What is odd about the rights, in words."""
    found = []
    if rights.nameless:
        found.append(
            f"{_some(rights.nameless)} no caller: of {rights.documents} documents only the "
            f'{rights.documents - rights.labelled} without labels are shown; name a caller, or ["*"] for all'
        )
    if rights.hidden:
        found.append(
            f"{_some(rights.hidden)} gold documents that the caller may not see: right is only to say that what may be "
            "seen does not tell"
        )
    return tuple(found)


def made_of(arm: object) -> Iterator[object]:
    """The arm, and the arms that it is made of."""
    yield arm
    for part in fields(arm) if is_dataclass(arm) else ():
        inner = getattr(arm, part.name)
        if is_dataclass(inner):
            yield from made_of(inner)


def _shows_all(arm: object) -> bool:
    """Whether it, or an arm that it is made of, shows all and was not told that rights are mixed."""
    return any(getattr(one, OPTION, None) is False for one in made_of(arm))


def _is_hidden(question: Question, labels: dict[str, tuple[str, ...]]) -> bool:
    return any(not sees(question.caller, labels.get(doc, ())) for doc in question.gold)


def _some(ids: Sequence[str]) -> str:
    named = ", ".join(ids[:SHOWN]) + (", ..." if len(ids) > SHOWN else "")
    return f"1 question ({named}) has" if len(ids) == 1 else f"{len(ids)} questions ({named}) have"
