"""The endpoints of a plan's models: resolved, with the embedded simulator started when the plan asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from loadrig.bound import SIMULATOR
from loadrig.execution.embedded import NAME, Embedded, embedded
from loadrig.wire.head import is_loopback
from loadrig.wire.turn import Target, resolve
from loadrig.words.settings import Plan


@dataclass(frozen=True, slots=True)
class Reached:
    """Targets by model id. `simulators`: the embedded ones. `local`: all targets are on this machine."""

    targets: Mapping[str, Target]
    base_urls: Mapping[str, str]
    simulators: Sequence[Embedded]
    local: bool
    warnings: tuple[str, ...]

    @property
    def simulated(self) -> bool:
        """Some model is an embedded simulator."""
        return bool(self.simulators)


async def check(plan: Plan) -> None:
    """Raises `InputError` for an endpoint that cannot be asked, such as one without a key, before anything starts."""
    for model in plan.model:
        if model.base_url != NAME:
            await resolve(model, model.base_url)


@asynccontextmanager
async def reach(plan: Plan, folder: Path) -> AsyncIterator[Reached]:
    """Resolves every model's endpoint; a simulator, its truth log in `folder`, runs until the end."""
    targets: dict[str, Target] = {}
    urls: dict[str, str] = {}
    warnings: list[str] = []
    async with AsyncExitStack() as stack:
        running: dict[str | None, Embedded] = {}
        for model in plan.model:
            base_url = model.base_url
            if base_url == NAME:
                model = replace(model, path=None)  # noqa: PLW2901 - it has one path, and is asked there
                if model.scenario not in running:
                    log = _unused(folder, "truth")
                    name = f"{SIMULATOR}-{len(running) + 1}" if running else SIMULATOR
                    running[model.scenario] = await stack.enter_async_context(embedded(model.scenario, log, name))
                base_url = running[model.scenario].base_url_for(model.provider)
            target = await resolve(replace(model, base_url=base_url), base_url)
            targets[model.id] = target
            urls[model.id] = (base_url or "the provider's own") + _way(target)
            warnings.extend(target.warnings)
        local = all(is_loopback(target.head.origin[1]) for target in targets.values())
        yield Reached(targets, urls, tuple(running.values()), local, tuple(dict.fromkeys(warnings)))


def _way(target: Target) -> str:
    """How its endpoint is reached, where that is not as usual: names, and no secret."""
    head, model = target.head, target.model
    told = "" if model.path is None else f" at {model.path}"
    told += f" with the headers {', '.join(sorted(model.headers))}" if model.headers else ""
    told += "" if head.certificates is None else f" {head.certificates}"
    return told if head.proxy is None else f"{told} through the proxy {head.proxy}"


def _unused(folder: Path, stem: str) -> Path:
    """`truth.jsonl`, or the first of `truth-2.jsonl`, ... that is not there: a resumed run keeps its earlier logs."""
    number = 1
    while (path := folder / f"{stem}{f'-{number}' if number > 1 else ''}.jsonl").exists():
        number += 1
    return path
