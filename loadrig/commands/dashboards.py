"""`loadrig dashboards`: writes what a Prometheus and a Grafana of one's own need to a folder, and says what to do with
it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.text import Text

from loadrig.live.dashboards.setup import Setup, write
from loadrig.words.errors import InputError

TOLD = (
    "with Docker: `docker compose up -d` there, then http://127.0.0.1:3000",
    "with a Prometheus and a Grafana of your own: prometheus.yml, rules.yml and targets/ are for the one; import the "
    "two *.json into the other, or let it find them by provisioning/",
)


def dashboards(setup: Setup, folder: Path, console: Console, *, force: bool) -> None:
    """Writes the files and says which. Raises `InputError` for an address that is none, and for files that are there
    with another content."""
    for address in (*setup.targets, *setup.gateways):
        _checked(address)
    written = write(setup, folder, force=force)
    for path in written:
        console.print(Text(str(path)))
    console.print(Text(f"{len(written)} files written to {folder}" if written else f"{folder}: all is there already"))
    for line in TOLD:
        console.print(Text(line, style="dim"))


def _checked(address: str) -> None:
    try:
        parts = urlsplit(f"//{address}")
        good = bool(parts.hostname) and (parts.port or 0) > 0 and parts.netloc == address
    except ValueError:
        good = False
    if not good:
        raise InputError(
            f"{address!r} is no address of an endpoint", remedy="HOST:PORT, such as --target 10.0.0.7:9108"
        )
