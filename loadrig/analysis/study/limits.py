"""How far a study reaches, from what its runs were made of; and which effects are worth looking for elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from loadrig.analysis.grading import PRECHECK
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import listed


def limits(parts: Sequence[Part], absent: Sequence[str] = ()) -> Iterator[str]:
    """Each limit in a sentence, the widest first. `absent`: runs of the study that have no folder yet."""
    plans = [part.run.manifest.get("plan") or {} for part in parts]
    corpora = _names(str((plan.get("corpus") or {}).get("path", "")) for plan in plans)
    models = sorted({model for part in parts for model in part.models})
    providers = _names(str(model.get("provider")) for plan in plans for model in plan.get("model") or [])
    retrievers = _names(
        str(arm.get("retriever") or arm.get("search") or "") for plan in plans for arm in plan.get("arms") or []
    )
    if any(part.summary.simulated for part in parts):
        yield (
            "simulated: the models are a simulator, whose dials were set by hand. No sentence here is evidence of any "
            "model: it shows what the study would say if a model behaved so"
        )
    if absent:
        yield f"not run yet: {listed(list(absent), 8)}"
    for part in parts:
        counts = part.summary.counts[0]
        if unasked := counts.not_run + counts.missing:
            yield (
                f"{part.name} is not whole: {unasked:,} of {counts.planned:,} trials were not asked, so that arms and "
                "classes may stand on unlike questions; the same command goes on, a spent budget wants a larger one"
            )
        counted = Counter(question.category for question in part.run.questions.values())
        yield (
            f"{part.name}: {len(part.run.questions)} questions "
            f"({', '.join(f'{n} {name}' for name, n in counted.items())}), "
            f"each asked {_times(part)}; repetitions are no further questions, and tests are over questions"
        )
    yield (
        f"{_count(len(corpora), 'folder of documents', 'folders of documents')} ({listed(corpora)}): variants of one "
        "corpus are one corpus; another domain, another language or other authors may answer otherwise"
    )
    yield (
        f"{_count(len(models), 'model', 'models')} ({listed(models)}) of "
        f"{_count(len(providers), 'provider', 'providers')} ({listed(providers)}); "
        f"{_count(len(retrievers), 'retriever', 'retrievers')} ({listed(retrievers)})"
    )
    graders = _names(part.summary.grading.by for part in parts)
    people = (
        "the pre-check, a rule over words: no grade"
        if graders == [PRECHECK]
        else f"{listed(graders)}; one grader's marks have no agreement measured"
        if len(graders) == 1
        else listed(graders)
    )
    yield f"right and wrong are by {people}"
    yield "recall credits a document when any passage of it was shown; provenance is by rule, and a lower bound"


def _times(part: Part) -> str:
    most = max((len(of) for verdicts in part.answers.values() for of in verdicts.values()), default=0)
    return "once" if most == 1 else f"{most} times"


def _names(found: Iterator[str] | Sequence[str]) -> list[str]:
    return sorted({name for name in found if name})


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
