"""PromQL over our metrics, as the dashboards ask it.

Rules: a rate's window is `$__rate_interval`, which follows the scrape interval. A run's id stands in `loadrig_run_info`
alone, so what is read is kept where that series of the same target is there at that moment: two runs that served on one
port, one after the other, are told apart. What was pushed to a gateway has the label `run` instead (and no instance):
`run=~"$run|"` lets the chosen one pass, and what has no such label.
`latest` is what was last seen while the chosen run was there, also when its endpoint has gone since. What spans many
runs reads the recording rules, which keep each run's totals under its name.
"""

from __future__ import annotations

INFO = 'loadrig_run_info{run=~"$run"}'
RUN = 'run=~"$run|"'
CHOSEN = f'{RUN},arm=~"$arm",model=~"$model"'
MEASURED = f'{CHOSEN},phase="measured"'


def of_run(vector: str) -> str:
    """What of a vector belongs to the chosen run."""
    return f"{vector} and on (job, instance) {INFO}"


def gauge(name: str, where: str = RUN) -> str:
    """A gauge of ours of the chosen run."""
    return of_run(f"loadrig_{name}{{{where}}}")


def rate(counter: str, by: str, where: str = CHOSEN) -> str:
    """Per second of a counter of ours, summed by labels."""
    inner = of_run(f"rate(loadrig_{counter}{{{where}}}[$__rate_interval])")
    return f"sum by ({by}) ({inner})"


def total(counter: str, by: str, where: str = CHOSEN) -> str:
    """A counter of ours as it stands, summed by labels."""
    return f"sum by ({by}) ({gauge(counter, where)})"


def latest(vector: str) -> str:
    """The last value of each series within the time range shown."""
    return f"last_over_time(({vector})[$__range:$__interval])"


def quantile(share: float, histogram: str, by: str = "arm") -> str:
    """A quantile of what ended lately, of the measured phase."""
    return f"histogram_quantile({share}, {rate(f'{histogram}_bucket', f'le, {by}', MEASURED)})"


def so_far(share: float, histogram: str, by: str) -> str:
    """A quantile of all that ended so far, of the measured phase; nothing before the first."""
    counts = latest(total(f"{histogram}_bucket", f"le, {by}", MEASURED))
    return f"histogram_quantile({share}, {counts}) >= 0"


def mean(histogram: str, by: str = "arm") -> str:
    """The mean of a histogram lately, every phase."""
    return f"{rate(f'{histogram}_sum', by)} / {rate(f'{histogram}_count', by)}"


def or_none(vector: str, label: str) -> str:
    """A vector; where it is empty, 0 under the name "none" while the run is there."""
    return f'{vector} or on () label_replace(0 * max({INFO}), "{label}", "none", "", "")'


def recorded(name: str, where: str) -> str:
    """What the recording rules keep of runs, by the name there."""
    return f'run:loadrig_{name}{{run=~"$run",{where}}}'


def daily(name: str, by: str, where: str) -> str:
    """How much a counter rose in the day (or week) that begins at the instant asked for: of each run its highest value
    in it, less what it had when the day began."""
    begun = recorded(name, where)
    most = f"max_over_time({begun}[$each] offset -$each)"
    return f"sum by ({by}) ({most} - {begun} or {most})"


def in_range(name: str, by: str, where: str) -> str:
    """What runs counted in all, as last seen within the time range shown, summed by labels."""
    return f"sum by ({by}) (max_over_time({recorded(name, where)}[$__range]))"
