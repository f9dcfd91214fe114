"""What `loadrig dashboards` writes: all that is chosen stands in it, nothing of the user's is lost, and it is sound."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import sys
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import here

from loadrig.live.dashboards.setup import SHIPPED, Setup, files, write
from loadrig.words.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
CHOSEN = Setup(
    datasource='My "Prom"', prometheus="http://10.0.0.1:9090", targets=("10.0.0.7:9108", "localhost:9109"),
    gateways=("127.0.0.1:9091",), interval_s=30, cost_per_hour=Decimal("2.50"),
)  # fmt: skip


def parsed(setup: Setup, name: str) -> Any:
    return yaml.safe_load(files(setup)[name])


def test_what_is_chosen_stands_in_the_files() -> None:
    """The data source's name in both dashboards and in Grafana's own list, the interval where it scrapes and where
    Grafana works out rates, a window of four intervals in the rules, and the cost."""
    for name in ("loadrig.json", "loadrig-nights.json"):
        (variable,) = (one for one in parsed(CHOSEN, name)["templating"]["list"] if one["type"] == "datasource")
        assert variable["current"]["text"] == 'My "Prom"'
    (source,) = parsed(CHOSEN, "provisioning/datasources/loadrig.yml")["datasources"]
    assert (source["name"], source["url"], source["jsonData"]["timeInterval"]) == (
        'My "Prom"', "http://10.0.0.1:9090", "30s",
    )  # fmt: skip
    assert parsed(CHOSEN, "prometheus.yml")["global"]["scrape_interval"] == "30s"
    rules = files(CHOSEN)["rules.yml"].decode()
    assert "[2m]" in rules
    assert "[1m]" not in rules
    assert "> 2.50" in rules


def test_nothing_is_left_open() -> None:
    """No choice is left unfilled in any file."""
    assert [name for name, content in files(CHOSEN).items() if b"@@" in content] == []


def test_targets_as_this_machine_sees_them_and_as_a_container_does() -> None:
    """Loopback is the container's own there: the machine has a name of its own; another host keeps its address."""
    found = {name: json.loads(content) for name, content in files(CHOSEN).items() if name.startswith("targets/")}
    assert found == {
        "targets/loadrig.json": [{"targets": ["10.0.0.7:9108", "localhost:9109"]}],
        "targets/compose/loadrig.json": [{"targets": ["10.0.0.7:9108", "host.docker.internal:9109"]}],
        "targets/pushgateway/pushgateway.json": [{"targets": ["127.0.0.1:9091"]}],
        "targets/compose/pushgateway/pushgateway.json": [{"targets": ["host.docker.internal:9091"]}],
    }


def test_a_second_call_changes_nothing(tmp_path: Path) -> None:
    """All is there already, and nothing is written."""
    assert len(write(Setup(), tmp_path)) == len(files(Setup()))
    assert write(Setup(), tmp_path) == ()


def test_a_file_that_was_changed_is_kept(tmp_path: Path) -> None:
    """It is named, with what to do, and no other file is written either; asked to, it is replaced."""
    (tmp_path / "rules.yml").write_text("mine")
    with pytest.raises(InputError, match="differs") as refused:
        write(Setup(), tmp_path)
    assert str(tmp_path / "rules.yml") in str(refused.value)
    assert "--force" in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["rules.yml"]
    assert tmp_path / "rules.yml" in write(Setup(), tmp_path, force=True)
    assert (tmp_path / "rules.yml").read_bytes() == files(Setup())["rules.yml"]


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    """With its name and a remedy, not a traceback."""
    (tmp_path / "taken").write_text("")
    called = here("dashboards", "--out", tmp_path / "taken")
    assert called.code == 2
    assert str(tmp_path / "taken") in called.err
    assert "--out" in called.err


@pytest.mark.parametrize(
    "flags",
    [("--target", "nowhere"), ("--target", "host:0x1"), ("--pushgateway", "http://h:1"), ("--cost-per-hour", "much")],
)
def test_a_wrong_flag_is_said(tmp_path: Path, flags: tuple[str, str]) -> None:
    """What is no address and no money is refused before a file is written, with one that is."""
    called = here("dashboards", "--out", tmp_path / "out", *flags)
    assert called.code == 2
    assert "remedy: " in called.err
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_it_wrote(tmp_path: Path) -> None:
    """The number of files and their folder."""
    called = here("dashboards", "--out", tmp_path / "out", "--target", "10.0.0.7:9108")
    assert called.code == 0, called.err
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert f"{len(written)} files written" in called.out
    assert "10.0.0.7:9108" in (tmp_path / "out" / "targets" / "loadrig.json").read_text()


def test_the_pages_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of docs/grafana.md, as they are written."""
    monkeypatch.chdir(tmp_path)
    lines = (ROOT / "docs" / "grafana.md").read_text().splitlines()
    commands = [line.split()[1:] for line in lines if line.startswith("    .venv/bin/loadrig ")]
    assert commands
    assert [here(*words).code for words in commands] == [0] * len(commands)


def test_the_command_does_without_the_extra(tmp_path: Path) -> None:
    """What builds the dashboards is not needed to write them: an installed loadrig has only the files."""
    code = "import sys; sys.modules['grafana_foundation_sdk'] = None; from loadrig.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "dashboards", "--out", str(tmp_path / "out")], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "out" / "loadrig.json").is_file()


def test_every_shipped_file_goes_into_a_wheel() -> None:
    """Each is named by a pattern of the package's data; one that is not would be missing where loadrig is installed."""
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["loadrig"]
    shipped = [path.relative_to(ROOT / "loadrig").as_posix() for path in SHIPPED.rglob("*") if path.is_file()]
    assert [path for path in shipped if not any(fnmatch.fnmatch(path, pattern) for pattern in patterns)] == []


def test_the_compose_file_is_sound() -> None:
    """Only loopback is published, every file that a container is given is among those written, every volume is
    declared."""
    compose = yaml.safe_load(files(Setup())["compose.yaml"])
    assert compose["services"].keys() == {"prometheus", "grafana"}
    given = []
    for service in compose["services"].values():
        assert service.keys() <= {"image", "command", "volumes", "extra_hosts", "ports", "depends_on", "restart"}
        assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+", service["image"])
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        given += [volume.split(":")[0] for volume in service["volumes"]]
    assert set(compose["volumes"]) == {name for name in given if not name.startswith("./")}
    written = list(files(Setup()))
    for name in (name.removeprefix("./") for name in given if name.startswith("./")):
        assert any(path == name or path.startswith(f"{name}/") for path in written), name
    (provider,) = yaml.safe_load(files(Setup())["provisioning/dashboards/loadrig.yml"])["providers"]
    mounted = [volume for volume in compose["services"]["grafana"]["volumes"] if volume.startswith("./loadrig")]
    assert all(volume.split(":")[1].startswith(provider["options"]["path"]) for volume in mounted)


def test_every_alert_has_words_for_who_is_woken() -> None:
    """Each names a heading of docs/grafana.md, which says what it means and what to do."""
    text = (ROOT / "docs" / "grafana.md").read_text()
    headings = set(re.findall(r"^### (\w+)$", text, re.MULTILINE))
    groups = yaml.safe_load(files(Setup())["rules.yml"])["groups"]
    alerts = {rule["alert"]: rule["annotations"] for group in groups for rule in group["rules"] if "alert" in rule}
    assert headings == set(alerts)
    assert {name: one["runbook"] for name, one in alerts.items()} == {
        name: f"docs/grafana.md#{name.lower()}" for name in alerts
    }
