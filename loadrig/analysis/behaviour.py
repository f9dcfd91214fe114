"""How answers behave, apart from how many are right: what rules find in them, the control, and what width costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadrig.analysis.answers import ArmAnswers, Finding, answers_by_arm, findings
from loadrig.analysis.citations import ArmCitations, audited, citations_by_arm, ill_cited
from loadrig.analysis.contexts import Looked
from loadrig.analysis.grounding import Controlled, Gap, controlled, gaps
from loadrig.analysis.selection import asked
from loadrig.analysis.tools import ArmTools, tools_by_arm
from loadrig.analysis.width import Width, widths
from loadrig.log import RunFolder


@dataclass(frozen=True, slots=True)
class Behaviour:
    """`facts`: whether documents.jsonl is there; without it nothing about dates, ids and recency was checked."""

    facts: bool
    answers: tuple[ArmAnswers, ...]
    findings: tuple[Finding, ...]
    control: tuple[Controlled, ...]
    gaps: tuple[Gap, ...]
    tools: tuple[ArmTools, ...]
    widths: tuple[Width, ...]
    citations: tuple[ArmCitations, ...]


def behaviour(run: RunFolder, looked: Sequence[Looked], prompts: Mapping[str, bytes]) -> Behaviour:
    """Of a run's folder and its answers, looked at; works on one in which nothing was answered too. `prompts`: the
    fragments of the run's prompts, by hash."""
    cited = audited(run, looked, prompts)
    return Behaviour(
        facts=any(one.context.known is not None for one in looked),
        answers=answers_by_arm(run, looked),
        findings=(*findings(looked), *ill_cited(cited)),
        control=controlled(looked),
        gaps=gaps(run, looked),
        tools=tools_by_arm(run, asked(run)),
        widths=widths(run),
        citations=citations_by_arm(run, cited),
    )
