"""Priming: each prefix that trials share and an endpoint is to keep is asked for once, before they fan out.

Of trials that begin together none finds a prefix that none of them has written yet: all would write it, at more than
the price of sending it plainly. So what an arm primes is asked one call after another, for each model and each caller
who will ask, before the first trial and after the probe. The calls are no trials: they stand in probes.jsonl and on a
line of the bill of their own, and the manifest lists what came of each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loadrig.corpus.view import view_of
from loadrig.cost import written_tokens
from loadrig.execution.beforehand import Beforehand, Means
from loadrig.execution.prepare import Prepared
from loadrig.wire.engine import Engine
from loadrig.words.arm import Primes
from loadrig.words.clock import SystemClock
from loadrig.words.errors import InputError, described
from loadrig.words.prompt import Prompt
from loadrig.words.record import Record

_NOTHING, _UNTOLD = "nothing was kept", "not told"


@dataclass(frozen=True, slots=True)
class Primed:
    """One call. `call`: its id in probes.jsonl, None when the budget had no room for it. `written`, `read`: tokens of
    the prefix, None when not told, as writes never are by some: read ones were kept already, by an earlier run."""

    model: str
    arm: str
    caller: tuple[str, ...]
    call: str | None
    reason: str | None = None
    written: int | None = None
    read: int | None = None

    @property
    def is_kept(self) -> bool:
        return bool(self.written or self.read)


async def prime(prepared: Prepared, means: Means) -> tuple[Primed, ...]:
    """Primes for the trials of `prepared`; nothing where no arm of theirs keeps anything. Raises `LogError`, and
    `InputError` for an arm that cannot say what."""
    wanted = _wanted(prepared, means.run)
    found = []
    if wanted:
        async with Engine(SystemClock()) as engine:
            askers = {
                model: Beforehand(prepared.plan, prepared.prices, means, means.targets[model], engine)
                for model in dict.fromkeys(model for model, _ in wanted)
            }
            for (model, prompt), (arm, caller) in wanted.items():
                found.append(await _primed(askers[model], prompt, arm, caller))
    return tuple(found)


def _wanted(prepared: Prepared, run: str) -> dict[tuple[str, Prompt], tuple[str, tuple[str, ...]]]:
    """Model and prompt of each call, once, with the first arm of the plan and the caller whose it is. Raises
    `InputError`."""
    arms = {arm.name: arm for arm in prepared.plan.arms if isinstance(arm, Primes)}
    order = list(arms)
    asking = sorted(
        {
            (trial.arm, trial.model, prepared.questions[trial.question].caller)
            for trial in prepared.trials
            if trial.arm in arms
        },
        key=lambda one: (order.index(one[0]), *one[1:]),  # trials are shuffled: whose a shared prefix is, is not
    )
    views = {caller: view_of(prepared.corpus, caller) for caller in dict.fromkeys(caller for _, _, caller in asking)}
    wanted: dict[tuple[str, Prompt], tuple[str, tuple[str, ...]]] = {}
    for arm, model, caller in asking:
        try:
            prompts = arms[arm].primes(views[caller], caller, run)
        except Exception as error:  # a plan may name anybody's arm
            remedy = "correct its primes, or leave it out: it is no part of an arm that has to be there"
            raise InputError(f"arm {arm!r} cannot say what to prime: {described(error)}", remedy=remedy) from error
        for prompt in prompts:
            wanted.setdefault((model, prompt), (arm, caller))
    return wanted


async def _primed(asker: Beforehand, prompt: Prompt, arm: str, caller: tuple[str, ...]) -> Primed:
    model = asker.target.model.id
    if not asker.room():
        return Primed(model, arm, caller, None, "the budget has no room for it")
    record, _ = await asker.ask(prompt, purpose="prime", arm=arm, caller=caller)
    written, read = _tokens(record)
    reason = record.reason if record.outcome == "failed" else None
    return Primed(model, arm, caller, record.trial, reason, written, read)


def _tokens(record: Record) -> tuple[int | None, int | None]:
    usage = record.usage
    if usage is None or usage.cache_read is None:
        return None, None
    is_told = usage.cache_write_5m is not None or usage.cache_write_1h is not None
    return written_tokens(usage) if is_told else None, usage.cache_read


def troubles(found: Iterable[Primed]) -> tuple[str, ...]:
    """What did not come of it, in words."""
    return tuple(
        f"priming the cache of {one.arm} at {one.model}"
        + (f" for {', '.join(one.caller)}" if one.caller else "")
        + (f" failed: {one.reason}" if one.reason else f": {_UNTOLD if one.written is None else _NOTHING}")
        for one in found
        if one.reason is not None or not one.is_kept
    )
