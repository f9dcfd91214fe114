"""The crediting rule of recall: its version is stamped, and recall of different versions is not compared.

One rule credited only documents that were read, a later one search hits, too: what looks like better searching was the
counting.
"""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen
from loadrig.log import RunFolder
from loadrig.measures.recall import CREDITING_RULE
from loadrig.words.safeguard import Figure, Safeguard

NAME = "crediting rule"


def rule_of(run: RunFolder) -> str | None:
    """The version under which the run was fired; None when it is not stamped."""
    rule = run.manifest.get("crediting_rule")
    return None if rule is None else str(rule)


def unlike(a: RunFolder, b: RunFolder) -> str | None:
    """Why recall of two runs may not be compared; None when it was credited by one rule. Where neither run says by
    which, it is compared, and a comparison names the rule as not checked."""
    first, second = rule_of(a), rule_of(b)
    return None if first == second else f"crediting rules {first or 'unknown'} and {second or 'unknown'} differ"


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
