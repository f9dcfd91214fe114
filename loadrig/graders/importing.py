"""A graded sheet taken back: every mark read, every row held against what was exported.

Marks are 1 or 0, yes or no, true or false; empty is "not graded" and never no. `score` is from 0 to 1. A mark against
an answer (correct 0, stale 1, invented 1, score 0) needs its reason in `note`. Nothing is taken from a sheet with a row
in error: every one is named, by its number in the sheet and its code. An answer that is no longer the one exported
may be damage by the spreadsheet, and then nobody knows what its grader read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from loadrig.graders.cells import joined, same, unguarded
from loadrig.graders.exporting import ANSWER, Keys
from loadrig.graders.sheet import CODE, MARKS, Line, read
from loadrig.words.errors import InputError
from loadrig.words.score import Score

YES, NO = ("1", "1.0", "yes", "y", "true"), ("0", "0.0", "no", "n", "false")
MOST_NAMED = 20
_ERROR = re.compile(r"#[A-Z/0]+[!?]?|Err:\d+")  # what is left of a note that was typed like a formula


@dataclass(frozen=True, slots=True)
class Imported:
    """What a sheet gave: `rows` with a mark, rows `blank`, codes `missing` from it, and codes whose answer `changed`
    (taken all the same, as told)."""

    scores: tuple[Score, ...]
    rows: int
    blank: tuple[str, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(slots=True)
class _Reading:
    """A sheet being read: what is wrong, by line, and what is not yet said."""

    wrong: list[tuple[int, str]] = field(default_factory=list)
    changed: list[tuple[int, str]] = field(default_factory=list)


def take(path: Path, keys: Keys, grader: str, *, changed_too: bool = False) -> Imported:
    """The scores on a sheet, one for each trial that gave the graded answer. Raises `InputError` naming every row in
    error; a changed answer is one unless `changed_too`."""
    lines = read(path)
    _check_columns(path, lines)
    reading = _Reading()
    times = Counter(code for line in lines if (code := _code(line)))
    graded: dict[str, Score] = {}
    blank: list[str] = []
    for line in lines:
        code = _code(line)
        key = keys.rows.get(code)
        if key is None or times[code] > 1:
            what = "unknown code" if key is None else f"code {times[code]} times in the sheet:"
            reading.wrong.append((line.number, f"{what} {code!r}" if code else "a row without a code"))
            continue
        score = _score(line, grader, reading)
        if not same(joined(_answer(line)), key.answer) and not same("".join(_answer(line)), key.answer):
            reading.changed.append((line.number, code))
        if _is_blank(score):
            blank.append(code)
        else:
            graded[code] = score
    _raise(path, reading, changed_too=changed_too)
    scores = tuple(
        msgspec.structs.replace(score, trial=trial, try_no=try_no)
        for code, score in graded.items()
        for trial, try_no in keys.rows[code].trials
    )
    changed = tuple(code for _, code in reading.changed)
    return Imported(scores, len(graded), tuple(blank), keys.missing(times.keys()), changed)


def _check_columns(path: Path, lines: Sequence[Line]) -> None:
    if not lines:
        raise InputError("no row below the first", path=path, remedy="import the sheet that was graded")
    gone = [name for name in (ANSWER, "correct", "stale", "invented", "note") if name not in lines[0].cells]
    if gone:
        raise InputError(f"no column {gone[0]!r}", path=path, line=1, remedy="keep the exported columns as they are")


def _code(line: Line) -> str:
    return _cell(line, CODE).upper()


def _answer(line: Line) -> list[str]:
    return [cell for name, cell in line.cells.items() if name == ANSWER or name.startswith(f"{ANSWER} ")]


def _score(line: Line, grader: str, reading: _Reading) -> Score:
    found = {name: _mark(line, name, reading) for name in MARKS if name != "score"}
    score = Score(
        **found, grader=grader, trial="", try_no=0, score=_share(line, reading), note=line.cells.get("note", "").strip()
    )
    against = [name for name, bad in _against(score) if bad]
    if against and (not score.note or _ERROR.fullmatch(score.note)):
        reading.wrong.append((line.number, f"{_code(line)}: {' and '.join(against)} needs the reason in note"))
    return score


def _against(score: Score) -> Iterator[tuple[str, bool]]:
    yield "correct 0", score.correct is False
    yield "stale 1", score.stale is True
    yield "invented 1", score.invented is True
    yield "score 0", score.score == 0


def _mark(line: Line, name: str, reading: _Reading) -> bool | None:
    text = _cell(line, name)
    if text.lower() in YES:
        return True
    if text and text.lower() not in NO:
        reading.wrong.append((line.number, f"{_code(line)}: {name} {text[:40]!r} is neither 1 nor 0"))
    return False if text else None


def _share(line: Line, reading: _Reading) -> float | None:
    text = _cell(line, "score")
    try:
        share = float(text.replace(",", ".")) if text else None
    except ValueError:
        share = -1.0
    if share is not None and not 0 <= share <= 1:
        reading.wrong.append((line.number, f"{_code(line)}: score {text[:40]!r} is not from 0 to 1"))
    return share


def _cell(line: Line, name: str) -> str:
    return unguarded(line.cells.get(name, "").strip())


def _is_blank(score: Score) -> bool:
    return all(mark is None for mark in (score.correct, score.stale, score.invented, score.score))


def _raise(path: Path, reading: _Reading, *, changed_too: bool) -> None:
    changed = [] if changed_too else reading.changed
    found = sorted([*reading.wrong, *((row, f"{code}: the answer is not the one exported") for row, code in changed)])
    if not found:
        return
    named = [f"row {number}: {problem}" for number, problem in found[:MOST_NAMED]]
    more = [f"and {len(found) - MOST_NAMED} rows more"] if len(found) > MOST_NAMED else []
    remedy = "correct these rows and import the sheet again"
    if not reading.wrong:
        remedy = "take these answers over from a fresh export, or accept them as they are with --changed"
    problem = "\n  ".join([f"{len(found)} errors, nothing imported:", *named, *more])
    raise InputError(problem, path=path, remedy=remedy)
