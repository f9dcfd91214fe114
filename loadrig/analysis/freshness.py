"""Documents that changed in mid-run: when each arm saw it, by what stood in its requests, not by a worker's word.

    seen after = begin of the first request whose prompt holds new wording - the change
    let go after = begin of the last request whose prompt holds old wording - the change

The change is an instant of the driver's; a request's begin is mapped to that clock, wrong by at most `error_ns`.
Negative: before the change. What holds neither wording, such as a control or a passage beside the point, is neither.
An agent's conversation can hold both, and an index that is not yet new finds old passages. Requests of every phase
count, superseded ones too, but of the going at the run in which documents changed alone: another's clocks are others.
Answers begun after the change are marked by the keys that hold from then on, where the plan names some.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from loadrig.analysis.selection import by_arm_and_model, grouped
from loadrig.corpus.wordings import Wordings
from loadrig.cost import written_tokens
from loadrig.graders.automatic import marks
from loadrig.log import WORDINGS, RunFolder, read_changes, read_keys_after
from loadrig.words.change import Adopted, Changes
from loadrig.words.corpus import Question
from loadrig.words.record import Record, Usage

_ASKS = b'"cache_control":'
_ESCAPED = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(.))|"')
_SPACE = frozenset("nrtbf")


@dataclass(frozen=True, slots=True)
class Seen:
    """Of `requests` begun after the change, `new` hold new wording and `old` old wording; `unknown`: their prompts are
    not on file. Nanoseconds after the change, None: none ever held it."""

    requests: int
    new: int
    old: int
    unknown: int
    seen_ns: int | None
    let_go_ns: int | None


@dataclass(frozen=True, slots=True)
class CacheReset:
    """Requests with new wording that asked for caching and tell what was written (`n`): how many of them wrote
    (`writing`), how many tokens in all, and how many the first of them."""

    n: int
    writing: int
    written: int
    first: int


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers begun after the change to questions that have a key of after: `n`, `right` by it, and of `told` that it
    has superseded values for, `stale`."""

    n: int
    right: int
    told: int
    stale: int


@dataclass(frozen=True, slots=True)
class ArmFreshness:
    """An arm and model. `cache`: None where none was asked for, or told; `answers`: where there is no key of after."""

    arm: str
    model: str
    seen: Seen
    workers: Mapping[str, Seen]
    cache: CacheReset | None
    answers: Answers | None


@dataclass(frozen=True, slots=True)
class IndexFreshness:
    """A retriever's new index in a worker. `ready_ns` after the change, of which it took `build_ns` to build on this
    machine and `open_ns` to load; None: not before the run ended, or never, by `failure`."""

    ready_ns: int | None
    build_ns: int | None
    open_ns: int | None
    failure: str | None


@dataclass(frozen=True, slots=True)
class WorkerFreshness:
    """A worker. `changed_ns` after the change its texts were new; `error_ns`: how wrong its clock may be known;
    `indexes` by retriever, those it told of."""

    worker: str
    changed_ns: int
    error_ns: int | None
    indexes: Mapping[str, IndexFreshness]
    failure: str | None


@dataclass(frozen=True, slots=True)
class Freshness:
    """`at`: the wall time of the change, None: the run ended before it. `late`: answers begun after it, all arms."""

    after_s: float
    at: str | None
    replaced: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    late: int
    arms: tuple[ArmFreshness, ...] = ()
    workers: tuple[WorkerFreshness, ...] = ()


@dataclass(frozen=True, slots=True)
class _Request:
    """`at_ns` after the change; `held`: old and new wording, None: not on file."""

    worker: str
    at_ns: int
    held: tuple[bool, bool] | None
    asks: bool
    usage: Usage | None


def freshness(run: RunFolder, prompts: Mapping[str, bytes]) -> Freshness | None:
    """Of a run whose plan changed documents; None of any other. `prompts`: the fragments of its prompts, by hash."""
    update = run.manifest.get("update")
    if update is None:
        return None
    changes = read_changes(run.path)
    names = {kind: tuple(update[kind]) for kind in ("replaced", "added", "removed")}
    if changes.made is None:
        return Freshness(update["after_s"], None, **names, late=0)
    timeline = _Timeline(run, changes)
    requests = _requests(run, timeline, _Prompts(run, prompts))
    late = [record for record in run.records if record.outcome == "answered" and timeline.is_after(record)]
    answers = grouped(((record.arm, record.model), record) for record in late)
    keys = read_keys_after(run.path)
    return Freshness(
        after_s=update["after_s"],
        at=changes.made.at,
        **names,
        late=len(late),
        arms=tuple(
            _arm(arm, model, found, _answers(answers.get((arm, model), []), keys))
            for arm, model, found in by_arm_and_model(run, requests)
        ),
        workers=tuple(_worker(one, changes.made.at_ns) for _, one in sorted(timeline.adopted.items())),
    )


def troubles(found: Freshness | None) -> Iterator[str]:
    """What must be known of a run whose documents changed before its other figures are read."""
    if found is None:
        return
    if found.at is None:
        yield f"documents were to change {found.after_s:g} s after the begin: the run ended before"
        return
    if found.late:
        yield (
            f"documents changed in mid-run: accuracy, recall and evidence go by the keys of before, also for the "
            f"{found.late} answers begun after it"
        )
    for one in found.workers:
        failures = {name: index.failure for name, index in one.indexes.items()} | {"all others": one.failure}
        for name, failure in failures.items():
            if failure is not None:
                yield f"worker {one.worker} went on with the old index of {name}: {failure}"


class _Timeline:
    """Instants of a run on the driver's clock, from the change on."""

    def __init__(self, run: RunFolder, changes: Changes) -> None:
        assert changes.made is not None, "without a change there is no time after it"
        self._run, self._made = run, changes.made
        self.adopted = {one.worker: one for one in changes.adopted if one.session == changes.made.session}
        self._ahead_ns = {**changes.made.ahead_ns, **{name: one.ahead_ns for name, one in self.adopted.items()}}

    def session(self, record: Record) -> int:
        return self._run.sessions.get((record.trial, record.try_no), 1)

    def at_ns(self, record: Record, begin_ns: int) -> int | None:
        """Nanoseconds after the change; None: not known, since its worker told nothing, or of another session."""
        ahead_ns = self._ahead_ns.get(record.worker or "")
        if ahead_ns is None or self.session(record) != self._made.session:
            return None
        return begin_ns - ahead_ns - self._made.at_ns

    def is_after(self, record: Record) -> bool:
        """Whether a trial began after the change."""
        if record.begin_ns is None:
            return False
        at_ns = self.at_ns(record, record.begin_ns)
        return self.session(record) > self._made.session if at_ns is None else at_ns >= 0


class _Prompts:
    """What stood in prompts, fragment by fragment, each read once."""

    def __init__(self, run: RunFolder, prompts: Mapping[str, bytes]) -> None:
        self._prompts = prompts
        self._wordings = msgspec.json.decode((run.path / WORDINGS).read_bytes(), type=Wordings)
        self._known: dict[str, tuple[bool, bool, bool]] = {}

    def held(self, fragments: Sequence[str]) -> tuple[bool, bool] | None:
        """Whether the prompt holds old wording, and new; None when it is not on file."""
        if not fragments or any(one not in self._prompts for one in fragments):
            return None
        found = [self._of(one) for one in fragments]
        return any(old for old, _, _ in found), any(new for _, new, _ in found)

    def asks(self, fragments: Sequence[str]) -> bool:
        """Whether it asks for caching."""
        return any(self._of(one)[2] for one in fragments if one in self._prompts)

    def _of(self, digest: str) -> tuple[bool, bool, bool]:
        if digest not in self._known:
            raw = self._prompts[digest]
            self._known[digest] = (*self._wordings.held(_ESCAPED.sub(_plain, raw.decode())), _ASKS in raw)
        return self._known[digest]


def _plain(found: re.Match[str]) -> str:
    """What an escape of JSON stands for; the quotation marks that end its strings part words."""
    code, letter = found.groups()
    if code is not None:
        return chr(int(code, 16))
    return " " if letter is None or letter in _SPACE else letter


def _requests(run: RunFolder, timeline: _Timeline, prompts: _Prompts) -> Iterator[tuple[tuple[str, str], _Request]]:
    for record in (*run.superseded, *run.records):
        for turn in record.turns:
            for attempt in turn.attempts:
                at_ns = timeline.at_ns(record, attempt.begin_ns)
                if at_ns is not None:
                    held, asks = prompts.held(turn.prompt), prompts.asks(turn.prompt)
                    request = _Request(record.worker or "", at_ns, held, asks, attempt.usage)
                    yield (record.arm, record.model), request


def _arm(arm: str, model: str, requests: Sequence[_Request], answers: Answers | None) -> ArmFreshness:
    by_worker = grouped((request.worker, request) for request in requests)
    return ArmFreshness(
        arm=arm,
        model=model,
        seen=_seen(requests),
        workers={worker: _seen(found) for worker, found in sorted(by_worker.items())},
        cache=_cache(requests),
        answers=answers,
    )


def _seen(requests: Iterable[_Request]) -> Seen:
    requests = list(requests)
    after = [request for request in requests if request.at_ns >= 0]
    return Seen(
        requests=len(after),
        new=sum(request.held is not None and request.held[1] for request in after),
        old=sum(request.held is not None and request.held[0] for request in after),
        unknown=sum(request.held is None for request in after),
        seen_ns=min((request.at_ns for request in requests if request.held and request.held[1]), default=None),
        let_go_ns=max((request.at_ns for request in requests if request.held and request.held[0]), default=None),
    )


def _cache(requests: Sequence[_Request]) -> CacheReset | None:
    fresh = sorted((one for one in requests if one.asks and one.held and one.held[1]), key=lambda one: one.at_ns)
    told = [count for one in fresh if (count := _written(one.usage)) is not None]
    return CacheReset(len(told), sum(count > 0 for count in told), sum(told), told[0]) if told else None


def _written(usage: Usage | None) -> int | None:
    if usage is None or (usage.cache_write_5m is None and usage.cache_write_1h is None):
        return None
    return written_tokens(usage)


def _answers(records: Sequence[Record], keys: Mapping[str, Question]) -> Answers | None:
    if not keys:
        return None
    found = [marks(keys[record.question], record.answer) for record in records if record.question in keys]
    return Answers(
        n=len(found),
        right=sum(one.correct is True for one in found),
        told=sum(one.stale is not None for one in found),
        stale=sum(one.stale is True for one in found),
    )


def _worker(one: Adopted, at_ns: int) -> WorkerFreshness:
    told, zero_ns = one.adoption, one.ahead_ns + at_ns
    indexes = {
        name: IndexFreshness(
            None if index.ready_ns is None else index.ready_ns - zero_ns, index.build_ns, index.open_ns, index.failure
        )
        for name, index in told.indexes.items()
    }
    return WorkerFreshness(one.worker, told.changed_ns - zero_ns, one.error_ns, indexes, told.failure)
