"""Which records enter which figure: the one place where that is decided.

- asked: a trial of the plan (measured or tail, not warm-up) that was sent. Tokens, money, accuracy and recall are
  over these. A tail trial ran while the load was falling: as good an answer, but no fair latency.
- timed: asked, measured, and never asked before. Latency figures are over these. A trial whose earlier try was
  really sent (lost, then asked again) is not timed; one that had only been put off (not_run) is.
- due: timed, and of an open loop what was given up unsent at the end of its stage: scheduled latency is over these.
- latency success: answered, or cut off with text. Everything else that was timed ranks beyond every success.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from loadrig.log import RunFolder
from loadrig.words.record import Record

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

CONTROL = "control"
ALL = "all"  # the category that is every one


def planned(run: RunFolder) -> tuple[Record, ...]:
    """Records of the plan's own trials, warm-up left out, those not run included."""
    return tuple(record for record in run.records if record.phase != "warmup")


def asked(run: RunFolder) -> tuple[Record, ...]:
    """Records of measured and tail trials that were sent."""
    return tuple(record for record in planned(run) if record.outcome != "not_run")


def timed(run: RunFolder) -> tuple[Record, ...]:
    """Records that latency figures are made of."""
    again = {record.trial for record in run.superseded if record.outcome != "not_run"}
    return tuple(record for record in asked(run) if record.phase == "measured" and record.trial not in again)


def due(run: RunFolder) -> tuple[Record, ...]:
    """Records that scheduled latency is made of: timed ones, and measured trials that were never sent in time."""
    late = (r for r in planned(run) if r.phase == "measured" and (r.outcome, r.reason) == ("not_run", "late"))
    return (*timed(run), *late)


def in_order(run: RunFolder, records: Iterable[Record]) -> list[Record]:
    """The records by stage, repetition and trial: the first of a question is the one that intervals are over."""
    place = {name: number for number, name in enumerate(stage_names(run))}
    return sorted(records, key=lambda record: (place[record.stage], record.repetition, record.trial))


def stage_names(run: RunFolder) -> list[str]:
    """Stages in the order they ran: the manifest's, then any that only the records know."""
    listed = [str(stage["name"]) for stage in run.manifest.get("stages", [])]
    return list(dict.fromkeys([*listed, *(trial.stage for trial in run.trials), *(r.stage for r in run.records)]))


def open_stages(run: RunFolder) -> frozenset[str]:
    """Stages whose trials had due times."""
    return frozenset(str(stage["name"]) for stage in run.manifest.get("stages", []) if stage.get("open_loop"))


def arm_names(run: RunFolder) -> list[str]:
    """Arms in the plan's order (the manifest's, then any that only the trials or records know); the control first."""
    plan = run.manifest.get("plan") or {}
    listed = [str(arm["name"]) for arm in plan.get("arms") or [] if "name" in arm]
    known = dict.fromkeys([*(trial.arm for trial in run.trials), *(record.arm for record in run.records)])
    found = [*(arm for arm in listed if arm in known), *(arm for arm in known if arm not in listed)]
    return sorted(found, key=lambda arm: arm != CONTROL)


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Values under their keys, keys in order of first appearance."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def by_category(pairs: Iterable[tuple[str, V]]) -> list[tuple[str, list[V]]]:
    """Every value under `ALL`, then each category's own, categories by name."""
    pairs = list(pairs)
    return [(ALL, [value for _, value in pairs]), *sorted(grouped(pairs).items())]


def by_arm_and_model(run: RunFolder, pairs: Iterable[tuple[tuple[str, str], V]]) -> list[tuple[str, str, list[V]]]:
    """Arm, model and the values under both: arms in the plan's order, models of an arm by name."""
    order = {arm: place for place, arm in enumerate(arm_names(run))}
    groups = sorted(grouped(pairs).items(), key=lambda group: (order[group[0][0]], group[0][1]))
    return [(arm, model, values) for (arm, model), values in groups]
