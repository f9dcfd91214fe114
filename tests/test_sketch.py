"""Histograms lose, bend and invent nothing beyond their three digits."""

from __future__ import annotations

from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from hypothesis import given
from hypothesis import strategies as st
from records import MS, S, failed, record

from loadrig.sketch import DIGITS, HIGHEST_US, LOWEST_US, Sketch, write_interval_log
from loadrig.stats import quantile


def sketch_of(*values_ns: int) -> Sketch:
    sketch = Sketch()
    for value_ns in values_ns:
        sketch.record(value_ns)
    return sketch


def test_values_over_the_top_are_counted_and_the_maximum_kept() -> None:
    """H1: 1 s and 75 s count 2 with max 75 s; 2 h counts too, clamped, and stays the maximum."""
    sketch = sketch_of(S, 75 * S)
    assert (sketch.count, sketch.max_ns, sketch.clamped) == (2, 75 * S, 0)
    sketch.record(7200 * S)
    assert (sketch.count, sketch.max_ns, sketch.clamped, sketch.quantile_ns(0.99)) == (3, 7200 * S, 1, 7200 * S)
    assert HdrHistogram.decode(sketch.encoded()).get_total_count() == 3


def test_quantiles_come_from_the_merge_of_workers() -> None:
    """H2: 99 x 100 ms + 1 x 2 s and 80 x 100 ms + 20 x 2 s: of 200 the p50 is 100 ms and the p90 2 s."""
    first, second = sketch_of(*[100 * MS] * 99, 2 * S), sketch_of(*[100 * MS] * 80, *[2 * S] * 20)
    first.merge(second)
    p50, p90 = first.quantile_ns(0.5), first.quantile_ns(0.9)
    assert first.count == 200
    assert p50 is not None
    assert abs(p50 - 100 * MS) <= 0.1 * MS
    assert p90 == 2 * S


def test_a_merge_loses_nothing_and_keeps_the_true_maximum() -> None:
    """H3: empty into full, full into empty, over the top: counts add up."""
    empty, full = Sketch(), sketch_of(1, 5000 * S)
    empty.merge(full)
    full.merge(Sketch())
    assert [(s.count, s.clamped, s.max_ns) for s in (empty, full)] == [(2, 1, 5000 * S)] * 2


def test_no_quantile_above_the_maximum() -> None:
    """H4: one sample of 1,000,003 us reads back as itself, not as the bucket's end."""
    assert sketch_of(1_000_003_000).quantile_ns(0.99) == 1_000_003_000


def test_an_empty_sketch_has_no_quantile() -> None:
    """H5: not available, not 0."""
    assert Sketch().quantile_ns(0.5) is None


@given(st.lists(st.integers(1000, 3600 * S), min_size=1, max_size=40), st.sampled_from([0.1, 0.5, 0.95, 0.99, 1.0]))
def test_sketch_and_exact_quantiles_agree(values_ns: list[int], q: float) -> None:
    """The histogram's quantile is within 0.1 % or 1 us of the exact one of the same values."""
    exact, sketched = quantile(sorted(values_ns), q), sketch_of(*values_ns).quantile_ns(q)
    assert exact is not None
    assert exact.value_ns is not None
    assert sketched is not None
    assert abs(sketched - exact.value_ns) <= max(1000, exact.value_ns * 0.001)


@given(st.lists(st.integers(0, 3600 * S), max_size=20), st.lists(st.integers(0, 3600 * S), max_size=20))
def test_merge_is_order_free(some: list[int], others: list[int]) -> None:
    """Merging two ways round and recording all in one give the same counts."""
    one, two = sketch_of(*some), sketch_of(*others)
    one.merge(sketch_of(*others))
    two.merge(sketch_of(*some))
    assert one.encoded() == two.encoded() == sketch_of(*some, *others).encoded()


def test_the_interval_log_is_read_back_by_the_library(tmp_path: Path) -> None:
    """One tagged line for each arm and stage, measured successes only, in microseconds."""
    path = tmp_path / "histograms.hlog"
    records = [record("t1"), record("t2", service_ns=2 * S), record("t3", phase="tail"), failed("t4")]
    write_interval_log(path, [*records, record("t5", arm="control")])
    reader = HistogramLogReader(str(path), HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS))
    found = [reader.get_next_interval_histogram() for _ in range(2)]
    assert [(h.get_tag(), h.get_total_count()) for h in found] == [("control/c2", 1), ("rag/c2", 2)]
    assert found[1].get_max_value() // 1000 == 2000
    assert reader.get_next_interval_histogram() is None
    reader.close()


def test_an_interval_log_of_nothing_is_only_its_head(tmp_path: Path) -> None:
    """A run in which all failed still has its file."""
    write_interval_log(tmp_path / "h.hlog", [failed("t1")])
    assert "Tag=" not in (tmp_path / "h.hlog").read_text()
