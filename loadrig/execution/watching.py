"""Who watches a run, and what they are told beforehand: the progress view, the metrics, their endpoint and gateway."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from decimal import Decimal
from types import TracebackType

from loadrig.execution.options import Options
from loadrig.execution.prepare import Prepared
from loadrig.execution.unmet import caching
from loadrig.live.ahead import Ahead, StageAhead
from loadrig.live.endpoint import Endpoint
from loadrig.live.metrics import Metrics
from loadrig.live.progress import Progress
from loadrig.live.pushing import Pusher, gateway_of
from loadrig.plan import likely
from loadrig.words.trial import Observer, Stage


class Watching:
    """The observers of one run. While it is open metrics are served, and pushed from `expect` on; `with` closes it,
    when gauges end and the final state is pushed. Raises `InputError` for an address that cannot be one."""

    def __init__(self, options: Options, progress: Progress) -> None:
        self._gateway = None if options.pushgateway is None else gateway_of(options.pushgateway)
        self._progress, self._metrics, self._stack = progress, Metrics(), ExitStack()
        self.endpoint = Endpoint(self._metrics.registry, host=options.metrics_host, port=options.metrics_port)
        self.observers: tuple[Observer, ...] = (progress, self._metrics)

    def __enter__(self) -> Watching:
        self._stack.enter_context(self.endpoint)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def expect(self, ahead: Ahead, run: str) -> None:
        """What will be watched, and under which name it is pushed."""
        self._progress.expect(ahead)
        self._metrics.expect(ahead)
        if self._gateway is not None:
            pusher = Pusher(self._metrics.registry, self._gateway, run, say=self._progress.warn)
            self._stack.enter_context(pusher)
            self._stack.callback(self._metrics.finished)  # before the last push, however the run ended

    def tell(self) -> None:
        """Says where the metrics are to be had."""
        if self.endpoint.url:
            self._progress.notice(f"metrics at {self.endpoint.url}")
        if self._gateway is not None:
            self._progress.notice(f"metrics are pushed to {self._gateway}")


def ahead_of(to_ask: Prepared, *, is_steered: bool) -> Ahead:
    """What the trials to ask come to. A measured trial that ends when fewer are in flight is of the tail."""
    lanes = {(trial.arm, trial.model, trial.phase) for trial in to_ask.trials}
    tails = {(arm, model, "tail") for arm, model, phase in lanes if phase == "measured"}
    planned = Counter(trial.stage for trial in likely(to_ask.stages, to_ask.trials))
    stages = tuple(
        StageAhead(one.name, planned[one.name], _lasts_s(one), is_open=one.open_loop is not None)
        for one in to_ask.stages
        if planned[one.name]
    )
    budget = to_ask.plan.budget
    return Ahead(
        frozenset(lanes | tails),
        stages,
        is_steered=is_steered,
        currency=to_ask.prices.currency,
        caching=caching(to_ask.plan),
        money=None if budget.money is None else Decimal(budget.money),
        tokens=budget.tokens,
    )


def _lasts_s(stage: Stage) -> float | None:
    return stage.duration_s if stage.open_loop is None else stage.open_loop.length_ns / 1e9
