"""The endpoints of a plan's models: resolved, with the embedded simulator started when the plan asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from loadrig.execution.embedded import NAME as SIMULATOR
from loadrig.execution.embedded import embedded
from loadrig.wire.turn import Target, resolve
from loadrig.words.settings import Plan


@dataclass(frozen=True, slots=True)
class Reached:
    """Targets by model id. `simulated`: some model is the embedded simulator. `local`: all are on this machine."""

    targets: Mapping[str, Target]
    base_urls: Mapping[str, str]
    simulated: bool
    local: bool
    warnings: tuple[str, ...]


@asynccontextmanager
async def reach(plan: Plan, *, truth_log: Path) -> AsyncIterator[Reached]:
    """Resolves every model's endpoint; a simulator runs until the end. Raises `InputError`, e.g. without a key."""
    targets: dict[str, Target] = {}
    urls: dict[str, str] = {}
    warnings: list[str] = []
    async with AsyncExitStack() as stack:
        running: dict[str | None, str] = {}
        for model in plan.model:
            base_url = model.base_url
            if base_url == SIMULATOR:
                if model.scenario not in running:
                    log = truth_log if not running else truth_log.with_stem(f"truth-{len(running) + 1}")
                    running[model.scenario] = await stack.enter_async_context(embedded(model.scenario, log))
                base_url = running[model.scenario]
            target = await resolve(replace(model, base_url=base_url), base_url)
            targets[model.id] = target
            urls[model.id] = base_url or "the provider's own"
            warnings.extend(target.warnings)
        local = all(_is_loopback(url) for url in urls.values())
        yield Reached(targets, urls, bool(running), local, tuple(dict.fromkeys(warnings)))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
