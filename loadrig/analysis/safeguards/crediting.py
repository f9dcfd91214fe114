"""The crediting rule of recall: its version is stamped, and recall of different versions is not compared.

One rule credited only documents that were read, a later one search hits, too: what looks like better searching was the
counting.
"""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen
from loadrig.log import RunFolder
from loadrig.measures.recall import CREDITING_RULE
from loadrig.words.errors import InputError
from loadrig.words.safeguard import Figure, Safeguard

NAME = "crediting rule"


def rule_of(run: RunFolder) -> str | None:
    """The version under which the run was fired; None when it is not stamped."""
    rule = run.manifest.get("crediting_rule")
    return None if rule is None else str(rule)


def recall_comparable(a: RunFolder, b: RunFolder) -> bool | None:
    """Whether recall of two runs may be compared; None when one of them does not say by which rule it credited."""
    first, second = rule_of(a), rule_of(b)
    return None if first is None or second is None else first == second


def refuse_unlike(a: RunFolder, b: RunFolder) -> None:
    """Raises `InputError` unless recall of the two runs was credited by one rule."""
    if not recall_comparable(a, b):
        first, second = rule_of(a) or "unknown", rule_of(b) or "unknown"
        raise InputError(
            f"recall was credited by rule {first} in one run and by rule {second} in the other",
            path=b.path,
            remedy="run the older plan again; figures other than recall are not touched",
        )


def check(seen: Seen) -> Iterator[Safeguard]:
    """One for the run."""
    rule = rule_of(seen.run)
    figures = (Figure("rule of the run", rule), Figure("rule of this loadrig", CREDITING_RULE))
    if rule is None:
        yield Safeguard(NAME, "not checked", "the manifest names no crediting rule", figures)
    elif rule != CREDITING_RULE:
        why = f"the run was credited by rule {rule}, this loadrig has rule {CREDITING_RULE}: recall is not comparable"
        yield Safeguard(NAME, "failed", why, figures)
    else:
        yield Safeguard(NAME, "passed", f"recall is credited by rule {rule}, as is stamped in the manifest", figures)
