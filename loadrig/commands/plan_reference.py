"""Writes docs/plan-reference.md from the classes that a plan is read into, so that the page can say nothing else.

    python -m loadrig.commands.plan_reference docs/plan-reference.md

Rules: a table's text is its class's docstring, a key's note the comment behind its field; kinds and limits come from
the annotations that validate it. The same code gives the same bytes.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from loadrig.arms import ARMS
from loadrig.objectives import ERRORS, EXAMPLE, MEASURES
from loadrig.retrievers import RETRIEVERS
from loadrig.words.settings import Plan
from loadrig.words.study import StudySettings

_OPENING = """# Plan reference

Every table and key of a plan, and of a study's file, made from the code that reads them
(`python -m loadrig.commands.plan_reference`). A plan is TOML; every key has a default unless it says *required*; an
unknown key is an error with a "did you mean". Paths are relative to the folder that loadrig is called in. Durations are
seconds. *None* in a text means that the key is absent. A worked example stands in the README.
"""
_LISTS = ("model", "run")  # written as [[model]], once for each
_ELSEWHERE = ("retriever", "arms", "objectives")  # have sections of their own
_PLAIN = {int: "whole number", float: "number", str: "text", bool: "true or false"}


def reference() -> str:
    """The page, as Markdown."""
    return "\n".join((_OPENING, *_plan(), *_objectives(), *_arms(), *_retrievers(), *_study())).rstrip("\n") + "\n"


def _plan() -> Iterator[str]:
    tables = [field for field in fields(Plan) if field.name not in _ELSEWHERE and _table_of(Plan, field) is not None]
    plain = [field for field in fields(Plan) if field.name not in _ELSEWHERE and field not in tables]
    yield from ("## Top level", "", "Before the first table of the file.", "", *_rows(Plan, plain), "")
    for field in tables:
        kind = _table_of(Plan, field)
        assert kind is not None
        yield from _section(f"[[{field.name}]]" if field.name in _LISTS else f"[{field.name}]", kind)


def _section(title: str, kind: type[Any]) -> Iterator[str]:
    """One table, and behind it those within it."""
    inner = [field for field in fields(kind) if _table_of(kind, field) is not None]
    plain = [field for field in fields(kind) if field not in inner]
    yield from (f"## `{title}`", "", _docstring(kind), "", *_rows(kind, plain), "")
    for field in inner:
        below = _table_of(kind, field)
        assert below is not None
        yield from _section(f"[{title.strip('[]')}.{field.name}]", below)


def _objectives() -> Iterator[str]:
    names = ", ".join(f"`{name}_pNN`" for name in MEASURES)
    yield from (
        "## `[objectives]`",
        "",
        f"What a load must keep, {EXAMPLE}. A key is one of {names}, NN being any quantile from 01 to 99, with a "
        f"duration as its limit, or `{ERRORS}`, with a share. What they mean: [sweeps](sweeps.md).",
        "",
    )


def _arms() -> Iterator[str]:
    yield from (
        "## `[[arm]]`",
        "",
        "`kind` names one of those below, or a class of your own as `module:attr` ([extending](extending.md)); the "
        "other keys are its options. A list, where an option is none itself, makes one arm of each value. What each "
        "arm does: [arms](arms.md).",
        "",
    )
    for name, target in ARMS.items():
        yield from _kind(f'kind = "{name}"', target)


def _retrievers() -> Iterator[str]:
    yield from (
        "## `[[retriever]]`",
        "",
        "A retriever with options of its own: `name` is what arms call it by, `kind` one of those below or "
        "`module:attr`. Without options the kind's name can stand in an arm as it is. How each works: "
        "[retrievers](retrievers.md).",
        "",
    )
    for name, target in RETRIEVERS.items():
        yield from _kind(f'kind = "{name}"', target)


def _study() -> Iterator[str]:
    tables = [field for field in fields(StudySettings) if _table_of(StudySettings, field) is not None]
    plain = [field for field in fields(StudySettings) if field not in tables]
    yield from ("## A study", "", "A file of its own, for `loadrig study`: several runs of what one plan shares.", "")
    yield from (*_rows(StudySettings, plain), "")
    for field in tables:
        kind = _table_of(StudySettings, field)
        assert kind is not None
        yield from _section(f"[[{field.name}]]" if field.name in _LISTS else f"[{field.name}]", kind)
    yield "What a study does: [a study](study.md)."


def _kind(title: str, target: str) -> Iterator[str]:
    module, _, attribute = target.partition(":")
    kind = getattr(import_module(module), attribute)
    options = list(fields(kind))
    table = _rows(kind, options) if options else ["It has no options."]
    yield from (f"### `{title}`", "", _docstring(kind), "", *table, "")


def _rows(kind: type[Any], shown: list[Field[Any]]) -> list[str]:
    hints, notes = get_type_hints(kind, include_extras=True), _comments(kind)
    rows = ["| key | value | default | |", "|---|---|---|---|"]
    for field in shown:
        cells = (f"`{field.name}`", _value(hints[field.name]), _default(field), notes.get(field.name, ""))
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return rows


def _comments(kind: type[Any]) -> dict[str, str]:
    """What stands behind a field as a comment."""
    found = re.findall(r"^    (\w+): [^#\n]*?  # (?!type:|noqa)(.*)$", inspect.getsource(kind), re.MULTILINE)
    return {name: note.strip() for name, note in found}


def _docstring(kind: type[Any]) -> str:
    return " ".join(inspect.getdoc(kind).split()) if inspect.getdoc(kind) else ""  # type: ignore[union-attr]


def _table_of(kind: type[Any], field: Field[Any]) -> type[Any] | None:
    """The class of a field that is a table of its own, be it optional or one of many."""
    hint = get_type_hints(kind)[field.name]
    for one in (hint, *get_args(hint)):
        if isinstance(one, type) and is_dataclass(one):
            return one
    return None


def _value(hint: Any) -> str:
    """What may stand there, in words: kind, choices, limits."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        limits = [text for one in inside[1:] if (text := _limit(one))]
        return ", ".join([_value(inside[0]), *limits])
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_value(one) for one in inside if one is not type(None)))
    if origin is Literal:
        return ", ".join(f'`"{one}"`' if isinstance(one, str) else f"`{one}`" for one in inside)
    if origin is not None:
        many = "table" if issubclass(origin, Mapping) else "list"
        return f"{many} of: {_value(inside[many == 'table'])}"
    return _PLAIN.get(hint, "table")


def _limit(one: object) -> str:
    bounds = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    told = [f"{word} {getattr(one, name):,}" for name, word in bounds.items() if getattr(one, name, None) is not None]
    if getattr(one, "min_length", None):
        return "not empty"
    return ", ".join(told)


def _default(field: Field[Any]) -> str:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    if default is MISSING:
        return "*required*"
    if default is None or default in ((), {}):
        return ""
    if is_dataclass(default):
        return f"`{default.name}`" if hasattr(default, "name") else ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f'`"{default}"`' if isinstance(default, str) else f"`{_listed(default)}`"


def _listed(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_listed(one) for one in value)}]"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
