"""The provider's own report beside ours: forms that are read, what is wrong with one, and the difference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loadrig.analysis.nightly.digest import Billed, Sum
from loadrig.analysis.nightly.usage_report import Used, read_usage, reconciled
from loadrig.words.errors import InputError

HEADER = "day,model,input,cache_write,cache_read,output,cost\n"
USAGE = {"data": [{"starting_at": "2026-11-20T00:00:00Z", "ending_at": "2026-11-21T00:00:00Z", "results": [{
    "model": "m", "uncached_input_tokens": 100, "cache_creation": {"ephemeral_1h_input_tokens": 5,
    "ephemeral_5m_input_tokens": 20}, "cache_read_input_tokens": 300, "output_tokens": 40, "service_tier": "standard",
}]}]}  # fmt: skip
COSTS = {"data": [{"starting_at": "2026-11-20T00:00:00Z", "results": [
    {"model": "m", "currency": "USD", "amount": "12.5", "token_type": "output_tokens"},
    {"model": "m", "currency": "USD", "amount": "7.5", "token_type": "uncached_input_tokens"},
]}]}  # fmt: skip


def file(folder: Path, content: str | object) -> Path:
    path = folder / "usage"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_csv_is_read_and_its_rows_added_up(tmp_path: Path) -> None:
    """Two rows of one day and model, with what is not known left empty."""
    path = file(tmp_path, HEADER + "2026-11-20,m,100,,300,40,0.10\n2026-11-20,m,1,2,3,4,0.05\n")
    assert read_usage(path) == (("2026-11-20", "m", Used(101, 2, 303, 44, "0.15")),)


def test_the_providers_usage_and_cost_reports_are_read(tmp_path: Path) -> None:
    """Writes of both lifetimes are one figure; costs are cents: 12.5 and 7.5 are 0.20."""
    assert read_usage(file(tmp_path, USAGE)) == (("2026-11-20", "m", Used(100, 25, 300, 40)),)
    assert read_usage(file(tmp_path, COSTS)) == (("2026-11-20", "m", Used(cost="0.200")),)


def test_ours_theirs_and_the_difference() -> None:
    """By day and model; what only one side has is there, what theirs does not tell has no difference, and a day that
    theirs is not of is left out."""
    ours = [
        Billed("2026-11-20", "m", (100, 20, 5, 300, 40), Sum("0.10", 3)),
        Billed("2026-11-20", "n", (1, 0, 0, 0, 1), Sum("0", 0, 1)),
        Billed("2026-11-21", "m", (9, 9, 9, 9, 9), Sum("9", 1)),
    ]
    theirs = (("2026-11-20", "m", Used(110, None, 300, 40, "0.125")), ("2026-11-20", "x", Used(7)))
    found = {one.model: one for one in reconciled(ours, theirs)}
    assert [*found] == ["m", "n", "x"]
    assert found["m"].ours == Used(100, 25, 300, 40, "0.10")
    assert found["m"].difference == Used(10, None, 0, 0, "0.025")
    assert (found["n"].ours.cost, found["n"].unknown, found["n"].difference) == (None, 1, Used())
    assert found["x"].difference == Used(7)


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("model,input\nm,1\n", 1, "no column 'day'"),
        (HEADER.replace("cost", "costs"), 1, "unknown column 'costs'"),
        (HEADER + "2026-11-20,m,1,1,1,1,1\n20.11.2026,m,1,1,1,1,1\n", 3, "day '20.11.2026'"),
        (HEADER + "2026-11-20,m,1.5,1,1,1,1\n", 2, "input '1.5'"),
        (HEADER + "2026-11-20,m,-1,1,1,1,1\n", 2, "input '-1'"),
        (HEADER + "2026-11-20,m,1,1,1,1,$3\n", 2, "cost '$3'"),
        (HEADER + "2026-11-20,m,1,1,1,1,NaN\n", 2, "cost 'NaN'"),
        (HEADER + "2026-11-20,,1,1,1,1,1\n", 2, "model ''"),
        (HEADER + "2026-11-20,m,1\n", 2, "not as many cells"),
        (HEADER + "2026-11-20,m," + "9" * 5000 + ",1,1,1,1\n", 2, "input '999"),
        (HEADER + "2026-11-20,m,1,1,1,1,1e99999999\n", 2, "cost '1e99999999'"),
        (HEADER + "2026-11-20,m,1,1,1,1,1e-99999999\n", 2, "cost '1e-99999999'"),
        (HEADER + "2026-11-20," + "m" * 200_000 + ",1,1,1,1,1\n", None, "not a CSV"),
        (HEADER.replace("input", "model"), 1, "two columns 'model'"),
        (HEADER, None, "no rows"),
        ("[" * 100_000, None, "not JSON"),
        ('[{"day": "0001-01-01T00:00:00+05:00", "model": "m"}]', None, "row 1: day"),
        ('{"data": [{"results": [{"amount": "1e9999999", "model": "m"}]}]}', None, "row 1: day None"),
        ("{", None, "not JSON"),
        ("[1]", None, "row 1 is no object"),
        ('{"x": 1}', None, "no list of rows"),
        ('{"data": [{"starting_at": "2026-11-20", "results": [{"amount": "1", "currency": "EUR"}]}]}', None, "in EUR"),
        ('{"data": [{"starting_at": "2026-11-20", "results": [{"amount": "x", "model": "m"}]}]}', None, "cost 'x'"),
        ('{"data": [{"starting_at": "2026-11-20", "results": [{"output_tokens": 1}]}]}', None, "row 1: model None"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(content: str, line: int | None, problem: str, tmp_path: Path) -> None:
    """And with a remedy."""
    with pytest.raises(InputError) as found:
        read_usage(file(tmp_path, content))
    assert problem in found.value.problem
    assert found.value.line == line
    assert found.value.remedy


def test_a_day_with_an_offset_is_that_of_utc(tmp_path: Path) -> None:
    """Half past eleven at night five hours behind is the next day already."""
    found = read_usage(file(tmp_path, '[{"day": "2026-11-20T23:30:00-05:00", "model": "m", "cost": "1"}]'))
    assert found == (("2026-11-21", "m", Used(cost="1")),)


def test_no_file_is_said(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(InputError, match="no usage report"):
        read_usage(tmp_path / "nothing")
