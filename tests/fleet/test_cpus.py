"""Whether workers fit on the nodes there are, told with both numbers."""

from __future__ import annotations

import pytest

from loadrig.fleet.cpus import compare, fit
from loadrig.words.errors import InputError


def test_more_than_there_are_in_all_is_said_with_both_numbers() -> None:
    """Nine of half a CPU on four: 4.5 and 4."""
    with pytest.raises(InputError, match=r"ask for 4\.5 CPUs, there are 4"):
        compare(9 * 0.5, 4)
    compare(4, 4)


@pytest.mark.parametrize(
    ("cpus_per_worker", "nodes", "room"),
    [(1.0, [0, 2, 2], 4), (2.0, [1, 2, 3], 2), (0.5, [1, 1.5], 5), (0.1, [1], 10), (0.0, [0], 99), (0.3, [0.9], 3)],
)
def test_no_worker_is_split_over_nodes(cpus_per_worker: float, nodes: list[float], room: int) -> None:
    """Each node has room for whole workers only: so many fit, one more does not."""
    fit(room, cpus_per_worker, nodes)
    if cpus_per_worker:
        with pytest.raises(InputError):
            fit(room + 1, cpus_per_worker, nodes)


def test_room_that_only_the_sum_would_have_is_told() -> None:
    """Three of 2 CPUs on nodes of 3 and 3: six in all, room for two."""
    with pytest.raises(InputError, match="3 workers ask for 2 CPUs each, the nodes have room for 2"):
        fit(3, 2, [3, 3])
