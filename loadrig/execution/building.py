"""What an arm has a model make before the first trial, once: asked for, kept, and handed to the workers.

Rules: one artefact for each arm, model and set of labels that asks, never shared between callers. Each of its calls is
kept outside of the run, under the hash of all that it depends on: prompt, model, endpoint and caller; whoever asks the
same again, in this run or another, is not charged again. What a call cost when it was made is kept with it, so a report
can tell what the artefact is worth even where this run paid nothing. Calls are made as many at once as the load has
trials in flight, with a budget one by one. A call that fails ends the artefact, not the run: the arm's trials then
fail, and the manifest says why.

Calls are on record in probes.jsonl and on a line of the bill of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import msgspec

from loadrig.corpus.view import view_of
from loadrig.cost import prompt_tokens, total, total_of
from loadrig.execution.beforehand import Beforehand, Means
from loadrig.execution.estimate import TOKEN_RATIO
from loadrig.execution.prepare import Prepared
from loadrig.wire.engine import Engine
from loadrig.words.arm import Builds
from loadrig.words.clock import SystemClock
from loadrig.words.errors import LogError, TurnFailed, described
from loadrig.words.prompt import Prompt, Reply
from loadrig.words.record import Failure, Record, Usage
from loadrig.words.settings import ModelSettings

Key = tuple[str, str, tuple[str, ...]]  # arm, model, caller
AT_ONCE = 8  # calls, in open loop, where no number of trials in flight is set


class Kept(msgspec.Struct, frozen=True):
    """A call that was made: its text, in which run and when, and what it cost then; None: unknown."""

    text: str
    run: str
    made_at: str
    prompt_tokens: int
    output_tokens: int
    cost: str | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class Built:
    """One artefact. `calls` it took, of which `paid` in this session, the others earlier; `cost`: of all of them, when
    they were made, None when one is unknown or was paid in another currency than `currency`, the run's; `cost_now`: of
    those paid in this session. `made_from`, `made_to`: labels of when. `reason`: why there is none."""

    arm: str
    model: str
    caller: tuple[str, ...]
    calls: int
    paid: int
    prompt_tokens: int
    output_tokens: int
    cost: str | None
    cost_now: str | None
    currency: str
    made_from: str | None
    made_to: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What building comes to: artefacts, the model's prompt tokens, and money; None: a model has no price."""

    artefacts: int
    prompt_tokens: int
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class Shelf:
    """The artefacts themselves, and what is told of each."""

    artefacts: Mapping[Key, str] = field(default_factory=dict)
    told: tuple[Built, ...] = ()


def wanted(prepared: Prepared) -> tuple[Key, ...]:
    """Which artefacts the trials of `prepared` need."""
    arms = {arm.name for arm in prepared.plan.arms if isinstance(arm, Builds)}
    asking = (
        (trial.arm, trial.model, tuple(sorted(set(prepared.questions[trial.question].caller))))
        for trial in prepared.trials
        if trial.arm in arms
    )
    return tuple(dict.fromkeys(asking))


async def build(prepared: Prepared, means: Means) -> Shelf:
    """Builds what is wanted, one artefact after another. Raises `LogError`."""
    artefacts: dict[Key, str] = {}
    told: list[Built] = []
    models = {model.id: model for model in prepared.plan.model}
    builders = {arm.name: arm for arm in prepared.plan.arms if isinstance(arm, Builds)}
    async with Engine(SystemClock()) as engine:
        for arm, model, caller in wanted(prepared):
            asker = Beforehand(prepared.plan, prepared.prices, means, means.targets[model], engine)
            calls = _Calls(asker, models[model], arm, caller, at_once=_at_once(prepared))
            reason = None
            try:
                artefacts[arm, model, caller] = await builders[arm].build(view_of(prepared.corpus, caller), calls.ask)
            except TurnFailed as failed:
                reason = f"{failed.failure.reason}: {failed.failure.detail}"
            except LogError:
                raise
            except Exception as error:  # noqa: BLE001 - arms are foreign code; what is wrong with one, its trials say
                reason = described(error)
            told.append(calls.told(reason))
    return Shelf(artefacts, tuple(told))


def troubles(told: Iterable[Built]) -> tuple[str, ...]:
    """What could not be built, in words."""
    return tuple(
        f"{one.arm} at {one.model}"
        + (f" for {', '.join(one.caller)}" if one.caller else "")
        + f" has nothing to answer from, so its trials will fail: {one.reason}"
        for one in told
        if one.reason is not None
    )


class _Calls:
    """The calls of one artefact."""

    def __init__(
        self, asker: Beforehand, model: ModelSettings, arm: str, caller: tuple[str, ...], *, at_once: int
    ) -> None:
        self._asker, self._model, self._arm, self._caller = asker, model, arm, caller
        self._slots = asyncio.Semaphore(at_once)
        self._used: list[Kept] = []
        self._paid: list[Record] = []
        self._failed: Failure | None = None

    async def ask(self, prompt: Prompt) -> str:
        """The text of a reply to the prompt, kept from an earlier call or made now. Raises `TurnFailed`, and from then
        on for every call: those under way are waited for, no other is begun."""
        place = _place(prompt, self._model, self._caller)
        kept = _read(place)
        if kept is None:
            async with self._slots:
                if self._failed is None:
                    kept = await self._made(prompt)
            if kept is None:
                assert self._failed is not None, "no text and no failure"
                raise TurnFailed(self._failed)
            _write(place, kept)
        self._used.append(kept)
        return kept.text

    async def _made(self, prompt: Prompt) -> Kept | None:
        if not self._asker.room():
            self._failed = Failure("budget", "the budget has no room for the next call")
            return None
        record, reply = await self._asker.ask(prompt, purpose="summarise", arm=self._arm, caller=self._caller)
        self._paid.append(record)
        if reply is None or reply.stop != "end" or not reply.text.strip():
            self._failed = record.failure or Failure(record.reason or "empty", _ended(reply))
            return None
        usage = record.usage or Usage()
        return Kept(
            text=reply.text.strip(),
            run=record.run,
            made_at=record.began_at or "",
            prompt_tokens=prompt_tokens(usage),
            output_tokens=usage.output or 0,
            cost=record.cost,
            currency=record.currency,
        )

    def told(self, reason: str | None) -> Built:
        """What is told of the artefact."""
        currency = self._asker.currency
        costs = [kept.cost if kept.currency == currency else None for kept in self._used]
        now = [record.cost for record in self._paid]
        when = sorted(kept.made_at for kept in self._used)
        return Built(
            arm=self._arm,
            model=self._model.id,
            caller=self._caller,
            calls=len(self._used),
            paid=len(self._paid),
            prompt_tokens=sum(kept.prompt_tokens for kept in self._used),
            output_tokens=sum(kept.output_tokens for kept in self._used),
            cost=total_of(costs),
            cost_now=total_of(now),
            currency=currency,
            made_from=when[0] if when else None,
            made_to=when[-1] if when else None,
            reason=reason,
        )


def _ended(reply: Reply | None) -> str:
    return "no reply" if reply is None else f"a reply that ended as {reply.stop}, of {len(reply.text)} characters"


def _at_once(prepared: Prepared) -> int:
    load, budget = prepared.plan.load, prepared.plan.budget
    if budget.money is not None or budget.tokens is not None:
        return 1  # what a call costs is known when it has ended
    return AT_ONCE if load.is_open else max(load.levels)


def _place(prompt: Prompt, model: ModelSettings, caller: tuple[str, ...]) -> Path:
    """Where a call is kept: by all that its reply depends on."""
    scenario = model.scenario or ""
    told = Path(scenario).read_bytes() if scenario and Path(scenario).is_file() else scenario.encode()
    of = (1, model.id, model.provider, model.base_url, model.max_tokens, told, caller, prompt)
    name = sha256(msgspec.json.encode(of)).hexdigest()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "loadrig" / "built" / name[:2] / f"{name}.json"


def _read(place: Path) -> Kept | None:
    """A call that was kept; None when there is none, or one that cannot be read."""
    try:
        return msgspec.json.decode(place.read_bytes(), type=Kept)
    except (OSError, msgspec.DecodeError):
        return None


def _write(place: Path, kept: Kept) -> None:
    """Written aside and renamed. Where it cannot be written it is made again another time."""
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            file.write(msgspec.json.encode(kept))
        Path(file.name).replace(place)


def foreseen(prepared: Prepared) -> Foreseen | None:
    """What building comes to if nothing of it is kept; None when nothing is to be built."""
    keys = wanted(prepared)
    if not keys:
        return None
    builders = {arm.name: arm for arm in prepared.plan.arms if isinstance(arm, Builds)}
    day, tokens, costs = datetime.now(UTC).date(), 0, list[Decimal | None]()
    for arm, model, caller in keys:
        prompt, output = builders[arm].build_tokens(view_of(prepared.corpus, caller).corpus)
        usage = Usage(input=round(prompt * TOKEN_RATIO), output=round(output * TOKEN_RATIO))
        tokens += prompt_tokens(usage)
        costs.append(prepared.prices.cost(model, usage, day).amount)
    known = [cost for cost in costs if cost is not None]
    return Foreseen(len(keys), tokens, total(known) if len(known) == len(costs) else None)
