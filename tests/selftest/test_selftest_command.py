"""`loadrig selftest` as a user runs it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import loadrig

from loadrig.selftest.certificate import trusted_certificate
from loadrig.words.errors import InputError


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_the_self_test_measures_and_says_whether_its_times_are_true(tmp_path: Path, tls: bool) -> None:
    """The exit code is the verdict; every level had replies, none failed, each was found in the target's log; the
    lateness, the error and the ceiling are said in words, whether it was over TLS in the title."""
    if tls and shutil.which("openssl") is None:
        pytest.skip("makes its certificate with openssl")
    file = tmp_path / "selftest.json"
    called = loadrig("selftest", "--seconds", "0.5", "--streams", "8", "--json", file, *(["--tls"] if tls else []))
    figures = json.loads(file.read_text())
    assert called.code == (0 if figures["is_true"] else 1), called.err
    assert f"TTFT error p99 is {'within' if figures['is_true'] else 'OVER'} 2 ms at 8 streams" in called.out
    assert ("over TLS" in called.out, figures["tls"]) == (tls, tls)
    for said in ("ceiling of a core: ", "lateness at 8 streams: ", "TTFT error against the target's own log: "):
        assert said in called.out
    levels = [*figures["busy"], figures["paced"]]
    assert [one["schedule"]["tokens"] for one in levels] == [10, 100, 1000, 100]
    assert all(one["replies"] == one["ttft_error"]["n"] > 0 and one["failed"] == 0 for one in levels)
    assert figures["paced"]["loop"] == "uvloop.Loop"
    assert sum(figures["paced"]["stamps"].values()) >= figures["paced"]["replies"]


def test_without_openssl_tls_is_refused_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install, or to leave TLS out, before anything is measured."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="openssl"), trusted_certificate(tmp_path):
        pass
