"""Fourteen nights, twice, with things planted in them: which of them does `loadrig nightly` name, and what else?

    .venv/bin/python benchmarks/fourteen_nights.py [--nights N] [--only SERIES] [--keep FOLDER] [--picture FILE]

Every night is the real command, with the embedded simulator as its target and a wall clock that is moved to that night
(`chaos_clock.c`, for these processes alone): days, prices by date and weeks are those that the command finds for
itself. Two series in Europe/Berlin, one over the day of 25 hours (25 October 2026), one over that of 23 (29 March).
Planted are a step in price (a user's dated table), more tokens a question (the simulator thinks), failures (it is
overloaded), a night that is missed, one that its deadline cuts short, and one that begins just before midnight.
Everything else that is named is a false alarm. Figures are dial settings of the simulator, not evidence.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from chaos_clock import COMPILER, MISSING, Wall

ROOT = Path(__file__).resolve().parents[1]
BERLIN = ZoneInfo("Europe/Berlin")
PLAN = """\
name = "fourteen"
timezone = "Europe/Berlin"
probe = false
[nightly]
nights = 14
least = {least}
[corpus]
path = "{root}/corpora/huskbook"
[questions]
path = "{root}/questions/huskbook.jsonl"
limit = {questions}
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
scenario = "{folder}/target.toml"
[[arm]]
kind = "rag"
k = 5
[[arm]]
kind = "route"
[load]
concurrency = [4]
warmup = 2
cycle = false
[prices]
path = "{folder}/prices.toml"
"""
PRICE = """\
[[price]]
model = "claude-haiku-5-5"
effective_from = {day}
source = "planted"
seen = {day}
currency = "USD"
input = "{input}"
output = "{output}"
cache_write_5m = "{input}"
cache_write_1h = "{input}"
cache_read = "{input}"
"""
USUAL = "base_ms = 10\ndecode_ms_per_token = 0.1\njitter = 0.1\n"
OVER = "; went on past midnight"
TARGETS = {
    "": USUAL, "tokens": USUAL + "thinking_tokens = 300\n", "failure": USUAL + "rate_529 = 0.2\n",
    "cut short": "base_ms = 5000\n", "over midnight": "base_ms = 8000\n",
}  # fmt: skip


@dataclass(frozen=True)
class Series:
    """Fourteen days from `first`; `planted`: what happens on which of them (1 is the first). A price holds on."""

    name: str
    first: date
    planted: dict[int, str]

    def at(self, number: int) -> datetime:
        """When the night begins: half past two, which one of these nights has twice and another has not."""
        day = self.first + timedelta(days=number - 1)
        if self.planted.get(number) == "over midnight":
            return datetime(day.year, day.month, day.day, 23, 59, 30, tzinfo=BERLIN)
        return datetime(day.year, day.month, day.day, 2, 30, tzinfo=BERLIN)


AUTUMN = Series("autumn", date(2026, 10, 14), {4: "missed", 8: "cut short", 10: "tokens", 13: "price"})
SPRING = Series("spring", date(2026, 3, 18), {6: "over midnight", 9: "missed", 11: "failure", 14: "price"})
SHORT = Series("short", date(2026, 10, 23), {2: "missed", 3: "missed", 4: "price"})


@dataclass(frozen=True)
class Named:
    """What the report of one night named. `is_over`: it has trials of the day after the one on which it began."""

    day: str
    standing: str
    planted: str
    findings: tuple[str, ...]
    missed: tuple[str, ...]
    code: int
    is_over: bool


def nights(series: Series, folder: Path, *, last: int = 14, questions: int = 12, least: int = 5) -> Iterator[Named]:
    """Fires the nights one after the other and tells what each report named."""
    (folder / "plan.toml").write_text(PLAN.format(root=ROOT, folder=folder, questions=questions, least=least))
    dearer = [number for number, what in series.planted.items() if what == "price"]
    rows = [PRICE.format(day="2026-01-01", input="1", output="5")]
    rows += [PRICE.format(day=series.at(number).date(), input="1.30", output="6.50") for number in dearer]
    (folder / "prices.toml").write_text("\n".join(rows))
    wall = Wall(folder)
    for number in range(1, last + 1):
        what = series.planted.get(number, "")
        if what == "missed":
            continue
        (folder / "target.toml").write_text(TARGETS.get(what, USUAL))
        wall.true()
        wall.set(round(series.at(number).timestamp() * 1e9) - time.time_ns())
        code = _fire(folder, wall, ["--deadline", "25s"] if what == "cut short" else [])
        holds = "price holds" if any(number > one for one in dearer) and not what else what
        yield _named(json.loads((folder / "results" / "nightly-fourteen.json").read_text()), holds, code)


def _fire(folder: Path, wall: Wall, flags: list[str]) -> int:
    command = [sys.executable, "-c", "from loadrig.cli import main; main()", "nightly", folder / "plan.toml",
               "--out", folder / "results", "--inline", *flags]  # fmt: skip
    moved = {**os.environ, **wall.environment}
    with (folder / "output.txt").open("ab") as said:
        return subprocess.run(command, env=moved, stdout=said, stderr=said, check=False).returncode


def _named(found: dict, planted: str, code: int) -> Named:
    return Named(
        day=found["day"],
        standing=found["standing"],
        planted=planted,
        findings=tuple(
            f"{one['arm'] or 'all'}: {one['judged']['measure']}" + (f" by {one['cause']}" if one["cause"] else "")
            for one in found["findings"]
        ),
        missed=tuple(night["day"] for night in found["nights"] if night["standing"] == "missed"),
        code=code,
        is_over=any(one["day"] > found["day"] for one in found["days"]["days"]),
    )


def _draw(page: Path, picture: Path) -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only for the picture

    with sync_playwright() as play, play.chromium.launch(executable_path=shutil.which("chromium")) as browser:
        window = browser.new_page(viewport={"width": 800, "height": 1085})
        window.goto(page.as_uri())
        window.screenshot(path=picture)


def main() -> None:
    """Both series."""
    parser = argparse.ArgumentParser(description="fourteen nights with things planted in them")
    parser.add_argument("--nights", type=int, default=14)
    parser.add_argument("--keep", type=Path, help="keep runs and reports here")
    parser.add_argument("--only", choices=[one.name for one in (AUTUMN, SPRING)], help="one of the two")
    parser.add_argument("--picture", type=Path, help="the last report of autumn as a PNG (wants Chromium)")
    given = parser.parse_args()
    if COMPILER is None:
        sys.exit(MISSING)
    for series in (one for one in (AUTUMN, SPRING) if given.only in (None, one.name)):
        with tempfile.TemporaryDirectory() as temporary:
            folder = (given.keep or Path(temporary)).resolve() / series.name
            folder.mkdir(parents=True)
            print(f"{series.name}: from {series.first}, planted: {series.planted}")
            for one in nights(series, folder, last=given.nights):
                print(f"  {one.day} exit {one.code} {one.standing:10} planted: {one.planted or '-':14} "
                      f"named: {'; '.join(one.findings) or '-'}{OVER if one.is_over else ''}", flush=True)  # fmt: skip
            print(f"  missed, as the last report has it: {', '.join(one.missed)}")
            if given.picture is not None and series is AUTUMN:
                _draw(folder / "results" / "nightly-fourteen.html", given.picture)


if __name__ == "__main__":
    main()
