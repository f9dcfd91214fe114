"""The prompt cache of a run, call by call: what was read, what was written, and why a call read nothing.

    hit share = tokens read from the cache / prompt tokens (uncached + written + read), of the calls that told both

by tokens, for a long prompt that misses costs more than ten short ones that hit save. Over every call that asked for
caching: of the trials, and apart of warm-up (superseded tries with it) and of priming. A call that read anything is a
hit; what a call read nothing for is the first of these that fits:

    below minimum  neither read nor written, and its prefix is shorter than what the model's endpoint caches
    concurrent     a call that began before it was writing the same prefix, and its response had not begun
    expired        the prefix was written, or last read, longer ago than its lifetime
    changed        an earlier call of the arm, for the same caller, asked to keep other bytes; of a conversation that
                   grows and is kept whole nothing else is to be expected, so it is a first
    first          no call of the run that was replied to had asked for this prefix before
    unknown        it should have been there

Times are those labelled on the calls, lifetimes count from a call's begin. A trial is warm or cold as its first call
that asked hit or missed. Knows nothing of what an endpoint does inside: reasons are what the run's own calls explain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from loadrig.analysis.bill import Money, PerQuestion, charges, currency_of, money, per_question
from loadrig.analysis.latency import Latency, latency
from loadrig.analysis.prefixes import LIFETIMES, Prefix, Prefixes
from loadrig.analysis.selection import arm_names, asked, by_arm_and_model, timed
from loadrig.cost import prompt_tokens, written_tokens
from loadrig.log import RunFolder
from loadrig.words.record import Attempt, Record, Usage

When = Literal["trials", "warmup", "priming"]
Reason = Literal["below minimum", "concurrent", "expired", "changed", "first", "unknown"]


@dataclass(frozen=True, slots=True)
class Missed:
    """`n` calls that read nothing for one reason, and the tokens they wrote."""

    when: When
    reason: Reason
    n: int
    written: int


@dataclass(frozen=True, slots=True)
class Side:
    """The `n` asked trials that began warm (or cold): first tokens of those that were timed, money of all."""

    n: int
    ttft: Latency
    cost: PerQuestion


@dataclass(frozen=True, slots=True)
class ArmCaching:
    """What an arm's calls to a model, `requests` in trials, had of the cache; `told` of them said what was read and
    written. Tokens and `hits` are of those; `writes` of them wrote. `lifetime_s`: None where its calls asked for
    several. `prefixes`: distinct ones, of all calls. `minimum`: tokens below which nothing is cached, None: not known.
    `pays_from`: on how many questions a prefix pays, by the prices of the day, None: not known or never; the call that
    primes it is in it where one was replied to, of this arm or of another that shares the prefix.
    `primed`, `priming`: calls beforehand and their money, which is in no cost per question; `primed_warm` of them were
    the run's first for their prefix and read it: an earlier run had written it. `neither`: trials that are not warm and
    not cold, for the first call that asked told nothing."""

    arm: str
    model: str
    lifetime_s: int | None
    prefixes: int
    requests: int
    told: int
    hits: int
    writes: int
    prompt: int
    read: int
    written_5m: int
    written_1h: int
    hit_share: float | None
    minimum: int | None
    pays_from: int | None
    primed: int
    priming: Money
    primed_warm: int
    warm: Side
    cold: Side
    neither: int
    misses: tuple[Missed, ...]


@dataclass(frozen=True, slots=True)
class _Call:
    """One exchange that asked for caching. `usable_ns`: when its response began, None when none did."""

    record: Record
    when: When
    attempt: Attempt
    prefix: Prefix
    begin_ns: int
    usable_ns: int | None

    @property
    def usage(self) -> Usage | None:
        """What it told; None where it does not say what was read."""
        usage = self.attempt.usage
        return None if usage is None or usage.cache_read is None else usage

    @property
    def hit(self) -> bool | None:
        return None if self.usage is None else bool(self.usage.cache_read)

    @property
    def written(self) -> int:
        return 0 if self.usage is None else written_tokens(self.usage)


def caching(run: RunFolder, prompts: Mapping[str, bytes]) -> tuple[ArmCaching, ...]:
    """Every arm and model that asked for caching, in the plan's order; `prompts`: the fragments, by hash."""
    prefixes = Prefixes(prompts)
    if not prefixes:
        return ()
    calls = sorted(_calls(run, prefixes), key=lambda call: call.begin_ns)
    facts = {row.get("model"): row for row in run.manifest.get("caches") or []}
    minima = {model: row.get("minimum") for model, row in facts.items()}
    reasons = _reasons(calls, minima)
    kept = {(call.record.model, call.prefix.digest) for call in calls if call.when == "priming" and call.usable_ns}
    warmed = _warmed(calls)
    arms = set(arm_names(run))
    own = [call for call in calls if call.record.arm in arms]
    groups = by_arm_and_model(run, (((call.record.arm, call.record.model), call) for call in own))
    return tuple(
        _figures(
            run,
            found,
            reasons,
            facts.get(model, {}),
            warmed=warmed,
            is_primed=any((model, call.prefix.digest) in kept for call in found),
        )
        for _, model, found in groups
    )


def _calls(run: RunFolder, prefixes: Prefixes) -> Iterator[_Call]:
    sent = {(record.trial, record.try_no) for record in asked(run)}
    for record in (*run.probes, *run.superseded, *run.records):
        for turn in record.turns:
            prefix = prefixes.of(turn.prompt)
            if prefix is None:
                continue
            when: When = "trials" if (record.trial, record.try_no) in sent else "warmup"
            for attempt in turn.attempts:
                begin_ns = _label_ns(attempt.began_at)
                began = attempt.headers_ns or attempt.first_event_ns
                usable = None if began is None or attempt.http_status != 200 else begin_ns + began - attempt.begin_ns
                yield _Call(record, "priming" if turn.purpose == "prime" else when, attempt, prefix, begin_ns, usable)


def _warmed(calls: Iterable[_Call]) -> set[int]:
    """Primers that read what no call of this run had been replied to for before, by the identity of their attempts.
    One that is asked again, or whose run is taken up, reads what the run itself has written. `calls` as they began."""
    first: dict[tuple[str, str], _Call] = {}
    for call in calls:
        if call.usable_ns is not None:
            first.setdefault((call.record.model, call.prefix.digest), call)
    return {id(call.attempt) for call in first.values() if call.when == "priming" and call.hit}


def _label_ns(label: str) -> int:
    return round(datetime.fromisoformat(label).timestamp() * 1e6) * 1000


@dataclass(slots=True)
class _Entry:
    """A prefix as the calls so far leave it: when it was last written or read, and who is about to write it."""

    used_ns: int | None = None
    writing: list[_Call] = field(default_factory=list)

    def at(self, now_ns: int) -> None:
        """Those whose responses have begun have written it."""
        done = [call for call in self.writing if call.usable_ns is not None and call.usable_ns <= now_ns]
        for call in done:
            self.used_ns = max(self.used_ns or 0, call.begin_ns)
            self.writing.remove(call)


def _reasons(calls: Iterable[_Call], minima: Mapping[str, int | None]) -> dict[int, Reason]:
    """Why each call that missed did, by the identity of its attempt. `calls` in the order they began."""
    entries: dict[tuple[str, str], _Entry] = {}
    seen: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    reasons: dict[int, Reason] = {}
    for call in calls:
        record = call.record
        entry = entries.setdefault((record.model, call.prefix.digest), _Entry())
        entry.at(call.begin_ns)
        others = seen.setdefault((record.arm, record.model, record.caller), set())
        if call.hit is False:
            changed = bool(others - {call.prefix.digest})
            reasons[id(call.attempt)] = _reason(call, entry, minima.get(record.model), changed=changed)
        others.add(call.prefix.digest)
        if call.hit:
            entry.used_ns = call.begin_ns
        elif call.usable_ns is not None and (call.hit is None or call.written):
            entry.writing.append(call)
    return reasons


def _reason(call: _Call, entry: _Entry, minimum: int | None, *, changed: bool) -> Reason:
    assert call.usage is not None
    if not call.written:
        tokens = prompt_tokens(call.usage) * call.prefix.share
        return "below minimum" if minimum is not None and tokens < minimum else "unknown"
    if entry.used_ns is not None and call.begin_ns - entry.used_ns < call.prefix.lifetime_s * 1_000_000_000:
        return "unknown"
    if entry.writing:
        return "concurrent"
    if entry.used_ns is not None:
        return "expired"
    return "changed" if changed and not call.prefix.is_whole else "first"


def _figures(
    run: RunFolder, calls: list[_Call], reasons: Mapping[int, Reason], facts: Mapping[str, Any],
    *, warmed: set[int], is_primed: bool,
) -> ArmCaching:  # fmt: skip
    record, lifetimes = calls[0].record, {call.prefix.lifetime_s for call in calls}
    lifetime_s = lifetimes.pop() if len(lifetimes) == 1 else None
    own = [call for call in calls if call.when == "trials"]
    pays = facts.get("pays_from" if is_primed else "pays_from_unprimed") or {}
    usages = [call.usage for call in own if call.usage is not None]
    read, prompt = sum(usage.cache_read or 0 for usage in usages), sum(map(prompt_tokens, usages))
    primers = {call.record.trial: call.record for call in calls if call.when == "priming"}.values()
    first: dict[str, _Call] = {}
    for call in own:
        first.setdefault(call.record.trial, call)
    return ArmCaching(
        arm=record.arm,
        model=record.model,
        lifetime_s=lifetime_s,
        prefixes=len({call.prefix.digest for call in calls}),
        requests=len(own),
        told=len(usages),
        hits=sum(call.hit is True for call in own),
        writes=sum(call.written > 0 for call in own),
        prompt=prompt,
        read=read,
        written_5m=sum(usage.cache_write_5m or 0 for usage in usages),
        written_1h=sum(usage.cache_write_1h or 0 for usage in usages),
        hit_share=read / prompt if prompt else None,
        minimum=facts.get("minimum"),
        pays_from=lifetime_s and pays.get(LIFETIMES[lifetime_s]),
        primed=len(primers),
        priming=money((charge for record in primers for charge in charges(record)), currency_of(run)),
        primed_warm=sum(id(call.attempt) in warmed for call in calls),
        warm=_side(run, [call.record for call in first.values() if call.hit is True]),
        cold=_side(run, [call.record for call in first.values() if call.hit is False]),
        neither=sum(call.hit is None for call in first.values()),
        misses=_misses(calls, reasons),
    )


def _side(run: RunFolder, records: list[Record]) -> Side:
    measured = {record.trial for record in timed(run)}
    return Side(
        n=len(records),
        ttft=latency([record for record in records if record.trial in measured], "ttft"),
        cost=per_question(records, currency_of(run), correct=None),
    )


def _misses(calls: Iterable[_Call], reasons: Mapping[int, Reason]) -> tuple[Missed, ...]:
    counted: Counter[tuple[When, Reason]] = Counter()
    written: Counter[tuple[When, Reason]] = Counter()
    for call in calls:
        reason = reasons.get(id(call.attempt))
        if reason is not None:
            counted[call.when, reason] += 1
            written[call.when, reason] += call.written
    order: tuple[When, ...] = ("priming", "warmup", "trials")
    return tuple(
        Missed(*key, n, written[key])
        for key, n in sorted(counted.items(), key=lambda one: (order.index(one[0][0]), one[0][1]))
    )
