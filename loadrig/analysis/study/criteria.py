"""When to choose which architecture: each criterion with this study's own figures, and whether it holds here.

Each line is a pure function of figures. `holds`: what the criterion names is so here; it speaks for the choice it
belongs to. `cannot be told`: what is missing, and where to say it. Where a line rests on one question, it is no ground.

    fits with headroom   corpus tokens, by the model's own count, are at most half of its window
    far larger           they are more than three windows
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from loadrig.analysis.grounding import Gap
from loadrig.analysis.study.finding import listed, p_told, points, times_told
from loadrig.analysis.study.recalled import MUCH, Recalled
from loadrig.analysis.study.tested import PairTest
from loadrig.analysis.study.width import Split, told
from loadrig.statistics.power import ALPHA
from loadrig.stats import Share

Verdict = Literal["holds", "does not hold", "cannot be told"]
HEADROOM, FAR, SOME = 0.5, 3.0, 0.05


@dataclass(frozen=True, slots=True)
class Criterion:
    """`choice`: what it speaks for. `of`: the model, or the run and model; empty: the study. `said`: what follows."""

    key: str
    choice: str
    criterion: str
    of: str
    figures: str
    verdict: Verdict
    said: str


@dataclass(frozen=True, slots=True)
class Size:
    """The corpus beside a model's window. `counted`: by the model, of full context; else our estimate."""

    model: str
    tokens: float
    counted: bool
    window: int | None


@dataclass(frozen=True, slots=True)
class Premium:
    """What full context costs beside a narrow arm: prompt tokens, and money a question; None: unknown."""

    model: str
    narrow: str
    tokens: float | None
    money_full: Decimal | None
    money_narrow: Decimal | None
    currency: str


@dataclass(frozen=True, slots=True)
class Volume:
    """What the study's user knows of its use."""

    questions_per_month: int | None = None
    money_per_month: Decimal | None = None
    users_wait: bool | None = None


def sized(size: Size) -> tuple[Criterion, ...]:
    """The corpus against the window, once for each choice."""
    by = "by its own count" if size.counted else "by our estimate"
    tokens = f"{size.tokens:,.0f} corpus tokens {by}"
    names = ("fits the window with substantial headroom", "exceeds the window", "is far larger than the window")
    choices = ("full context", "retrieval", "agentic search")
    keys = ("fits", "exceeds", "far")
    if size.window is None:
        why = f'say it: [known.windows] "{size.model}" = tokens'
        return tuple(
            Criterion(key, choice, f"the corpus {name}", size.model, tokens, "cannot be told", why)
            for key, choice, name in zip(keys, choices, names, strict=True)
        )
    share = size.tokens / size.window
    figures = f"{tokens}, {100 * share:.1f} % of a window of {size.window:,}"
    held = (share <= HEADROOM, share > 1, share > FAR)
    said = (
        ("full context is open" if share <= HEADROOM else "full context is tight" if share <= 1 else "it is no option"),
        ("there is no other way but to search" if share > 1 else "the window does not force a search: cost may"),
        ("neither full context nor a fixed k will do" if share > FAR else "the size does not force it"),
    )
    return tuple(
        Criterion(key, choice, f"the corpus {name}", size.model, figures, "holds" if yes else "does not hold", follows)
        for key, choice, name, yes, follows in zip(keys, choices, names, held, said, strict=True)
    )


def premium(of: Premium, volume: Volume) -> Criterion:
    """Whether the volume is low enough for what full context costs more."""
    name, key = "the volume is low enough for the premium", "premium"
    if of.tokens is None:
        return Criterion(key, "full context", name, of.model, "-", "cannot be told", "no full context beside retrieval")
    figures = f"{of.tokens:.1f} times the prompt tokens of {of.narrow}"
    if of.money_full is None or of.money_narrow is None:
        why = "its price is unknown: lay a price table over ours"
        return Criterion(key, "full context", name, of.model, figures, "cannot be told", why)
    figures += f"; {_money(of.money_full)} against {_money(of.money_narrow)} {of.currency} a question"
    if volume.questions_per_month is None:
        why = "say how many are asked: [known] questions_per_month"
        return Criterion(key, "full context", name, of.model, figures, "cannot be told", why)
    full, narrow = (one * volume.questions_per_month for one in (of.money_full, of.money_narrow))
    figures += f"; {full:,.2f} against {narrow:,.2f} {of.currency} for {volume.questions_per_month:,} a month"
    if volume.money_per_month is None:
        why = "say what they may cost: [known] money_per_month"
        return Criterion(key, "full context", name, of.model, figures, "cannot be told", why)
    yes = full <= volume.money_per_month
    said = f"full context {'keeps' if yes else 'breaks'} the {volume.money_per_month:,.2f} a month"
    return Criterion(key, "full context", name, of.model, figures, "holds" if yes else "does not hold", said)


def effort() -> Criterion:
    """What no run measures."""
    why = "no run measures it: full context has no index, no passages and no k to tune or to watch"
    return Criterion("effort", "full context", "engineering effort is what binds", "", "-", "cannot be told", why)


def classes(found: Sequence[Recalled]) -> tuple[Criterion, ...]:
    """What recall by class says of full context, of retrieval, and of k; `found`: the classes of one run."""
    whole, test = (
        "questions ask for a property of the whole set",
        "there is a class of question whose recall is below 1",
    )
    local = "questions are localised facts, and k is chosen from recall by class"
    if not found:
        why = "no arm with a k, or no question with gold documents"
        return tuple(
            Criterion(key, choice, name, "", "-", "cannot be told", why)
            for key, choice, name in (
                ("whole set", "full context", whole), ("localised", "retrieval", local),
                ("operative", "not retrieval alone", test),
            )
        )  # fmt: skip
    never = [one for one in found if one.reached_at is None]
    total, short = sum(one.n for one in found), sum(one.n for one in never)
    below = listed([f"{one.category} {one.best:.2f} at most" for one in never], 6) or "none"
    asked = f"{short} of {total} questions in classes that no k finds whole ({below})"
    ks = [one.reached_at for one in found if one.reached_at is not None]
    reached = f"k = {max(ks)}{_of_passages(found)} finds all else whole" if ks else "no class is found whole"
    runs = found[0].run
    return (
        Criterion("whole set", "full context", whole, runs, asked, "holds" if never else "does not hold",
                  "for these classes the narrow arms are no choice" if never else "nothing here wants the whole set"),
        Criterion("localised", "retrieval", local, runs, f"{reached}; {asked}",
                  *_localised(found, ks, never=bool(never))),
        Criterion("operative", "not retrieval alone", test, runs, f"below 1 at every k: {below}",
                  "holds" if never else "does not hold",
                  "retrieval alone will miss them, whatever its accuracy looks like" if never
                  else "recall gives no reason against retrieval"),
    )  # fmt: skip


def adapts(model: str, again: Share | None) -> Criterion:
    """Whether searches were put in other words after finding nothing, which a single search cannot do. `again`: of the
    first trials of the questions, for the verdict hangs on its interval."""
    name = "the search must adapt to what it finds"
    if again is None:
        return Criterion("adapts", "agentic search", name, model, "-", "cannot be told", "no agentic arm")
    figures = f"{again.k} of {again.n} questions searched again in other words [{again.low:.2f}, {again.high:.2f}]"
    yes = again.low > SOME
    said = "a single search found nothing there" if yes else "one search was nearly always enough"
    return Criterion("adapts", "agentic search", name, model, figures, "holds" if yes else "does not hold", said)


def waits(model: str, latency: float | None, volume: Volume) -> Criterion:
    """Whether somebody waits for the agent. `latency`: its service time in full context's."""
    name, choice = "latency is not user-facing", "agentic search"
    figures = "-" if latency is None else f"{times_told(latency)} times full context's time"
    if volume.users_wait is None:
        why = "say it: [known] users_wait = true or false"
        return Criterion("waits", choice, name, model, figures, "cannot be told", why)
    if not volume.users_wait:
        return Criterion("waits", choice, name, model, figures, "holds", "nobody waits")
    longer = "" if latency is None or latency <= 1 else f" {times_told(latency)} times as long"
    said = (
        "somebody waits, though here no longer than for full context" if latency and latency <= 1 else "somebody waits"
    )
    return Criterion("waits", choice, name, model, figures, "does not hold", said + longer)


def width(split: Split) -> Criterion:
    """Whether this model is safer with less before it."""
    name, of, found = "match context width to the model: wider is not safer", split.difference, told(split)
    shares = f"wide {100 * of.b:.1f} %, narrow {100 * of.a:.1f} % of {of.n} {split.category} questions"
    figures = f"{shares}, Holm p {p_told(split.p_holm)}"
    where = f"{split.run}, {split.model}"
    if found.strength == "result":
        yes = of.value < 0
        said = f"keep the context {'narrow' if yes else 'wide'} for this model on such a corpus"
        return Criterion("width", "narrow context", name, where, figures, "holds" if yes else "does not hold", said)
    why = {"lead": "a lead, not a result: more questions of that shape"}.get(found.strength, "inside noise")
    return Criterion("width", "narrow context", name, where, figures, "cannot be told", why)


def grounds(model: str, gaps: Sequence[Gap]) -> Criterion:
    """Whether every grounded arm is above the control."""
    name = "always ground: the control is far below every grounded arm"
    if not gaps:
        return Criterion("ground", "grounding", name, model, "-", "cannot be told", "no control ran")
    least = min(gaps, key=lambda gap: gap.gap)
    figures = (
        f"control {least.control:.0%}; least gap {100 * least.gap:+.0f} points ({least.arm}, n = {least.n}, "
        f"Holm p {p_told(least.p_holm)})"
    )
    verdict: Verdict = "cannot be told"
    said = "not every arm is above the control beyond noise: ask more questions"
    if all(gap.p_holm <= ALPHA and gap.gap > 0 for gap in gaps):
        verdict, said = "holds", "documents before the model, whichever the arm"
    elif least.gap <= 0:
        verdict, said = "does not hold", f"{least.arm} is right no more often than the control"
    return Criterion("ground", "grounding", name, model, figures, verdict, said)


def noise(model: str, family: Sequence[PairTest]) -> Criterion:
    """Whether arms differ in accuracy at all, over all questions."""
    name = "differences of accuracy are inside noise"
    if not family:
        return Criterion(
            "noise", "the cheaper arm", name, model, "-", "cannot be told", "fewer than two arms were graded"
        )
    moved = [one for one in family if one.word != "inside noise"]
    top = max(family, key=lambda one: abs(one.right - one.right_against))
    figures = (
        f"largest: {top.arm} {top.right}/{top.n} against {top.against} {top.right_against}/{top.n}, "
        f"Holm p {p_told(top.p_holm)}"
    )
    if moved:
        said = f"not for {listed([one.arm for one in moved])}, see the tests"
        return Criterion("noise", "the cheaper arm", name, model, figures, "does not hold", said)
    seen = min((one.detectable for one in family if one.detectable is not None), default=None)
    if seen is None:
        said = "with so few questions no difference could have been seen: ask more"
        return Criterion("noise", "the cheaper arm", name, model, figures, "cannot be told", said)
    figures += f"; below {points(seen)} none could have been seen"
    return Criterion(
        "noise", "the cheaper arm", name, model, figures, "holds", "decide on cost, latency and complexity"
    )


def inputs(sizes: Sequence[Size], volume: Volume, kinds: str) -> Criterion:
    """What decides most can be known before any run."""
    missing = [f"window of {size.model}" for size in sizes if size.window is None]
    missing += ["questions a month"] if volume.questions_per_month is None else []
    figures = f"corpus {listed([f'{size.tokens:,.0f} tokens ({size.model})' for size in sizes])}; questions: {kinds}"
    name = "corpus, window, volume and a sample of question types are known"
    if missing:
        return Criterion(
            "inputs", "deciding before any run", name, "", figures, "cannot be told", f"not known: {listed(missing, 6)}"
        )
    return Criterion(
        "inputs", "deciding before any run", name, "", figures, "holds", "size, shape and cost decide without a run"
    )


def _localised(found: Sequence[Recalled], ks: Sequence[int], *, never: bool) -> tuple[Verdict, str]:
    """Whether a k that is small beside the corpus finds everything, and what follows."""
    if never:
        rest = f"retrieval with k = {max(ks)} for the others" if ks else "no class is left for retrieval"
        return "does not hold", f"another arm for what no k finds whole; {rest}"
    passages = found[0].passages
    if passages and max(ks) > MUCH * passages:
        why = "to find everything is to retrieve most of it: of a corpus this small nothing follows for searching"
        return "cannot be told", f"k = {max(ks)}{_of_passages(found)}: {why}"
    return "holds", f"retrieval, with k = {max(ks)} at least{_of_passages(found)}"


def _of_passages(found: Sequence[Recalled]) -> str:
    passages = found[0].passages
    return f" of {passages} passages" if passages else ""


def _money(amount: Decimal) -> str:
    return f"{amount:.6f}".rstrip("0")
