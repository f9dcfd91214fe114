"""The examples for schedulers: each is what its scheduler reads, and runs a command that the command line takes."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from loadrig.cli import app
from loadrig.config import read_plan

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "deploy" / "nightly"
COMMAND = re.compile(r"loadrig (nightly plans/\S+[^\n>\"]*)")
FILES = ["crontab", "github-actions.yml", "kubernetes-cronjob.yml", "loadrig-nightly.service"]


def unit(name: str) -> ConfigParser:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((FOLDER / name).read_text())
    return parser


def loaded(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text())


@pytest.mark.parametrize("name", FILES)
def test_each_runs_a_real_command(name: str) -> None:
    """Exactly one `loadrig nightly`, of a plan that is there, with flags that the command has, a deadline and a budget
    among them."""
    (line,) = COMMAND.findall((FOLDER / name).read_text())
    words = shlex.split(line)
    command = typer.main.get_command(app).commands["nightly"]  # type: ignore[attr-defined]
    parsed = command.make_context("nightly", words[1:]).params
    assert read_plan(ROOT / str(parsed["plan"])).nightly.deadline_s == 2700
    assert (parsed["deadline"], parsed["budget"]) == ("45m", "5.00")


@pytest.mark.parametrize("name", [*FILES, "loadrig-nightly.timer"])
def test_no_secret_stands_in_one(name: str) -> None:
    """Keys and the webhook come from a file or from the scheduler's own store."""
    text = (FOLDER / name).read_text()
    assert not re.search(r"sk-ant|hooks\.slack|https?://", text)
    for found in re.findall(r"(?:API_KEY|WEBHOOK_URL)\s*[:=]\s*(\S+)", text):
        assert found.startswith(("${{", '"$(cat', "...")), found


def test_the_crontab_has_a_time_and_a_command() -> None:
    """Five fields and the rest; everything else is a comment or a setting."""
    lines = [line for line in (FOLDER / "crontab").read_text().splitlines() if line and not line.startswith("#")]
    settings = [line for line in lines if re.match(r"[A-Z]+=\S", line)]
    (job,) = (line for line in lines if line not in settings)
    fields = job.split(None, 5)
    assert all(re.fullmatch(r"[\d*,/-]+", one) for one in fields[:5])
    assert int(fields[1]) == 4
    assert "%" not in fields[5]  # cron takes it for the end of the line
    subprocess.run(["/bin/sh", "-n", "-c", fields[5]], check=True)


def test_the_service_and_its_timer_are_units(tmp_path: Path) -> None:
    """As systemd reads them where it is there; else by their sections and keys."""
    service, timer = unit("loadrig-nightly.service"), unit("loadrig-nightly.timer")
    assert service["Service"]["Type"] == "oneshot"
    assert {"ExecStart", "WorkingDirectory", "EnvironmentFile", "TimeoutStartSec"} <= set(service["Service"])
    assert timer["Timer"]["Persistent"] == "true"
    assert timer["Install"]["WantedBy"] == "timers.target"
    if shutil.which("systemd-analyze") is None:
        return
    subprocess.run(["systemd-analyze", "calendar", timer["Timer"]["OnCalendar"]], check=True, capture_output=True)
    for name in ("loadrig-nightly.service", "loadrig-nightly.timer"):
        text = (FOLDER / name).read_text()
        (tmp_path / name).write_text(text.replace("/srv/loadrig/.venv/bin/loadrig nightly", "/bin/true nightly"))
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "loadrig-nightly.timer")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = [line for line in checked.stderr.splitlines() if "loadrig-nightly" in line]
    assert told == [], checked.stderr


def test_the_workflow_is_one() -> None:
    """Triggers, one job with a limit of its own, steps that either use an action or run a line, and results that are
    kept whatever happened."""
    found = loaded("github-actions.yml")
    triggers = found[True]  # YAML 1.1 reads `on` so, and GitHub does not
    assert [*triggers] == ["schedule", "workflow_dispatch"]
    assert re.fullmatch(r"[\d*,/ -]+", triggers["schedule"][0]["cron"])
    assert found["permissions"] == {"contents": "read"}
    assert found["concurrency"]["cancel-in-progress"] is False
    (job,) = found["jobs"].values()
    assert job["timeout-minutes"] > 45
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert all(re.search(r"@v\d+$", step["uses"]) for step in job["steps"] if "uses" in step)
    (tonight,) = (step for step in job["steps"] if "loadrig nightly" in step.get("run", ""))
    assert all(value.startswith("${{ secrets.") for value in tonight["env"].values())
    after = job["steps"][job["steps"].index(tonight) + 1 :]
    assert [step.get("if") for step in after] == ["always()"] * 3


def test_the_cronjob_is_one() -> None:
    """One at a time, an end that lies behind the deadline, no restart of what was paid for, secrets as files, results
    on a volume that stays."""
    found = loaded("kubernetes-cronjob.yml")
    assert (found["apiVersion"], found["kind"]) == ("batch/v1", "CronJob")
    spec, job = found["spec"], found["spec"]["jobTemplate"]["spec"]
    assert (spec["concurrencyPolicy"], spec["timeZone"]) == ("Forbid", "Europe/Berlin")
    assert job["activeDeadlineSeconds"] > 45 * 60
    assert job["backoffLimit"] == 0
    pod = job["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    (container,) = pod["containers"]
    mounted = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    volumes = {one["name"]: one for one in pod["volumes"]}
    assert mounted.keys() == volumes.keys() == {"results", "secrets"}
    assert "secret" in volumes["secrets"]
    assert "persistentVolumeClaim" in volumes["results"]
    assert "env" not in container
    (line,) = container["args"]
    assert f"--out {mounted['results']}" in line
    assert f"cat {mounted['secrets']}/key" in line
    subprocess.run(["/bin/sh", "-n", "-c", line], check=True)
