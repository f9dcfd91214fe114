"""The endpoint: served while open, on loopback, gone after close."""

from __future__ import annotations

import httpx
import pytest

from loadrig.live.endpoint import Endpoint
from loadrig.live.metrics import Metrics
from loadrig.words.errors import InputError
from loadrig.words.trial import RunInfo


def test_totals_can_be_read_until_the_endpoint_is_closed() -> None:
    """After the run has finished its last totals are still served; after close nobody answers."""
    metrics = Metrics()
    with Endpoint(metrics.registry) as endpoint:
        metrics.started(RunInfo("r1", "quick", "0.1.0", planned=40, currency="USD", simulated=False))
        metrics.finished()
        assert "loadrig_trials_planned_total 40.0" in httpx.get(str(endpoint.url)).text
    with pytest.raises(httpx.ConnectError):
        httpx.get(str(endpoint.url))


def test_it_listens_on_loopback() -> None:
    """Unless told otherwise nobody outside this machine can read it."""
    with Endpoint(Metrics().registry) as endpoint:
        assert endpoint.url == f"http://127.0.0.1:{endpoint.port}/metrics"


def test_a_port_in_use_is_an_input_error() -> None:
    """A second endpoint on the same port is refused with a remedy, and the first one goes on."""
    with Endpoint(Metrics().registry) as first:
        with pytest.raises(InputError, match="choose another port"):
            Endpoint(Metrics().registry, port=first.port)
        assert httpx.get(str(first.url)).status_code == 200


def test_a_foreign_address_is_an_input_error() -> None:
    """An address that is not this machine's is refused, not waited for."""
    with pytest.raises(InputError, match=r"cannot serve metrics on 192\.0\.2\.1:0"):
        Endpoint(Metrics().registry, host="192.0.2.1")


def test_the_port_is_free_after_close() -> None:
    """Closing frees the port at once, and closing twice does no harm."""
    first = Endpoint(Metrics().registry)
    first.close()
    first.close()
    with Endpoint(Metrics().registry, port=first.port) as second:
        assert second.port == first.port


def test_none_serves_nothing() -> None:
    """Port None opens no socket."""
    with Endpoint(Metrics().registry, port=None) as endpoint:
        assert (endpoint.port, endpoint.url) == (None, None)
