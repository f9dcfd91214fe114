"""A run's folder and its manifest: written at the start, completed at the end.

No key and no header of a request is ever in it. Wall times are labels.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import msgspec

from loadrig import __version__
from loadrig.arms import instructions
from loadrig.corpus.facts import NAME as DOCUMENTS
from loadrig.corpus.ledger import read_ledger
from loadrig.cost import Price, Rates, pays_from
from loadrig.execution import changing
from loadrig.execution.building import Built
from loadrig.execution.estimate import ASSUMED
from loadrig.execution.prepare import Prepared
from loadrig.execution.priming import Primed
from loadrig.execution.targets import Reached
from loadrig.fleet.selfwatch import SelfWatch
from loadrig.log import INVENTED, MANIFEST, PLAN, QUESTIONS, Invented, count_records, write_json, write_lines
from loadrig.measures.recall import CREDITING_RULE
from loadrig.retrievers.fingerprint import fingerprint
from loadrig.wire.proxy import told_url
from loadrig.words.clock import SystemClock
from loadrig.words.errors import LogError
from loadrig.words.prompt import Lifetime
from loadrig.words.safeguard import Safeguard
from loadrig.words.settings import Fleet, Plan
from loadrig.words.trial import Stage, Trial

LIBRARIES = ("anthropic", "bm25s", "httptools", "rank-bm25", "ray", "snowballstemmer", "tiktoken", "uvloop")


@contextmanager
def opened(out: Path, plan: Plan, named: Path | None) -> Iterator[Path]:
    """The run's folder: the one that was named, or a new one below `out`; a new one goes again when no manifest came
    into it."""
    is_new = named is None or not named.exists()
    folder = named or _new_folder(out, plan)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if is_new and not (folder / MANIFEST).exists():
            shutil.rmtree(folder)


def _new_folder(out: Path, plan: Plan) -> Path:
    """`out/<plan>-<UTC time>`; a number is added when two runs begin in one second."""
    stem = f"{plan.name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    for name in (stem, *(f"{stem}-{number}" for number in range(2, 1000))):
        folder = out / name
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(stem)


@dataclass(frozen=True, slots=True)
class Session:
    """One going at a run: the first call, or a resume."""

    command_line: str
    fleet: Fleet = "inline"


def begin(
    folder: Path, prepared: Prepared, reached: Reached, session: Session, resumed: dict[str, Any] | None
) -> dict[str, Any]:
    """Writes the manifest as known at the start, and trials and questions of a new run; returns the manifest."""
    manifest = resumed
    if manifest is None:
        write_lines(folder / PLAN, prepared.trials)
        write_lines(folder / QUESTIONS, prepared.questions.values())
        if prepared.facts:
            write_lines(folder / DOCUMENTS, prepared.facts)
        ledger = read_ledger(Path(prepared.plan.corpus.path))
        if ledger is not None:
            write_json(folder / INVENTED, Invented(ledger.canary, tuple(one.name for one in ledger.names)))
        if prepared.change is not None:
            changing.write(folder, prepared.change)
        manifest = {"run": folder.name, **_described(prepared), "command_line": session.command_line, "sessions": []}
        manifest |= {"simulated": reached.simulated, "warnings": list(prepared.warnings)}
        manifest |= {"self_measurement": [], "stamps": [], "clocks": []}
    manifest["status"], manifest["ended_at"] = "running", None
    manifest["endpoints"] = dict(reached.base_urls)
    manifest["workers"] = []
    manifest["sessions"].append(
        {
            "began_at": SystemClock().label(),
            "ended_at": None,
            "records": count_records(folder),
            "command_line": session.command_line,
            "fleet": session.fleet,
        }
    )
    write_json(folder / MANIFEST, manifest)
    return manifest


def note_workers(folder: Path, manifest: dict[str, Any], workers: Iterable[tuple[str, int, str | None]]) -> None:
    """Adds the workers of this session: names, process ids and, for those on another machine, its address."""
    manifest["workers"] = [{"name": name, "pid": pid, "host": host} for name, pid, host in workers]
    write_json(folder / MANIFEST, manifest)


def note_built(folder: Path, manifest: dict[str, Any], told: Sequence[Built]) -> None:
    """Adds what was built before the first trial of this session, when, and what it cost then."""
    manifest["built"] = [*manifest.get("built", []), *map(asdict, told)]
    write_json(folder / MANIFEST, manifest)


def note_safeguards(folder: Path, manifest: dict[str, Any], found: Sequence[Safeguard]) -> None:
    """Adds what was checked before the first trial of this session."""
    manifest["safeguards"] = [*manifest.get("safeguards", []), *map(asdict, found)]
    write_json(folder / MANIFEST, manifest)


def note_priming(folder: Path, manifest: dict[str, Any], found: Sequence[Primed]) -> None:
    """Adds what came of priming caches before the first trial of this session."""
    if found:
        manifest["priming"] = [*manifest.get("priming", []), *map(asdict, found)]
        write_json(folder / MANIFEST, manifest)


def add_stage(folder: Path, manifest: dict[str, Any], stage: Stage, trials: Sequence[Trial]) -> None:
    """Plans one more stage of a run that has begun: its trials, then the stage. Raises `LogError`."""
    try:
        with (folder / PLAN).open("ab") as file:
            file.writelines(msgspec.json.encode(trial) + b"\n" for trial in trials)
    except OSError as error:
        raise LogError(f"{folder}: the plan cannot be written: {error}") from error
    manifest["stages"].append(asdict(stage))
    write_json(folder / MANIFEST, manifest)


def complete(
    folder: Path,
    manifest: dict[str, Any],
    *,
    status: str,
    watch: SelfWatch,
    warnings: Sequence[str],
) -> None:
    """Writes the manifest as known at the end. What an earlier part of a resumed run measured stays in it."""
    manifest["status"] = status
    manifest["ended_at"] = manifest["sessions"][-1]["ended_at"] = SystemClock().label()
    manifest["self_measurement"] = [*manifest["self_measurement"], *map(asdict, watch.measurements())]
    manifest["stamps"] = [*manifest.get("stamps", []), *watch.stamps()]
    manifest["clocks"] = [*manifest.get("clocks", []), *watch.clocks()]
    manifest["warnings"] = list(dict.fromkeys([*manifest["warnings"], *warnings]))
    write_json(folder / MANIFEST, manifest)


def _described(prepared: Prepared) -> dict[str, Any]:
    """What a run is made of: plan, versions, machine, prices, corpus, indexes, prompts, estimate; of a screening, what
    became of its plan."""
    plan, corpus, estimate = prepared.plan, prepared.corpus, prepared.estimate
    return {
        "plan": plan_as_json(plan),
        "version": __version__,
        "versions": {name: version(name) for name in LIBRARIES},
        "python": platform.python_version(),
        "machine": _machine(),
        "began_at": SystemClock().label(),
        "seed": plan.seed,
        "currency": prepared.prices.currency,
        "price_table": {"user": plan.prices.path, "rows": _price_rows(prepared)},
        "caches": _caches(prepared),
        "corpus": {
            "name": corpus.name,
            "sha256": corpus.sha256,
            "documents": len(corpus.documents),
            "chunks": len(corpus.chunks),
            "tokens": corpus.tokens,
            "skipped": [asdict(one) for one in corpus.skipped],
            "estimator": corpus.estimator,
        },
        "questions": {"asked": len(prepared.questions), "left_out": list(prepared.left_out)},
        "index": {name: _index(prepared, name) for name in prepared.index_ns},
        "instructions": {
            name: sha256(getattr(instructions, name).encode()).hexdigest() for name in ("DIRECT", "WITH_TOOLS")
        },
        "crediting_rule": CREDITING_RULE,
        "stages": [asdict(stage) for stage in prepared.stages],
        "estimate": {
            "prompt_tokens": estimate.prompt_tokens,
            "output_tokens": estimate.output_tokens,
            "cost": None if estimate.cost is None else f"{estimate.cost:f}",
            "arms": [{**asdict(one), "ratio": str(one.ratio)} for one in estimate.arms],
            "assumed": list(ASSUMED),
            "notes": list(estimate.notes),
        },
        **({} if prepared.screened is None else {"screen": True, "screening": asdict(prepared.screened)}),
        **({} if prepared.change is None else {"update": changing.described(prepared.change, plan, corpus)}),
    }


def plan_as_json(plan: Plan) -> dict[str, Any]:
    """The plan as resolved, each arm with its name and every option. A proxy's user and password are not in it."""
    table = asdict(plan)
    for model in table["model"]:
        model["proxy"] = model["proxy"] and told_url(model["proxy"])
    table["arms"] = [{"name": arm.name, "kind": _kind(arm), **asdict(arm)} for arm in plan.arms]  # type: ignore[call-overload]
    return table


def _kind(arm: object) -> str:
    return f"{type(arm).__module__}:{type(arm).__qualname__}"


def _price_rows(prepared: Prepared) -> list[dict[str, Any]]:
    day = datetime.now(UTC).date()
    found = [prepared.prices.price(model.id, day) for model in prepared.plan.model]
    return [_price_row(row) for row in found if row is not None]


def _price_row(row: Price) -> dict[str, Any]:
    """With its rates, so that what a price does to a bill can be told from the run's folder alone."""
    return {
        "model": row.model,
        "effective_from": str(row.effective_from),
        "source": row.source,
        "seen": str(row.seen),
        "rates": _rates(row.rates),
        "tiers": [{"above_prompt_tokens": tier.above_prompt_tokens, "rates": _rates(tier.rates)} for tier in row.tiers],
        "multipliers": {name: f"{factor:f}" for name, factor in row.multipliers},
    }


def _rates(rates: Rates) -> dict[str, str]:
    return {name: f"{rate:f}" for name, rate in asdict(rates).items()}


def _caches(prepared: Prepared) -> list[dict[str, Any]]:
    """Of each model with a price: from how many tokens on its endpoint caches a prefix, and from how many questions on
    that pays, by lifetime, primed by a call of its own and not."""
    day = datetime.now(UTC).date()
    found = [(model.id, prepared.prices.price(model.id, day)) for model in prepared.plan.model]
    return [
        {
            "model": model,
            "minimum": row.cache_minimum,
            "pays_from": {lasts: pays_from(row.rates, lasts, primed=True) for lasts in get_args(Lifetime)},
            "pays_from_unprimed": {lasts: pays_from(row.rates, lasts, primed=False) for lasts in get_args(Lifetime)},
        }
        for model, row in found
        if row is not None
    ]


def _index(prepared: Prepared, name: str) -> dict[str, Any]:
    return {"build_ns": prepared.index_ns[name], "sha256": fingerprint(prepared.indexes[name])}


def _machine() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "load_average_at_start": [round(one, 2) for one in os.getloadavg()],
    }
