"""The dashboard of many runs: what each day cost, what for, and what came of it.

Rules: a day's figure is what its runs counted in it: of each run the highest value that was seen, less what it had when
the day began, so that a run over midnight is in both days with what it spent in each. The days are those of the
browser's time zone; a bar stands at the day's begin. Costs of a question are of asked trials (measured and tail); the
bill is of every phase. What metrics cannot tell (accuracy, cost of a correct answer, intervals) is in the nightly
report.
"""

from __future__ import annotations

from loadrig.live.dashboards.panels import Board, Choice, Panel, Query, Row
from loadrig.live.dashboards.queries import daily, in_range

EVERY = 'arm=~"$arm",model=~"$model"'
ASKED = f'{EVERY},phase=~"measured|tail"'
SENT = f'{ASKED},outcome!="not_run"'
ANSWERED, NOT_ANSWERED = f'{ASKED},outcome="answered"', f'{ASKED},outcome!="answered"'
CACHE_READ, PROMPT = f'{EVERY},kind="cache_read"', f'{EVERY},kind=~"input|cache_write|cache_read"'
COST, TRIALS, TOKENS = "cost:total", "trials:total", "tokens:total"
NO_RULES = "no runs"
Colors = tuple[tuple[str, str], ...]
OUTCOMES = (("answered", "green"), ("unanswered", "orange"), ("failed", "red"), ("not_run", "text"))


def per_question(trials: str) -> str:
    """What a question cost in a day, by arm: the cost of asked trials over the number of those meant."""
    return f"{daily(COST, 'arm, currency', ASKED)} / on (arm) group_left () ({daily(TRIALS, 'arm', trials)} > 0)"


def bars(title: str, unit: str, about: str, *queries: Query, width: int = 12, colors: Colors = ()) -> Panel:
    """A stack of bars for each day."""
    return Panel(title, unit, about, queries, kind="bars", width=width, step="$each", colors=colors)


def line(title: str, unit: str, about: str, *queries: Query, width: int = 12) -> Panel:
    """A point for each day, joined."""
    return Panel(title, unit, about, queries, width=width, step="$each")


def number(title: str, unit: str, about: str, query: Query) -> Panel:
    """One number of the whole time range."""
    return Panel(title, unit, about, (query,), kind="stat", width=4, height=4, empty=NO_RULES)


OVERALL = Row("The time range shown", (
    number("Bill", "short", "Every phase, failed trials too; of trials with a price.",
           Query(in_range(COST, "currency", EVERY), "{{currency}}")),
    number("Questions asked", "locale", "Trials that were sent, measured and tail.",
           Query(in_range(TRIALS, "", SENT), "asked")),
    number("Answered", "percentunit", "Share of the asked that were answered.",
           Query(f"{in_range(TRIALS, '', ANSWERED)} / {in_range(TRIALS, '', SENT)}", "of the asked")),
    number("Cost of a question asked", "short", "Cost of asked trials over their number.",
           Query(f"{in_range(COST, 'currency', ASKED)} / on () group_left () {in_range(TRIALS, '', SENT)}",
                 "{{currency}}")),
    number("Cost of one answered", "short", "The same cost over the number of answered ones.",
           Query(f"{in_range(COST, 'currency', ASKED)} / on () group_left () {in_range(TRIALS, '', ANSWERED)}",
                 "{{currency}}")),
    number("Runs", "locale", "Runs seen within the time range.",
           Query('count(count by (run) (max_over_time(run:loadrig_info:seen{run=~"$run"}[$__range])))', "runs")),
))  # fmt: skip

MONEY = Row("Money", (
    bars("Bill by day", "short", "Every phase, by arm.",
         Query(daily(COST, "arm, currency", EVERY), "{{arm}} {{currency}}")),
    bars("Bill by phase", "short", "Measured trials, and what warm-up and tail cost besides.",
         Query(daily(COST, "phase, currency", EVERY), "{{phase}} {{currency}}")),
    line("Cost of a question asked", "short", "By arm; failed ones are in cost and number.",
         Query(per_question(SENT), "{{arm}} {{currency}}")),
    line("Cost of a question answered", "short", "By arm: the same cost, carried by those that were answered.",
         Query(per_question(ANSWERED), "{{arm}} {{currency}}")),
))  # fmt: skip

TOKEN = Row("Tokens", (
    bars("Tokens by kind", "short", "As the provider reported them; thinking is part of output.",
         Query(daily(TOKENS, "kind", EVERY), "{{kind}}"), width=8),
    line("Thinking tokens", "short", "They are among the output.",
         Query(daily("thinking_tokens:total", "arm", EVERY), "{{arm}}"), width=8),
    line("Cache share of the prompts", "percentunit", "Prompt tokens that were read from the cache, by arm.",
         Query(f"{daily(TOKENS, 'arm', CACHE_READ)} / ({daily(TOKENS, 'arm', PROMPT)} > 0)", "{{arm}}"), width=8),
))  # fmt: skip

OUTCOME = Row("What came of it", (
    bars("Trials by outcome", "short", "Asked ones, and those that were not run.",
         Query(daily(TRIALS, "outcome", ASKED), "{{outcome}}"), width=8, colors=OUTCOMES),
    bars("Not answered, by reason", "short", "Trials that failed, gave no answer or were not run.",
         Query(f"{daily(TRIALS, 'outcome, reason', NOT_ANSWERED)} > 0", "{{outcome}} {{reason}}"), width=8),
    line("Service latency p95", "s", "By arm, of the day's successes; an estimate from buckets.",
         Query(f"histogram_quantile(0.95, {daily('trial_duration_seconds:bucket', 'le, arm', EVERY)}) >= 0",
               "{{arm}} p95"), width=8),
))  # fmt: skip

RUNS = Row("Runs", (
    Panel("Runs", "short", "Cost is the whole bill, the rest is of asked trials.", (
        Query('max by (run, plan, simulated) (max_over_time(run:loadrig_info:seen{run=~"$run"}[$__range])) * 1000',
              "last seen", unit="dateTimeAsIso"),
        Query(in_range(COST, "run", EVERY), "bill", unit="short"),
        Query(in_range(TRIALS, "run", SENT), "asked", unit="locale"),
        Query(in_range(TRIALS, "run", ANSWERED), "answered", unit="locale"),
        Query(f"{in_range(COST, 'run', ASKED)} / ({in_range(TRIALS, 'run', SENT)} > 0)", "cost of a question",
              unit="short"),
        Query(in_range(TOKENS, "run", PROMPT), "prompt tokens", unit="locale"),
    ), kind="table", width=24, height=9, rows=("run", "run"), sorted_by="-last seen"),
))  # fmt: skip

NIGHTS_BOARD = Board(
    uid="loadrig-nights",
    title="loadrig: cost and tokens by night",
    about="Many runs, by day or week. A bar stands at the begin of its day. Reads the recording rules.",
    since="now-14d",
    refresh="5m",
    choices=(
        Choice("run", "Run", "label_values(run:loadrig_info:seen, run)"),
        Choice("arm", "Arm", "label_values(run:loadrig_trials:total, arm)"),
        Choice("model", "Model", "label_values(run:loadrig_trials:total, model)"),
    ),
    rows=(OVERALL, MONEY, TOKEN, OUTCOME, RUNS),
    spans=(("each", "By", ("1d", "7d")),),
)
