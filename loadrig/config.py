"""Reads a plan file or a study's, once, at the edge: TOML in, frozen values out. The one home of pydantic.

Rules: every key has a default that works or is named as missing; an unknown key is an error with a "did you mean";
errors name file, line where it can be found, and remedy. The fields are those of `loadrig.words.settings` and, for
an arm and a retriever, those of its dataclass: nothing is listed twice. Paths in a plan are relative to the working
folder.
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import TypeAdapter, ValidationError

from loadrig.arms import ARMS
from loadrig.headers import mistake_in
from loadrig.objectives import EXAMPLE, objective
from loadrig.plan import mistake
from loadrig.retrievers import RETRIEVERS, has_options, kind_named, needed
from loadrig.words.arm import Arm
from loadrig.words.errors import InputError, described
from loadrig.words.settings import NamedRetriever, Objective, Plan
from loadrig.words.study import StudySettings


def read_plan(path: Path) -> Plan:
    """The plan in a TOML file. Raises `InputError` with file, line and remedy."""
    source, table = _parsed(path, "plan")
    arms, objectives, retrievers = table.pop("arm", None), table.pop("objectives", {}), table.pop("retriever", [])
    plan: Plan = _validated(TypeAdapter(Plan), table, source, ())
    _check_timezone(plan, source)
    _check_names(plan, source)
    _check_connections(plan, source)
    if not arms or not isinstance(arms, list):
        raise source.error("the plan has no [[arm]]", (), 'add for instance: [[arm]] kind = "control"')
    named = _retrievers(retrievers, source)
    given = {one.name: one.options for one in named}
    plan = replace(
        plan, arms=_resolved(arms, source, given), objectives=_objectives(objectives, source), retriever=named
    )
    if wrong := mistake(plan):
        key, problem, remedy = wrong
        raise source.error(problem, ("load", key), remedy)
    return plan


def read_study(path: Path) -> StudySettings:
    """The study in a TOML file. Its plans are read apart. Raises `InputError` with file, line and remedy."""
    source, table = _parsed(path, "study")
    study: StudySettings = _validated(TypeAdapter(StudySettings), table, source, ())
    _check_name(study.name, source, ("name",), "study")
    if study.known.money_per_month is not None and not re.fullmatch(r"\d+(\.\d+)?", study.known.money_per_month):
        shown = f"{study.known.money_per_month!r} is no amount of money"
        raise source.error(shown, ("known", "money_per_month"), 'a decimal such as "500.00"')
    names = [run.name for run in study.run]
    for number, name in enumerate(names):
        _check_name(name, source, ("run", number, "name"), "run")
        if name in names[:number]:
            raise source.error(f"two runs are named {name!r}", ("run", number, "name"), "give each a name of its own")
    return study


class _Source:
    """Where values came from, to put a line number behind an error."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()

    def error(self, problem: str, place: tuple[str | int, ...], remedy: str) -> InputError:
        return InputError(problem, path=self.path, line=self._line(place), remedy=remedy)

    def _line(self, place: tuple[str | int, ...]) -> int | None:
        """The line of the last key of `place`, below the table it belongs to; None when it cannot be told."""
        names = [part for part in place if isinstance(part, str)]
        numbers = [part for part in place if isinstance(part, int)]
        if not names:
            return None
        seen, table, fallback = -1, "", None
        for number, line in enumerate(self.lines, start=1):
            if header := re.match(r"\s*\[+\s*([\w.]+)\s*\]+", line):
                table, seen = header[1], seen + (header[1] == names[0])
                if table == names[0] and (not numbers or seen == numbers[0]):
                    fallback = number
            place_of = (names[0], ".".join(names[:-1]))  # its own table, or one within it
            inside = table in place_of and (not numbers or seen == numbers[0]) if len(names) > 1 else not table
            if inside and re.match(rf'\s*"?{re.escape(names[-1])}"?\s*=', line):
                return number
        return fallback


def _parsed(path: Path, what: str) -> tuple[_Source, dict[str, Any]]:
    text = _text_of(path, what)
    try:
        return _Source(path, text), tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = int(found[1]) if (found := re.search(r"line (\d+)", str(error))) else len(text.splitlines())
        raise InputError(f"not valid TOML: {error}", path=path, line=line, remedy="correct the syntax") from error


def _text_of(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.toml")], n=1)
        hint = f"did you mean {path.parent / near[0]}?" if near else "name an existing .toml file"
        raise InputError(f"no such {what}", path=path, remedy=hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the {what} cannot be read: {error}", path=path, remedy="name a readable TOML file"
        ) from error


def _resolved(tables: list[Any], source: _Source, retrievers: Mapping[str, Any]) -> tuple[Arm, ...]:
    arms: list[Arm] = []
    for number, table in enumerate(tables):
        if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
            raise source.error(
                f"[[arm]] number {number + 1} has no kind", ("arm", number), f"one of: {', '.join(ARMS)}"
            )
        kind = _arm_class(table["kind"], number, source)
        given = {key: value for key, value in table.items() if key != "kind"}
        options = _options(kind, given, source, ("arm", number))
        for one in _spread(kind, options):
            arm: object = _validated(TypeAdapter(kind), one, source, ("arm", number))
            if not isinstance(arm, Arm):
                remedy = "an arm has name, retrievers, prompt_tokens and answer: see docs/extending.md"
                raise source.error(f"{table['kind']!r} is no arm", ("arm", number, "kind"), remedy)
            _check_searches(arm, number, retrievers, source)
            if any(arm.name == other.name for other in arms):
                remedy = "remove one, or give them different options"
                raise source.error(f"two arms are named {arm.name!r}", ("arm", number), remedy)
            arms.append(arm)
    return tuple(sorted(arms, key=lambda arm: arm.name != "control"))


def _check_searches(arm: Arm, number: int, given: Mapping[str, Any], source: _Source) -> None:
    """Every retriever that the arm searches with is there. Those of the table are, and are not loaded to see it: bm25s
    brings scipy, and whoever reads a plan needs neither."""
    for name in (name for name in arm.retrievers if name not in RETRIEVERS):
        try:
            needed([name], given)
        except InputError as error:
            options = (field.name for field in fields(arm) if getattr(arm, field.name) == name)  # type: ignore[arg-type]
            raise source.error(error.problem, ("arm", number, next(options, "kind")), error.remedy) from error


def _retrievers(tables: object, source: _Source) -> tuple[NamedRetriever, ...]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise source.error("retriever is no list of tables", ("retriever",), "write [[retriever]], name, kind, options")
    found: list[NamedRetriever] = []
    for number, table in enumerate(tables):
        at = ("retriever", number)
        for key in ("name", "kind"):
            if not isinstance(table.get(key), str):
                remedy = f"one of: {', '.join(RETRIEVERS)}" if key == "kind" else "the name by which arms call it"
                raise source.error(f"[[retriever]] number {number + 1} has no {key}", at, remedy)
        name, kind = table["name"], table["kind"]
        _check_name(name, source, (*at, "name"), "retriever")
        if name in RETRIEVERS or any(name == other.name for other in found):
            taken = "is a kind's" if name in RETRIEVERS else "is given twice"
            raise source.error(f"the name {name!r} {taken}", (*at, "name"), "give it a name of its own")
        options = {key: value for key, value in table.items() if key not in ("name", "kind")}
        found.append(NamedRetriever(name=name, kind=kind, options=_retriever(kind, options, number, source)))
    given = {one.name: one.options for one in found}
    for number, one in enumerate(found):
        try:
            needed([one.name], given)
        except InputError as error:
            raise source.error(error.problem, ("retriever", number, "of"), error.remedy) from error
    return tuple(found)


def _retriever(kind: str, options: Mapping[str, Any], number: int, source: _Source) -> Any:
    """The kind's dataclass with these options."""
    try:
        found = kind_named(kind)
    except InputError as error:
        raise source.error(error.problem, ("retriever", number, "kind"), error.remedy) from error
    if not has_options(found):
        remedy = "name it in the arm, without a table, or make it a dataclass with build: see docs/extending.md"
        raise source.error(f"{kind!r} has no options", ("retriever", number, "kind"), remedy)
    known = [field.name for field in fields(found)]
    if unknown := next((key for key in options if key not in known), None):
        raise _unknown_key(("retriever", number, unknown), known, source)
    return _validated(TypeAdapter(found), options, source, ("retriever", number))


def _objectives(table: object, source: _Source) -> tuple[Objective, ...]:
    if not isinstance(table, dict):
        raise source.error("objectives is no table", ("objectives",), f"write [objectives], {EXAMPLE}")
    found = []
    for name, limit in table.items():
        try:
            found.append(objective(name, limit))
        except InputError as error:
            raise source.error(error.problem, ("objectives", name), error.remedy) from error
    return tuple(found)


def _arm_class(kind: str, number: int, source: _Source) -> type[Any]:
    target = ARMS.get(kind, kind)
    if ":" not in target:
        near = difflib.get_close_matches(kind, ARMS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"one of: {', '.join(ARMS)}, or module:attr"
        raise source.error(f"unknown arm {kind!r}", ("arm", number, "kind"), hint)
    module, _, attribute = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        problem = f"arm {kind!r} cannot be imported: {described(error)}"
        raise source.error(problem, ("arm", number, "kind"), "name an importable module:attr") from error
    if not (isinstance(found, type) and is_dataclass(found)):
        raise source.error(f"{kind!r} is not a dataclass", ("arm", number, "kind"), "an arm is a frozen dataclass")
    return found


def _options(
    kind: type[Any], given: Mapping[str, Any], source: _Source, place: tuple[str | int, ...]
) -> dict[str, Any]:
    """The options given, all of them known. A table given for an option that is an arm itself is laid over that arm's
    own default here, which need not be that of its kind."""
    known = {field.name: field.default for field in fields(kind)}
    options = {}
    for key, value in given.items():
        if key not in known:
            raise _unknown_key((*place, key), list(known), source)
        if value == []:
            raise source.error(f"{key!r} is an empty list", (*place, key), "give it a value")
        inner = known[key]
        if is_dataclass(inner) and isinstance(value, dict):
            usual = {field.name: getattr(inner, field.name) for field in fields(inner)}
            value = {**usual, **_options(type(inner), value, source, (*place, key))}  # noqa: PLW2901
        options[key] = value
    return options


def _spread(kind: type, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One set of options for each combination of the values listed for options that are not themselves lists."""
    hints = get_type_hints(kind, include_extras=False) if is_dataclass(kind) else {}
    lists = {
        key: value
        for key, value in options.items()
        if isinstance(value, list) and getattr(hints.get(key), "__origin__", None) not in (tuple, list)
    }
    for values in itertools.product(*lists.values()):
        yield {**options, **dict(zip(lists, values, strict=True))}


def _validated(adapter: TypeAdapter[Any], value: Mapping[str, Any], source: _Source, at: tuple[str | int, ...]) -> Any:
    try:
        return adapter.validate_python(dict(value))
    except ValidationError as error:
        first = error.errors()[0]
        place = (*at, *first["loc"])
        name = ".".join(str(part) for part in place)
        if first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
            raise _unknown_key(place, _known_keys(adapter, first["loc"][:-1]), source) from error
        if first["type"] in ("missing", "missing_argument"):
            raise source.error(f"{name!r} is missing", place, f"add {place[-1]} = ... to {source.path.name}") from error
        if first["type"] == "value_error":  # in its own words; what was given may be a secret
            raise source.error(f"{name!r}: {first['ctx']['error']}", place, "correct it") from error
        shown = f"{first['input']!r}"[:80]
        raise source.error(f"{name!r}: {first['msg'].lower()}, got {shown}", place, "correct the value") from error


def _unknown_key(place: tuple[str | int, ...], known: list[str], source: _Source) -> InputError:
    near = difflib.get_close_matches(str(place[-1]), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"remove it; known here: {', '.join(known)}"
    return source.error(f"unknown key {'.'.join(map(str, place))!r}", place, hint)


def _known_keys(adapter: TypeAdapter[Any], inside: Iterable[str | int]) -> list[str]:
    kind: Any = adapter._type  # pydantic offers no public way back to the type
    for part in inside:
        hint = get_type_hints(kind)[part] if isinstance(part, str) else kind
        kind = next((one for one in (hint, *get_args(hint)) if is_dataclass(one)), kind)
    return [field.name for field in fields(kind)] + (["arm"] if kind is Plan else [])


def _check_timezone(plan: Plan, source: _Source) -> None:
    try:
        ZoneInfo(plan.timezone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        remedy = 'an IANA name such as "UTC" or "Europe/Berlin"'
        raise source.error(f"unknown time zone {plan.timezone!r}", ("timezone",), remedy) from error


def _check_names(plan: Plan, source: _Source) -> None:
    """The plan's name becomes a folder's, and a model's id tells its trials apart."""
    _check_name(plan.name, source, ("name",), "plan")
    ids = [model.id for model in plan.model]
    if twice := next((number for number, one in enumerate(ids) if one in ids[:number]), None):
        remedy = "run one endpoint at a time: trials are told apart by their model's id"
        raise source.error(f"two models have the id {ids[twice]!r}", ("model", twice, "id"), remedy)


def _check_connections(plan: Plan, source: _Source) -> None:
    """What a model's requests are to have besides: a path that can be asked for, headers that may be."""
    for number, model in enumerate(plan.model):
        if model.path is not None and not re.fullmatch(r"/[!-~]*", model.path):
            remedy = 'it begins with a slash and has no blanks, such as "/v2/messages"'
            raise source.error(f"{model.path!r} is no path", ("model", number, "path"), remedy)
        for name, value in (model.headers or {}).items():
            if wrong := mistake_in(name, value):
                raise source.error(wrong[0], ("model", number, "headers", name), wrong[1])


def _check_name(name: str, source: _Source, place: tuple[str | int, ...], what: str) -> None:
    if not re.fullmatch(r"[\w][\w.-]*", name):
        remedy = "letters, digits, dot, dash and underscore: it becomes the name of a folder"
        raise source.error(f"{name!r} cannot be a {what}'s name", place, remedy)
