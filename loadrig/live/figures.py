"""The words and figures in which a run is shown while it lasts, wherever that is: a line, or a screen. Pure."""

from __future__ import annotations

from loadrig.live.recent import Percentiles
from loadrig.live.tally import Tally
from loadrig.words.trial import RunInfo


def shown(text: str) -> str:
    """What somebody else may have written, as text: nothing in it can steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def title(info: RunInfo) -> str:
    """The plan's name, and that it is simulated."""
    return shown(f"{info.plan} (simulated)" if info.simulated else info.plan)


def line(tally: Tally, now_ns: int) -> str:
    """All in one: counts, marks, how fast and how dear so far, how long still."""
    pulse = tally.latest
    stage = [f"stage {shown(pulse.stage)}"] if pulse else []
    left_s = tally.left_s(now_ns)
    left = [] if left_s is None or tally.done >= tally.planned else [f"about {clock_time(left_s)} left"]
    figures = [f"TTFT {_pair(tally.ttft)}", f"service {_pair(tally.service)}", cost(tally)]
    return "; ".join((*stage, *counts(tally), *marks(tally), *figures, *left))


def counts(tally: Tally, *, reasons: bool = True) -> list[str]:
    """What the trials do and did: `45/200 done`, `8/8 in flight`, `failed 3 (timeout 2, overloaded 1)`."""
    pulse = tally.latest
    found = [f"{tally.done}/{tally.planned} done"]
    if pulse:
        target = "" if pulse.target is None else f"/{pulse.target}"
        found.append(f"{pulse.in_flight}{target} in flight")
    why = ", ".join(f"{reason} {count}" for reason, count in tally.failures.most_common(3)) if reasons else ""
    found.append(f"failed {tally.failed} ({shown(why)})" if why else f"failed {tally.failed}")
    found += [f"unanswered {tally.unanswered}"] if tally.unanswered else []
    return found + ([f"not run {tally.not_run}"] if tally.not_run else [])


def marks(tally: Tally) -> list[str]:
    """Whose times the latencies partly are: `CLIENT-BOUND (worker w1: loop lag p99 12.1 ms (limit 5.0 ms))`, with the
    stages where they are not the present one alone."""
    stage = tally.latest.stage if tally.latest else None
    where = "" if list(tally.bound) == [stage] else f" in {', '.join(tally.bound)}"
    causes = dict.fromkeys(cause for found in tally.bound.values() for cause in found)
    why = f" ({'; '.join(causes)})" if causes else ""
    found = [f"CLIENT-BOUND{where}{why}"] if tally.bound else []
    found += [f"client-bound? not checked in {', '.join(sorted(tally.unchecked))}"] if tally.unchecked else []
    return list(map(shown, found))


def cost(tally: Tally) -> str:
    """Of the whole run so far: `cost USD 0.0250`, with what is not known of it."""
    if tally.cost_partial and not tally.cost_known:
        return "cost unknown"
    currency = tally.info.currency if tally.info else ""
    return f"cost {currency} {tally.cost:.4f}" + (" (partial)" if tally.cost_partial else "")


def duration(duration_ns: int | None) -> str:
    """In seven characters at most: `212 ms`, `1.34 s`, `41.2 s`, `132 s`; a dash for none."""
    if duration_ns is None:
        return "-"
    if duration_ns < 999_500_000:
        return f"{duration_ns / 1e6:.0f} ms"
    digits = 2 if duration_ns < 9_995_000_000 else 1 if duration_ns < 99_950_000_000 else 0
    return f"{duration_ns / 1e9:.{digits}f} s"


def clock_time(duration_s: float) -> str:
    """Minutes and seconds, with hours only when there are any: `0:07`, `12:30`, `1:02:03`."""
    minutes, seconds = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def counted(number: int, noun: str) -> str:
    """`1 worker`, `2 workers`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _pair(percentiles: Percentiles) -> str:
    return f"p50 {duration(percentiles.p50_ns)} p95 {duration(percentiles.p95_ns)}"
