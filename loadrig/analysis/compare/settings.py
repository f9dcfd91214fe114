"""The one-variable check: what differs between two sides, as their manifests and requests say.

One thing that differs is what is compared; with more than one nobody can say which made a difference. Options of an arm
count one by one, and another kind of arm once. Seeds, repetitions, machines and versions of libraries are chance or
surroundings: named, not counted. An index that is not the same counts where nothing says why: not beside another
corpus or retriever, from which it follows. What neither manifest says is "not checked", never "alike". Where nothing
differs, the first requests of both sides are compared, byte for byte, by their hashes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from loadrig.analysis.compare.sides import Side
from loadrig.log import RunFolder

UNKNOWN = "unknown"
_MOST = 160
_INDEXED = ("corpus", "passages", "loadrig")  # another one makes another index
# Options of our own arms that came with a later version, as they were before: no manifest without them differs by that.
_BEFORE: Mapping[str, object] = {
    "chronology": True, "rejected": True, "ids": True, "order": "date", "mixed_rights": False, "query": "last",
    "cache": "off", "cold": False, "prime": True, "citations": "off", "results": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Changed:
    """One thing, as it is on either side."""

    what: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Settings:
    """`counted`: what differs; `beside`: what differs as chance and surroundings do; `unchecked`: what neither manifest
    says. `alike` of `requests` questions were first asked in the same bytes."""

    counted: tuple[Changed, ...]
    beside: tuple[Changed, ...]
    unchecked: tuple[str, ...]
    alike: int
    requests: int


def settings(a: Side, b: Side) -> Settings:
    """What differs between the sides."""
    one_run = a.run.path.resolve() == b.run.path.resolve()
    common, same = a.questions.keys() & b.questions.keys(), a.model == b.model
    first, second = (_variables(side, common, same=same) for side in (a, b))
    counted = [*_changed(first, second), *_arm(a, b), *_retrievers(a, b)]
    if not any(one.what in _INDEXED or one.what.startswith(("arm", "retriever")) for one in counted):
        counted += _indexes(a, b)
    unchecked = () if one_run else tuple(what for what in first if first[what] is None and second[what] is None)
    alike, requests = _sent(a, b)
    if not counted and alike < requests:
        counted.append(Changed("first requests, by their bytes", "", f"{requests - alike} of {requests} differ"))
    beside = tuple(_changed(_surroundings(a.run), _surroundings(b.run)))
    return Settings(tuple(counted), beside, unchecked, alike, requests)


def _changed(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Changed]:
    for what, of_a in first.items():
        of_b = second[what]
        if of_a != of_b:
            yield Changed(what, _told(of_a), _told(of_b))


def _variables(side: Side, common: Collection[str], *, same: bool) -> dict[str, Any]:
    """What a comparison is meant to vary, each under one name. Of another model (`same` False) what follows from its
    being another is left out."""
    manifest, plan = side.run.manifest, side.run.manifest.get("plan") or {}
    model: Mapping[str, Any] = next((one for one in plan.get("model") or [] if one.get("id") == side.model), {})
    corpus, cut = manifest.get("corpus") or {}, plan.get("corpus") or {}
    simulated = bool(manifest.get("simulated"))
    prices = [row for row in (manifest.get("price_table") or {}).get("rows") or [] if row.get("model") == side.model]
    asked = [side.run.questions[name] for name in sorted(common) if name in side.run.questions]
    replied = sorted({turn.reply_model for record in side.asked for turn in record.turns if turn.reply_model})
    found = {
        "corpus": corpus.get("sha256"),
        "documents that change in mid-run": _update(manifest.get("update")),
        "questions": _digest([[q.id, q.question, q.reference, q.must_contain] for q in asked]),
        "grading": side.run.grading.by if side.run.grading else "pre-check",
        "passages": [cut.get("chunk_tokens"), cut.get("chunk_overlap")] if cut else None,
        "instructions": _digest(manifest.get("instructions")),
        "crediting rule": manifest.get("crediting_rule"),
        "model": side.model,
        "provider": model.get("provider", "anthropic"),
        "max_tokens": model.get("max_tokens"),
        "endpoint": "simulator" if simulated else model.get("base_url", "provider's own" if model else None),
        "load": _load(plan.get("load") or {}),
        "limits": plan.get("limits"),
        "retries": plan.get("retry"),
        "loadrig": manifest.get("version"),
    }
    if simulated:
        found["scenario of the simulator"] = model.get("scenario", "") or "default"
    return {**found, "prices": prices or None, "model that replied": replied or None} if same else found


def _update(update: Mapping[str, Any] | None) -> str:
    return "none" if update is None else f"to {_told(update.get('sha256'))} after {update.get('after_s')} s"


def _arm(a: Side, b: Side) -> Iterator[Changed]:
    first, second = (_options(side) for side in (a, b))
    if first is None or second is None or first.get("kind") != second.get("kind"):
        if a.arm != b.arm or (first is not None and second is not None):
            yield Changed("arm", a.arm, b.arm)
        return
    before = _BEFORE if str(first.get("kind")).startswith("loadrig.arms.") else {}
    for option in dict.fromkeys([*first, *second]):
        of_a, of_b = (of.get(option, before.get(option)) for of in (first, second))
        if option not in ("name", "kind") and of_a != of_b:
            yield Changed(f"arm's {option}", _told(of_a), _told(of_b))


def _options(side: Side) -> dict[str, Any] | None:
    arms = (side.run.manifest.get("plan") or {}).get("arms") or []
    return next((arm for arm in arms if arm.get("name") == side.arm), None)


def _retrievers(a: Side, b: Side) -> Iterator[Changed]:
    """Options of the retrievers that both arms search through, by the names that the plans gave them."""
    first, second = (_tables(side) for side in (a, b))
    for name in first:
        for option in dict.fromkeys([*first[name], *second.get(name, {})]):
            of_a, of_b = (of.get(name, {}).get(option) for of in (first, second))
            if name in second and of_a != of_b:
                yield Changed(f"retriever {name}: {option}", _told(of_a), _told(of_b))


def _tables(side: Side) -> dict[str, dict[str, Any]]:
    """Kind and options of each retriever with a table that the arm searches through."""
    rows = (side.run.manifest.get("plan") or {}).get("retriever") or []
    tables = {row["name"]: {"kind": row["kind"], **row["options"]} for row in rows}
    found: dict[str, dict[str, Any]] = {}
    todo: list[Any] = [_options(side)]
    while todo:
        for name in _named(todo.pop(), tables):
            if name not in found:
                found[name] = tables[name]
                todo.append(tables[name])
    return found


def _indexes(a: Side, b: Side) -> Iterator[Changed]:
    first, second = (
        {name: built[name].get("sha256") for name in _named(_options(side), built)}
        for side in (a, b)
        for built in [side.run.manifest.get("index") or {}]
    )
    for name, digest in first.items():
        if digest and second.get(name) and digest != second[name]:
            yield Changed(f"index of {name}, by its hash", _told(digest), _told(second[name]))


def _named(value: Any, names: Collection[str]) -> Iterator[str]:
    """Those of the names that stand somewhere in a JSON value, as values."""
    if isinstance(value, str) and value in names:
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _named(inner, names)


def _surroundings(run: RunFolder) -> dict[str, Any]:
    manifest, plan = run.manifest, run.manifest.get("plan") or {}
    machine = manifest.get("machine") or {}
    return {
        "seed": manifest.get("seed"),
        "repetitions": plan.get("repetitions"),
        "machine": [machine.get("system"), machine.get("processors")],
        "python": manifest.get("python"),
        "libraries": manifest.get("versions"),
    }


def _sent(a: Side, b: Side) -> tuple[int, int]:
    """Of the questions whose first requests are on record on both sides, those that were asked in the same bytes."""
    first, second = (
        {name: records[0].turns[0].prompt for name, records in side.questions.items() if records[0].turns}
        for side in (a, b)
    )
    common = [name for name in first if second.get(name) and first[name]]
    return sum(first[name] == second[name] for name in common), len(common)


def _load(load: Mapping[str, Any]) -> dict[str, Any] | None:
    """Without what is switched off, so that an option that came with a later version is no difference."""
    return {name: value for name, value in load.items() if value not in (None, 0, False)} or None


def _digest(value: object) -> str | None:
    return sha256(msgspec.json.encode(value)).hexdigest() if value else None


def _told(value: object) -> str:
    if value is None:
        return UNKNOWN
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = text[:12] if len(text) == 64 and text.isalnum() else text
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
