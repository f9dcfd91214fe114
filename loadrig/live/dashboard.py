"""The Grafana dashboard over the metrics of `metrics.py`: a table of panels, built into dashboards/loadrig.json.

Rules: the data source, arm and model are variables; a rate's window is `$__rate_interval`, which follows the scrape
interval; latencies are of the measured phase, costs and counts of every phase; times in which the rig was client-bound
are marked over all charts. What happens rarely is shown as a count so far, because a rate cannot see the first event of
a series. The same code gives the same bytes.
Needs the `dashboards` extra; `python -m loadrig.live.dashboard FILE` writes the file.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from grafana_foundation_sdk.builders import common, stat, timeseries
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.common import BigValueTextMode, LegendDisplayMode, LegendPlacement, VisibilityMode

SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
CHOSEN = 'arm=~"$arm",model=~"$model"'
MEASURED = f'{CHOSEN},phase="measured"'

Drawn = TypeVar("Drawn", stat.Panel, timeseries.Panel)


@dataclass(frozen=True, slots=True)
class Query:
    """An expression and how its lines are named (`{{arm}}` stands for a label's value)."""

    expr: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """What a panel shows, in Grafana's unit names; `about` is its tooltip."""

    title: str
    unit: str
    about: str
    queries: tuple[Query, ...]


def rate(counter: str, by: str, where: str = CHOSEN) -> str:
    """Per second of a counter of ours, summed by labels."""
    return f"sum by ({by}) (rate(loadrig_{counter}{{{where}}}[$__rate_interval]))"


def quantile(share: float, histogram: str) -> str:
    """A quantile of the measured phase, by arm."""
    return f"histogram_quantile({share}, {rate(f'{histogram}_bucket', 'le, arm', MEASURED)})"


def spread(histogram: str) -> tuple[Query, Query]:
    """The median and the 95th percentile by arm."""
    return Query(quantile(0.5, histogram), "{{arm}} p50"), Query(quantile(0.95, histogram), "{{arm}} p95")


def mean(histogram: str) -> str:
    """The mean of a histogram by arm, every phase."""
    return f"{rate(f'{histogram}_sum', 'arm')} / {rate(f'{histogram}_count', 'arm')}"


NUMBERS = (
    Panel("Trials planned", "short", "Of every phase. Named by plan and run; tells if the target is simulated.", (
        Query("loadrig_run_info * on (job, instance) group_left () loadrig_trials_planned_total",
              "{{plan}} {{run}} (simulated: {{simulated}})"),
    )),
    Panel("Trials done", "percentunit", "Share of the planned trials, warm-up included, that have ended.", (
        Query("sum(loadrig_trials_total) / sum(loadrig_trials_planned_total)", "done"),
    )),
    Panel("Trials not answered", "short", "Failed, unanswered and not run, so far.", (
        Query(f'sum(loadrig_trials_total{{{CHOSEN},outcome!="answered"}})', "not answered"),
    )),
    Panel("Cost so far", "short", "The whole bill of trials with a price: every phase, failed ones too.", (
        Query(f"sum by (currency) (loadrig_cost_total{{{CHOSEN}}})", "{{currency}}"),
    )),
)  # fmt: skip

CHARTS = (
    Panel("Answered per second", "reqps", "Trials answered, by arm.", (
        Query(rate("trials_total", "arm", f'{CHOSEN},outcome="answered"'), "{{arm}}"),
    )),
    Panel("In flight", "short", "Trials in flight against what the stage asks for.", (
        Query("loadrig_trials_in_flight", "in flight"),
        Query("loadrig_trials_in_flight_target", "target"),
    )),
    Panel("Time to first token", "s", "Of each successful turn; hidden thinking is in it.",
          spread("time_to_first_token_seconds")),
    Panel("Time to first answer token", "s", "From the trial's begin: retrieval, tools and earlier turns are in it.",
          spread("time_to_first_answer_token_seconds")),
    Panel("Service latency", "s", "Trial begin to trial end, successes.", spread("trial_duration_seconds")),
    Panel("Scheduled latency", "s", "Due time to trial end, successes. Open loop only: a closed loop has no data here.",
          spread("trial_scheduled_duration_seconds")),
    Panel("Time per output token", "s", "Mean time between visible tokens of a turn.",
          spread("time_per_output_token_seconds")),
    Panel("Cost per hour", "short", "What an hour at the present pace costs, every phase.", (
        Query(f"{rate('cost_total', 'arm, currency')} * 3600", "{{arm}} {{currency}}"),
    )),
    Panel("Tokens per second", "short", "As the provider reports them; thinking is part of output.", (
        Query(rate("tokens_total", "kind"), "{{kind}}"),
        Query(f"sum(rate(loadrig_thinking_tokens_total{{{CHOSEN}}}[$__rate_interval]))", "thinking"),
    )),
    Panel("Not answered, by reason", "short", "Trials so far that failed, gave no answer or were not run.", (
        Query(f'sum by (outcome, reason) (loadrig_trials_total{{{CHOSEN},outcome!="answered"}})',
              "{{outcome}}: {{reason}}"),
    )),
    Panel("Attempts by code", "short", "HTTP exchanges so far, by status or failure, and the time spent waiting.", (
        Query(f"sum by (code) (loadrig_attempts_total{{{CHOSEN}}})", "{{code}}"),
        Query('sum(loadrig_backoff_seconds_total{model=~"$model"})', "seconds of back-off"),
    )),
    Panel("Turns per trial", "short", "Mean model calls of a trial, by arm.", (
        Query(mean("turns_per_trial"), "{{arm}}"),
    )),
    Panel("Tool calls per second", "ops", "Calls carried out, by tool.", (
        Query(rate("tool_calls_total", "tool"), "{{tool}}"),
    )),
    Panel("Retrieval and tools", "s", "Their 95th percentile in a trial, waiting included.", (
        Query(quantile(0.95, "retrieval_seconds"), "{{arm}} retrieval p95"),
        Query(quantile(0.95, "tool_seconds"), "{{arm}} tools p95"),
    )),
    Panel("Event loop lag", "s", "Worst worker over 10 s. A client-bound rig measures itself, not the target.", (
        Query("loadrig_event_loop_lag_seconds", "lag"),
        Query("loadrig_client_bound", "client-bound (1 = yes)"),
    )),
)  # fmt: skip


def build() -> bytes:
    """The dashboard as Grafana imports it: JSON with sorted keys."""
    board = (
        builders.Dashboard("loadrig")
        .uid("loadrig")
        .tags(["loadrig"])
        .time("now-15m", "now")
        .refresh("5s")
        .with_variable(builders.DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(_choice("arm"))
        .with_variable(_choice("model"))
        .annotation(_client_bound())
    )
    latest = common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
    for number, panel in enumerate(NUMBERS, start=1):
        number_panel = stat.Panel().reduce_options(latest).text_mode(BigValueTextMode.VALUE_AND_NAME)
        board.with_panel(_filled(number_panel, panel, number, instant=True).height(4).span(24 // len(NUMBERS)))
    for number, panel in enumerate(CHARTS, start=len(NUMBERS) + 1):
        chart = timeseries.Panel().legend(_legend()).show_points(VisibilityMode.NEVER).min(0)
        board.with_panel(_filled(chart, panel, number, instant=False).height(8).span(12))
    return JSONEncoder(sort_keys=True, indent=2).encode(board.build()).encode() + b"\n"


def _client_bound() -> builders.AnnotationQuery:
    """Marks the times over every chart in which the latencies were partly the rig's own."""
    query = builders.AnnotationQuery().name("client-bound").datasource(SOURCE).enable(True)
    return query.icon_color("red").expr("loadrig_client_bound == 1")


def _choice(label: str) -> builders.QueryVariable:
    """A variable that offers a label's values, several at once, and all of them to begin with."""
    everything = models.VariableOption(selected=True, text=["All"], value=["$__all"])
    return (
        builders.QueryVariable(label)
        .label(label.capitalize())
        .datasource(SOURCE)
        .query(f"label_values(loadrig_trials_total, {label})")
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(everything)
    )


def _legend() -> common.VizLegendOptions:
    return (
        common.VizLegendOptions()
        .display_mode(LegendDisplayMode.LIST)
        .placement(LegendPlacement.BOTTOM)
        .show_legend(True)
    )


def _filled(empty: Drawn, panel: Panel, number: int, *, instant: bool) -> Drawn:
    """Puts a panel's words and queries into a builder; what has no data yet shows a dash, not a warning."""
    empty.id(number).title(panel.title).description(panel.about).unit(panel.unit).no_value("-").datasource(SOURCE)
    for letter, query in zip("ABCDEF", panel.queries, strict=False):
        target = Dataquery().datasource(SOURCE).expr(query.expr).legend_format(query.legend).ref_id(letter)
        empty.with_target(target.instant() if instant else target.range())
    return empty


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(build())
