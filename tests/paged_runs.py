"""Runs for tests of report.html: a sweep with failures, an open loop, one in which all that can be hostile is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from records import MS, S, attempt, failed, question, record, trial_of, turn, write_run

from loadrig.words.record import Record, ToolCall, Usage

ARMS = ("control", "rag", "agentic")
STAGES = ("c1", "c2", "c4", "c8")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
USAGE = Usage(input=1000, output=20)
HOSTILE = (
    "</svg><script>document.title='pwned'</script>",
    '"><img src="https://example.invalid/x.png" onerror="alert(1)">',
    "javascript:alert(1)",
    "\u202egnp.exe\u202c {{ 7 * 7 }} ]]> <!-- --> &amp; </td></table></details>",
    "a\x1bb\x08c\u2028d\x7f",
)
LAG = {"lag_n": 500, "lag_p50_ns": MS // 10, "lag_max_ns": 9 * MS, "cpu_share_max": 0.4, "gc_pauses": 1,
       "gc_max_ns": MS, "in_flight_target": 2, "in_flight_max": 2, "loop": "uvloop"}  # fmt: skip


def label(at_s: float) -> str:
    return (NOON + timedelta(seconds=at_s)).isoformat()


def trial(name: str, at_s: float, took_ms: int, **given: Any) -> Record:
    """One that searched for 20 ms, had its first token after 100 ms, and wrote until its end."""
    begin, end = round(at_s * S), round(at_s * S) + took_ms * MS
    asked = attempt(begin_ns=begin + 20 * MS, end_ns=end, cost="0.0011", usage=USAGE)
    one = turn(attempts=(asked,), cost="0.0011", usage=USAGE, service_ns=(took_ms - 20) * MS, ttft_ns=80 * MS,
               tpot_ns=(took_ms - 100) * MS // 19)  # fmt: skip
    times = {
        "begin_ns": begin, "end_ns": end, "service_ns": took_ms * MS, "began_at": label(at_s),
        "retrieval_ns": 20 * MS, "retrieval_queue_ns": 5 * MS, "trial_ttft_ns": 100 * MS, "ttfat_ns": 110 * MS,
    }  # fmt: skip
    return record(name, **{"turns": (one,), "usage": USAGE, "cost": "0.0011", "currency": "USD", **times, **given})


def swept(folder: Path, per_cell: int = 24, arms: tuple[str, ...] = ARMS) -> Path:
    """Four stages of rising load, each arm asked so often in each; the rate stops rising at four in flight, some
    trials of the last stage fail, and its worker wakes late."""
    write_run(
        folder, _sweep(per_cell, arms), simulated=True,
        questions=[question(f"q{n}") for n in range(1, 13)],
        stages=[{"name": name, "concurrency": int(name[1:])} for name in STAGES],
        plan={"name": "sweep", "repetitions": 2, "timezone": "UTC"},
        corpus={"name": "tiny", "documents": 3, "tokens": 900, "sha256": "ab" * 32},
        self_measurement=[{**LAG, "stage": name, "process": process, "lag_p99_ns": (40 if name == "c8" else 1) * MS}
                          for name in STAGES for process in ("w1", "simulator")],
        began_at=label(0), ended_at=label(200), command_line="loadrig sweep sweep.toml", version="0.1.0", seed=7,
    )  # fmt: skip
    return folder


def _sweep(per_cell: int, arms: tuple[str, ...]) -> Iterator[Record]:
    at = 0.0
    for stage in STAGES:
        places = int(stage[1:])
        ends = [at] * places
        for n in range(per_cell):
            for number, arm in enumerate(arms):
                place = ends.index(min(ends))
                took = 400 + 30 * (n % 7) + 200 * number + (400 * (places - 4) if places > 4 else 0)
                name = f"{stage}-{arm}-{n}"
                said = "I do not know." if arm == "control" else f"yes, {n}"
                given = {"stage": stage, "arm": arm, "question": f"q{n % 12 + 1}", "repetition": n // 12 + 1}
                if stage == "c8" and n % 8 == 5:
                    spent = {"begin_ns": round(ends[place] * S), "end_ns": round((ends[place] + 3) * S)}
                    yield failed(name, **given, **spent, service_ns=3 * S, began_at=label(ends[place]))
                    ends[place] += 3
                else:
                    yield trial(name, ends[place], took, answer=said, **given)
                    ends[place] += took / 1000
        at = max(ends) + 1


def opened(folder: Path) -> Path:
    """Forty trials due half a second apart, of which the later are sent late and the last two never."""
    loop = {"arrivals": "poisson", "rate_per_s": 2.0, "ramp_s": 0.0, "max_in_flight": 4, "measured_from_ns": 0,
            "length_ns": 20 * S}  # fmt: skip
    rows = []
    for n in range(40):
        due, late = n / 2, 0.02 * n
        times = {"due_ns": round(due * S), "dispatch_delay_ns": round(late * S)}
        if n < 38:
            took = 500 + 10 * n
            rows.append((due, trial(f"t{n}", due + late, took, stage="r2", question=f"q{n % 12 + 1}", **times,
                                    scheduled_ns=round(late * S) + took * MS)))  # fmt: skip
        else:
            none = {"service_ns": None, "trial_ttft_ns": None, "ttfat_ns": None, "began_at": None, "worker": None}
            rows.append((due, record(f"t{n}", **none, answer="", scheduled_ns=S, stage="r2", outcome="not_run",
                                     reason="late", question=f"q{n % 12 + 1}")))  # fmt: skip
    trials = [replace(trial_of(one), due_ns=round(due * S)) for due, one in rows]
    return write_run(
        folder, [one for _, one in rows], trials=trials, simulated=True, began_at=label(0), ended_at=label(25),
        stages=[{"name": "r2", "concurrency": None, "open_loop": loop, "duration_s": 20.0}],
        self_measurement=[{**LAG, "stage": "r2", "process": name, "lag_p99_ns": MS} for name in ("w1", "simulator")],
    )  # fmt: skip


def hostile(folder: Path) -> Path:
    """Arms, questions, categories, the plan, warnings, answers and tools that would rather be markup than text."""
    script, image, link, turned, control = HOSTILE
    trials = [
        trial(f"{image} {n}", n, 500 + n, arm=arm, question=link, category=turned, answer=f"{script}{turned}{control}",
              stage=script, reply_model=image)
        for n, arm in enumerate(HOSTILE * 2)
    ]  # fmt: skip
    long = "<b>" * 350_000
    call = ToolCall(script, f'{{"query": "{script}"}}', True, (image,), MS)
    told = trial("long", 20, 900, arm=script, question=link, category=turned, stage=script, answer=long,
                 turns=(turn(text=long, tool_calls=(call,), ttft_ns=MS, service_ns=S, attempts=(
                     attempt(begin_ns=20 * S, end_ns=21 * S, request_id=image),)),))  # fmt: skip
    lost = failed("lost", arm=image, question=link, category=turned, stage=script, began_at=label(21))
    return write_run(
        folder, (*trials, told, lost), run=f"{script}{turned}", plan={"name": image, script: script},
        stages=[{"name": script, "concurrency": 2}], warnings=[script, image, link], currency="<i>",
        questions=[question(link, category=turned, question=script, reference=image)],
        corpus={"name": script, "documents": 1}, command_line=[script, image], version=script,
        began_at=label(0), ended_at=label(25),
    )  # fmt: skip
