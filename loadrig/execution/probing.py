"""The context probe: before anything is measured, does all of the longest prompt reach the model.

Asked once for each model, of the arm whose prompt is the longest and static: the same prompt with marker lines from top
to end, which the model is to repeat. A line that does not come back is asked for again with other secrets, because a
model may be careless; what is missing twice was cut. The reported prompt tokens are held against the provider's own
count of the same bytes; where it counts none, against the ratio to the local estimate of a short piece of the same
text. The calls are on record in probes.jsonl and on a line of their own in the bill; they are no trials.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from loadrig.cost import prompt_tokens
from loadrig.execution.beforehand import Beforehand, Means
from loadrig.execution.calibration import counted
from loadrig.execution.prepare import Prepared
from loadrig.execution.sampling import Sample, tokens_of
from loadrig.markers import MARKERS, Marked, gap, marked, static_part
from loadrig.wire.engine import Engine
from loadrig.wire.turn import Target
from loadrig.words.clock import SystemClock
from loadrig.words.errors import InputError
from loadrig.words.prompt import Prompt
from loadrig.words.record import Record
from loadrig.words.safeguard import Figure, Safeguard

CONTEXT, TOKENS = "context probe", "prompt tokens"
TIMES = 2
OFF_COUNT, OFF_RATIO = 0.02, 0.1
PLAUSIBLE = (0.7, 2.5)  # a provider's tokens over o200k_base of the same text: 0.9 to 1.54 were seen
NARROW_CHARS = 8_000
MIN_OUTPUT = 2_000  # the lines take some 200 tokens; a model that thinks needs room before them


async def probe(prepared: Prepared, means: Means) -> tuple[Safeguard, ...]:
    """What the probes of all models found; nothing when no arm has a static prompt. Raises `LogError`."""
    wide = [one for one in prepared.samples if one.prompt is not None and static_part(one.prompt) is not None]
    if not wide:
        return ()
    longest = max(wide, key=lambda sample: sample.tokens)
    found: list[Safeguard] = []
    async with Engine(SystemClock()) as engine:
        for model, target in means.targets.items():
            if prepared.plan.probe:
                found += await _Probe(prepared, means, target, engine).run(longest)
            else:
                why = "the plan has switched it off"
                found += [Safeguard(name, "not checked", why, of=model) for name in (CONTEXT, TOKENS)]
    return tuple(found)


class _Probe:
    """The probes of one model."""

    def __init__(self, prepared: Prepared, means: Means, target: Target, engine: Engine) -> None:
        roomy = replace(target.model, max_tokens=max(MIN_OUTPUT, target.model.max_tokens))
        self._target = replace(target, model=roomy)
        self._before = Beforehand(prepared.plan, prepared.prices, means, self._target, engine)
        self._room, self._seed = means.room, self._before.seed
        self._caller: tuple[str, ...] = ()

    async def run(self, sample: Sample) -> tuple[Safeguard, Safeguard]:
        """The context check and the token check."""
        assert sample.prompt is not None
        model, self._caller = self._target.model.id, sample.caller
        rounds: list[tuple[Marked, Record]] = []
        for number in range(TIMES):
            made = marked(sample.prompt, f"{self._seed}/{number}")
            assert made is not None
            if not self._room():
                break
            rounds.append((made, await self._ask(made.prompt)))
            if rounds[-1][1].outcome != "answered" or not made.missing(rounds[-1][1].answer):
                break
        if not rounds:
            why = "the budget has no room for it"
            return Safeguard(CONTEXT, "not checked", why, of=model), Safeguard(TOKENS, "not checked", why, of=model)
        return context(rounds, model, sample.arm), await self._tokens(*rounds[0], sample.prompt)

    async def _ask(self, prompt: Prompt) -> Record:
        return (await self._before.ask(prompt, caller=self._caller))[0]

    async def _tokens(self, made: Marked, record: Record, original: Prompt) -> Safeguard:
        model = self._target.model.id
        reported = _reported(record)
        if reported is None:
            return Safeguard(
                TOKENS, "not checked", f"the probe's reply told no prompt tokens: {_fate(record)}", of=model
            )
        try:
            expected = await asyncio.to_thread(counted, made.prompt, self._target)
        except InputError:
            return await self._by_ratio(made, reported, original)
        return by_count(reported, expected, local=tokens_of(made.prompt), model=model)

    async def _by_ratio(self, made: Marked, reported: int, original: Prompt) -> Safeguard:
        model = self._target.model.id
        narrow = marked(original, f"{self._seed}/narrow", chars=NARROW_CHARS)
        assert narrow is not None
        told = _reported(await self._ask(narrow.prompt)) if self._room() else None
        if told is None:
            return Safeguard(
                TOKENS, "not checked", "the endpoint counts no tokens and told none of a short prompt", of=model
            )
        short = told / max(1, tokens_of(narrow.prompt))
        return by_ratio(reported / max(1, tokens_of(made.prompt)), short, model=model)


def context(rounds: list[tuple[Marked, Record]], model: str, arm: str) -> Safeguard:
    """What the rounds of a probe say of the window. `rounds`: prompt and record, the last one is that which counts."""
    missing = [set(made.missing(record.answer)) for made, record in rounds if record.outcome == "answered"]
    figures: list[Figure] = [Figure("markers", MARKERS), Figure("arm", arm), Figure("calls", len(rounds))]
    if not missing:
        return Safeguard(
            CONTEXT, "not checked", f"the probe was not answered: {_fate(rounds[-1][1])}", tuple(figures), model
        )
    figures.append(Figure("repeated", MARKERS - len(missing[-1])))
    if len(missing[-1]) == MARKERS:
        why = "the model repeated none of the marker lines, not even the last: what reached it cannot be told"
        return Safeguard(CONTEXT, "not checked", why, tuple(figures), model)
    if not missing[-1]:
        why = f"all {MARKERS} marker lines from the top to the end of the context came back"
        return Safeguard(CONTEXT, "passed", why, tuple(figures), model)
    cut = sorted(set.intersection(*missing))
    if cut and len(missing) == TIMES:
        return Safeguard(CONTEXT, "failed", gap(cut, rounds[0][0].places), tuple(figures), model)
    why = f"{len(missing[-1])} of {MARKERS} marker lines are missing, not twice the same: the model leaves some out"
    return Safeguard(CONTEXT, "warned", why, tuple(figures), model)


def by_count(reported: int, expected: int, *, local: int, model: str) -> Safeguard:
    """Reported prompt tokens against the provider's own count of the same bytes."""
    off = reported / max(1, expected) - 1
    ratio = expected / max(1, local)
    figures = (
        Figure("reported", reported),
        Figure("counted", expected),
        Figure("difference", round(off, 4)),
        Figure("ratio to the local estimate", round(ratio, 4)),
    )
    told = f"{reported:,} prompt tokens reported, {expected:,} counted by the provider for the same bytes ({off:+.1%})"
    if abs(off) > OFF_COUNT:
        return Safeguard(TOKENS, "failed", told, figures, model)
    if not PLAUSIBLE[0] <= ratio <= PLAUSIBLE[1]:
        return Safeguard(TOKENS, "warned", f"{told}, but {ratio:.2f} times the local estimate", figures, model)
    return Safeguard(TOKENS, "passed", f"{told}; {ratio:.2f} times the local estimate", figures, model)


def by_ratio(wide: float, short: float, *, model: str) -> Safeguard:
    """The ratio of the whole prompt against that of a short one of the same text. It can fail and never pass: a factor
    that is on both of them cancels out."""
    off = wide / short - 1
    figures = (
        Figure("ratio of the whole", round(wide, 4)),
        Figure("ratio of a short piece", round(short, 4)),
        Figure("difference", round(off, 4)),
    )
    told = f"the whole context was reported as {wide:.2f} times the local estimate, a short piece of it as {short:.2f}"
    if abs(off) > OFF_RATIO:
        return Safeguard(TOKENS, "failed", told, figures, model)
    if not PLAUSIBLE[0] <= short <= PLAUSIBLE[1]:
        return Safeguard(TOKENS, "warned", f"{told}: no tokenizer is known to count so", figures, model)
    why = f"{told}: in proportion; a factor on all counts is not checked, for the provider counts no tokens"
    return Safeguard(TOKENS, "not checked", why, figures, model)


def _reported(record: Record) -> int | None:
    usage = record.usage
    return None if usage is None or usage.input is None else prompt_tokens(usage)


def _fate(record: Record) -> str:
    detail = f": {record.failure.detail}" if record.failure is not None else ""
    return f"{record.outcome}, {record.reason}{detail}" if record.reason else record.outcome
