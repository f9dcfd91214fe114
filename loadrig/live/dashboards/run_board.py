"""The dashboard of a run while it lasts: what it is, how it fares by arm, its load, latencies, stages with their knee,
failures, tokens and money, tools, and whether the rig itself was the bottleneck.

Rules: latencies are of the measured phase, the ten-second gauges, costs and counts of every phase. What is shown "so
far" is of the whole run. Times in which the rig was client-bound, and the begin of each stage, are marked over all
charts.
"""

from __future__ import annotations

from loadrig.live.dashboards.panels import Board, Choice, Mark, Panel, Query, Row
from loadrig.live.dashboards.queries import (
    CHOSEN,
    INFO,
    MEASURED,
    RUN,
    gauge,
    latest,
    mean,
    of_run,
    or_none,
    quantile,
    rate,
    so_far,
    total,
)

TTFT, TTFAT, SERVICE = "time_to_first_token_seconds", "time_to_first_answer_token_seconds", "trial_duration_seconds"
NOT_ANSWERED = f'{CHOSEN},outcome!="answered"'
ANSWERED = f'{CHOSEN},outcome="answered"'
FAILED = f'{CHOSEN},outcome="failed"'
CACHE_READ, PROMPT = f'{CHOSEN},kind="cache_read"', f'{CHOSEN},kind=~"input|cache_write|cache_read"'
OF_MODEL = f'{RUN},model=~"$model"'
NEWEST = "sort_desc(max by (run) (max_over_time(timestamp(loadrig_run_info)[$__range:15s])))"
CLIENT_BOUND = (("0", "no", "green"), ("1", "yes", "red"))


def spread(histogram: str) -> tuple[Query, ...]:
    """Median, 95th and 99th percentile by arm, of what ended lately."""
    return (
        Query(quantile(0.5, histogram), "{{arm}} p50", style="thin"),
        Query(quantile(0.95, histogram), "{{arm}} p95"),
        Query(quantile(0.99, histogram), "{{arm}} p99", style="dotted"),
    )


def ten_seconds(name: str) -> tuple[Query, ...]:
    """Median and 95th percentile of the last ten seconds by arm, as the driver worked them out."""
    return (
        Query(gauge(f"{name}_p50_10s_seconds", CHOSEN), "{{arm}} p50", style="thin"),
        Query(gauge(f"{name}_p95_10s_seconds", CHOSEN), "{{arm}} p95"),
    )


def figures(by: str) -> tuple[Query, ...]:
    """The columns of latencies so far: how many were timed, and their percentiles."""
    return (
        Query(latest(total(f"{SERVICE}_count", by, MEASURED)), "timed n", unit="locale"),
        Query(so_far(0.5, TTFT, by), "TTFT p50", unit="s"),
        Query(so_far(0.95, TTFT, by), "TTFT p95", unit="s"),
        Query(so_far(0.99, TTFT, by), "TTFT p99", unit="s"),
        Query(so_far(0.5, SERVICE, by), "latency p50", unit="s"),
        Query(so_far(0.95, SERVICE, by), "latency p95", unit="s"),
        Query(so_far(0.99, SERVICE, by), "latency p99", unit="s"),
    )


SPAN = "[$__range:$__interval]"


def stage_pace() -> str:
    """Answered trials a second in each stage: what was answered between the first scrape that saw it running and the
    last one, over the time between the two."""
    answered = f"({total('trials_total', 'stage', ANSWERED)} and on (stage) ({gauge('stage_load')})){SPAN}"
    seen = f"(max by (stage) ({of_run(f'timestamp(loadrig_stage_load{{{RUN}}})')})){SPAN}"
    rose = f"(max_over_time({answered}) - min_over_time({answered}))"
    return f"{rose} / (max_over_time({seen}) - min_over_time({seen}) > 0)"


STAGE_PACE = stage_pace()
STAGE_MEAN = (
    f"{latest(total(f'{SERVICE}_sum', 'stage', MEASURED))} / ({latest(total(f'{SERVICE}_count', 'stage', MEASURED))})"
)
STAGE_LOAD = latest(f"max by (stage) ({gauge('stage_load')})")


OVERVIEW = Row("The run", (
    Panel("Planned", "locale", "Trials of every phase, as far as they are known before. Named by plan; "
          "tells if the target is simulated.", (
        Query(latest(f"max by (plan, simulated) ({INFO}) * on () group_left () sum({gauge('trials_planned_total')})"),
              "{{plan}}, simulated: {{simulated}}"),
    ), kind="stat", width=4, height=4),
    Panel("Ended", "locale", "Trials of every phase, whatever became of them. A stage that lasts for a time asks the "
          "questions again and again: then more end than one round of them has.", (
        Query(latest(f"sum({gauge('trials_total')})"), "trials"),
    ), kind="stat", width=4, height=4),
    Panel("Not answered", "locale", "Failed, unanswered and not run, so far; the reasons are below.", (
        Query(latest(f"sum({gauge('trials_total', NOT_ANSWERED)})"), "trials"),
    ), kind="stat", width=4, height=4, limits=(1,)),
    Panel("Answered per second", "reqps", "Lately, over all arms chosen.", (
        Query(latest(f"sum({rate('trials_total', 'arm', ANSWERED)})"), "answered"),
    ), kind="stat", width=4, height=4),
    Panel("Cost so far", "short", "The bill of trials with a price: every phase, failed ones too.", (
        Query(latest(total("cost_total", "currency")), "{{currency}}"),
    ), kind="stat", width=4, height=4),
    Panel("Client-bound", "short", "Whether the rig, or an embedded simulator, is the bottleneck: then its latencies "
          "are partly its own.", (
        Query(latest(f"max({gauge('client_bound')}) >= 0"), "last known"),
    ), kind="stat", width=4, height=4, words=CLIENT_BOUND, limits=(1,), empty="not known"),
    Panel("By arm, so far", "short", "Of the measured phase. Percentiles are estimates from buckets: those to quote "
          "are in the report, each with its n.", (
        Query(latest(total("trials_total", "arm", f'{MEASURED},outcome!="not_run"')), "asked", unit="locale"),
        Query(latest(total("trials_total", "arm", f'{MEASURED},outcome="answered"')), "answered", unit="locale"),
        *figures("arm"),
        Query(so_far(0.5, TTFAT, "arm"), "TTFAT p50", unit="s"),
        Query(so_far(0.95, TTFAT, "arm"), "TTFAT p95", unit="s"),
        Query(so_far(0.99, TTFAT, "arm"), "TTFAT p99", unit="s"),
        Query(latest(total("cost_total", "arm", MEASURED)), "cost", unit="short"),
    ), kind="table", width=24, height=8, rows=("arm", "arm"), sorted_by="arm"),
))  # fmt: skip

LOAD = Row("Load", (
    Panel("In flight", "short", "Trials in flight against what the stage asks for (closed loop; an open one asks for "
          "a rate).", (
        Query(gauge("trials_in_flight"), "in flight"),
        Query(gauge("trials_in_flight_target"), "target", style="dotted"),
    ), width=8),
    Panel("Answered per second", "reqps", "Trials answered, by arm.", (
        Query(rate("trials_total", "arm", ANSWERED), "{{arm}}"),
    ), width=8),
    Panel("Scheduled latency", "s", "Due time to trial end. Of an open loop: in a closed one nothing has a due time.",
          spread("trial_scheduled_duration_seconds"), width=8, empty="only in an open loop"),
))  # fmt: skip

LATENCY = Row("Latency of successes, measured phase", (
    Panel("Time to first token", "s", "Of each turn, from its attempt's begin; hidden thinking is in it.",
          spread(TTFT), height=9),
    Panel("Time to first answer token", "s", "From the trial's begin: retrieval, tools, earlier turns and waiting are "
          "in it. What a user waits for.", spread(TTFAT), height=9),
    Panel("Service latency", "s", "Trial begin to trial end.", spread(SERVICE), height=9),
    Panel("Time per output token", "s", "Mean time between visible tokens of a turn.",
          spread("time_per_output_token_seconds"), height=9),
    Panel("Time to first token, last 10 s", "s", "Every phase, by the driver's own clock: nothing is estimated from "
          "buckets.", ten_seconds("time_to_first_token"), width=8),
    Panel("Service latency, last 10 s", "s", "Every phase, by the driver's own clock: nothing is estimated from "
          "buckets.", ten_seconds("trial_duration"), width=8),
    Panel("Samples of the last 10 s", "short", "How many the two charts beside it stand on. Of fewer than 20 the 95th "
          "percentile is the largest.", (
        Query(gauge("time_to_first_token_samples_10s", CHOSEN), "{{arm}} first tokens", style="thin"),
        Query(gauge("trial_duration_samples_10s", CHOSEN), "{{arm}} trials"),
    ), width=8),
))  # fmt: skip

STAGE = Row("Stages and the knee", (
    Panel("Throughput by stage", "reqps", "Trials answered a second, each stage a line.", (
        Query(f"{rate('trials_total', 'stage', ANSWERED)} > 0", "{{stage}}"),
    )),
    Panel("Latency by stage", "s", "Service latency p95, each stage a line: past the knee it rises while throughput "
          "does not.", (
        Query(f"{quantile(0.95, SERVICE, 'stage')} >= 0", "{{stage}}"),
    )),
    Panel("By stage", "short", "Load: trials in flight, or trials a second of an open loop. Answered per second: from "
          "the first scrape of the stage to its last. Latencies are of the measured phase.", (
        Query(STAGE_LOAD, "load", unit="short"),
        Query(STAGE_PACE, "answered/s", unit="reqps"),
        *figures("stage"),
        Query(latest(total("trials_total", "stage", FAILED)), "failed", unit="locale"),
    ), kind="table", width=24, rows=("stage", "stage"), sorted_by="load"),
    Panel("Highest throughput of a stage", "reqps", "Answered trials, from the stage's first scrape to its last.", (
        Query(f"max({STAGE_PACE})", "answered"),
    ), kind="stat", width=8, height=4, empty="no stage yet"),
    Panel("Shortest mean latency of a stage", "s", "Of successes: the nearest to that of a lone trial.", (
        Query(f"min({STAGE_MEAN})", "mean"),
    ), kind="stat", width=8, height=4, empty="no stage yet"),
    Panel("Knee, about", "short", "Trials in flight beyond which they wait for one another: the two numbers beside it, "
          "multiplied (asymptotic bounds). Wants three stages; the sweep's report fits it and gives an interval.", (
        Query(f"max({STAGE_PACE}) * min({STAGE_MEAN}) and on () (count({STAGE_LOAD}) >= 3)", "in flight"),
    ), kind="stat", width=8, height=4, decimals=1, empty="wants 3 stages"),
))  # fmt: skip

FAILURES = Row("Failures and limits", (
    Panel("Not answered, by reason", "short", "Trials so far that failed, gave no answer or were not run.", (
        Query(or_none(f"({total('trials_total', 'outcome, reason', NOT_ANSWERED)}) > 0", "outcome"),
              "{{outcome}} {{reason}}"),
    )),
    Panel("Share not answered", "percentunit", "Of the trials that ended lately, by arm.", (
        Query(f"{rate('trials_total', 'arm', NOT_ANSWERED)} / {rate('trials_total', 'arm')}", "{{arm}}"),
    )),
    Panel("HTTP exchanges by code", "reqps", "By status, or by failure where no bad status came.", (
        Query(f"{rate('attempts_total', 'code')} and on (code) ({total('attempts_total', 'code')} > 0)", "{{code}}"),
    ), width=8),
    Panel("Back-off", "short", "Trials that wait at a time, before an attempt: after a failure, or for leave under the "
          "model's own limits.", (
        Query(rate("backoff_seconds_total", "model", OF_MODEL), "{{model}}"),
    ), width=8),
    Panel("Rate-limit headroom", "percentunit", "What is left of the limit of a minute, as the newest reply told.", (
        Query(f"min by (model, kind) ({gauge('rate_limit_remaining', OF_MODEL)})"
              f" / min by (model, kind) ({gauge('rate_limit_allowed', OF_MODEL)})", "{{model}} {{kind}}"),
    ), width=8, most=1),
))  # fmt: skip

SPENDING = Row("Tokens and money", (
    Panel("Tokens per second", "short", "As the provider reports them; thinking is part of output.", (
        Query(rate("tokens_total", "kind"), "{{kind}}"),
        Query(f"sum({rate('thinking_tokens_total', 'arm')})", "thinking", style="dotted"),
    ), width=8),
    Panel("Cost per hour", "short", "What an hour at the present pace costs, every phase.", (
        Query(f"{rate('cost_total', 'arm, currency')} * 3600", "{{arm}} {{currency}}"),
    ), width=8),
    Panel("Cache share of the prompts", "percentunit", "Prompt tokens that were read from the cache, by arm.", (
        Query(f"{rate('tokens_total', 'arm', CACHE_READ)} / {rate('tokens_total', 'arm', PROMPT)}", "{{arm}}"),
    ), width=8, most=1),
))  # fmt: skip

WORK = Row("Retrieval, tools and turns", (
    Panel("Retrieval and tools", "s", "Their 95th percentile in a trial, waiting included.", (
        Query(quantile(0.95, "retrieval_seconds"), "{{arm}} retrieval p95"),
        Query(quantile(0.95, "tool_seconds"), "{{arm}} tools p95", style="dotted"),
    ), width=8),
    Panel("Turns per trial", "short", "Mean model calls of a trial, by arm.", (
        Query(mean("turns_per_trial"), "{{arm}}"),
    ), width=8),
    Panel("Tool calls per second", "ops", "Calls carried out, by tool.", (
        Query(rate("tool_calls_total", "tool"), "{{tool}}"),
    ), width=8),
))  # fmt: skip

RIG = Row("The rig itself", (
    Panel("Event loop lag", "s", "Worst worker over 10 s. A client-bound rig measures itself, not the target.", (
        Query(gauge("event_loop_lag_seconds"), "lag"),
    )),
    Panel("Client-bound", "short", "1 while the rig is the bottleneck, by the rule of the report.", (
        Query(gauge("client_bound"), "client-bound"),
    )),
))  # fmt: skip

RUN_BOARD = Board(
    uid="loadrig",
    title="loadrig: the run",
    about="A run while it lasts. Choose it above; the newest of the time range is chosen to begin with.",
    since="now-15m",
    refresh="5s",
    choices=(
        Choice("run", "Run", f"query_result({NEWEST})", pattern='/run="([^"]+)"/', every=False),
        Choice("arm", "Arm", 'label_values(loadrig_trials_total, arm)'),
        Choice("model", "Model", 'label_values(loadrig_trials_total, model)'),
    ),
    rows=(OVERVIEW, LOAD, LATENCY, STAGE, FAILURES, SPENDING, WORK, RIG),
    marks=(
        Mark("client-bound", f"({gauge('client_bound')}) == 1", "red", "client-bound", "the rig is the bottleneck"),
        Mark("stages", f"{gauge('stage_load')} unless loadrig_stage_load offset @@{{interval}}", "blue",
             "stage {{stage}}", "begins"),
    ),
)  # fmt: skip
