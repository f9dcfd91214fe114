"""The two runs, fired once for all that looks at them."""

from __future__ import annotations

from collections.abc import Iterator

import prometheus_server
import pytest
from two_runs import TwoRuns, two_runs


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoRuns]:
    if prometheus_server.MISSING:
        pytest.skip(prometheus_server.REASON)
    with two_runs(tmp_path_factory.mktemp("runs")) as both:
        yield both
