"""The endpoints of a plan's models: resolved, with the embedded simulator started when the plan asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from loadrig.execution.embedded import NAME as SIMULATOR
from loadrig.execution.embedded import embedded
from loadrig.outside import get_json
from loadrig.wire.head import is_loopback
from loadrig.wire.turn import Target, resolve
from loadrig.words.errors import InputError
from loadrig.words.settings import Plan

LATE_MS = 5.0


@dataclass(frozen=True, slots=True)
class Reached:
    """Targets by model id. `simulators`: base URLs of embedded ones. `local`: all targets are on this machine."""

    targets: Mapping[str, Target]
    base_urls: Mapping[str, str]
    simulators: Sequence[str]
    local: bool
    warnings: tuple[str, ...]

    @property
    def simulated(self) -> bool:
        """Some model is an embedded simulator."""
        return bool(self.simulators)

    async def target_warnings(self) -> list[str]:
        """What the simulators say against themselves: on one machine their own lateness is in every latency."""
        found = []
        for url in self.simulators:
            try:
                late_ms = (await asyncio.to_thread(get_json, f"{url}/_sim/stats"))["lateness_p99_ms"]
            except InputError:
                continue  # it is gone: the records say so
            if late_ms is not None and late_ms > LATE_MS:
                found.append(f"the simulator itself was late: p99 {late_ms:.1f} ms, contained in every latency")
        return found


async def check(plan: Plan) -> None:
    """Raises `InputError` for an endpoint that cannot be asked, such as one without a key, before anything starts."""
    for model in plan.model:
        if model.base_url != SIMULATOR:
            await resolve(model, model.base_url)


@asynccontextmanager
async def reach(plan: Plan, folder: Path) -> AsyncIterator[Reached]:
    """Resolves every model's endpoint; a simulator, its truth log in `folder`, runs until the end."""
    targets: dict[str, Target] = {}
    urls: dict[str, str] = {}
    warnings: list[str] = []
    async with AsyncExitStack() as stack:
        running: dict[str | None, str] = {}
        for model in plan.model:
            base_url = model.base_url
            if base_url == SIMULATOR:
                if model.scenario not in running:
                    log = _unused(folder, "truth")
                    running[model.scenario] = await stack.enter_async_context(embedded(model.scenario, log))
                base_url = running[model.scenario]
            target = await resolve(replace(model, base_url=base_url), base_url)
            targets[model.id] = target
            way = "" if target.head.proxy is None else f" through the proxy {target.head.proxy}"
            urls[model.id] = (base_url or "the provider's own") + way
            warnings.extend(target.warnings)
        local = all(is_loopback(target.head.origin[1]) for target in targets.values())
        yield Reached(targets, urls, tuple(running.values()), local, tuple(dict.fromkeys(warnings)))


def _unused(folder: Path, stem: str) -> Path:
    """`truth.jsonl`, or the first of `truth-2.jsonl`, ... that is not there: a resumed run keeps its earlier logs."""
    number = 1
    while (path := folder / f"{stem}{f'-{number}' if number > 1 else ''}.jsonl").exists():
        number += 1
    return path
