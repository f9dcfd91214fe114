"""What a Prometheus and a Grafana need for our metrics, written to a folder: dashboards, rules, scrape configuration,
provisioning and a compose file.

Rules: the texts stand in `shipped/`, a part of the package, with `@@{name}` where there is a choice. A file that is
there already and has another content is left alone, and then nothing is written, unless that is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from string import Template

from loadrig.words.errors import InputError, described

SHIPPED = Path(__file__).parent / "shipped"
TARGET = "127.0.0.1:9108"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
FROM_CONTAINER = "host.docker.internal"  # the machine's name inside of a container
LEAST_WINDOW_S = 60  # of the rules' rates: as long as four scrapes, and a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What is chosen: Grafana's name of the data source and where its Prometheus is; the addresses `host:port` of the
    metrics endpoints and of pushgateways; seconds between two scrapes; the cost per hour at which a rule speaks."""

    datasource: str = "Prometheus"
    prometheus: str = "http://prometheus:9090"
    targets: tuple[str, ...] = (TARGET,)
    gateways: tuple[str, ...] = ()
    interval_s: int = 5
    cost_per_hour: Decimal = Decimal(10)


class _Text(Template):
    delimiter = "@@"


def files(setup: Setup) -> dict[str, bytes]:
    """Path within the folder -> content."""
    choices = {
        "datasource": json.dumps(setup.datasource, ensure_ascii=False)[1:-1],
        "prometheus": json.dumps(setup.prometheus)[1:-1],
        "interval": f"{setup.interval_s}s",
        "window": _duration(max(LEAST_WINDOW_S, 4 * setup.interval_s)),
        "cost_per_hour": f"{setup.cost_per_hour:f}",
    }
    sources = (path for path in sorted(SHIPPED.rglob("*")) if path.is_file())
    found = {
        path.relative_to(SHIPPED).as_posix(): _Text(path.read_text(encoding="utf-8")).substitute(choices).encode()
        for path in sources
    }
    return found | dict(_targets(setup))


def write(setup: Setup, folder: Path, *, force: bool = False) -> tuple[Path, ...]:
    """Writes the files; those that were written anew. Raises `InputError` where one would be lost or cannot be
    written."""
    wanted = {folder / name: content for name, content in files(setup).items()}
    changed = [path for path, content in wanted.items() if _is_other(path, content)]
    if changed and not force:
        raise InputError(
            "is there already, and differs from what would be written",
            path=", ".join(map(str, changed)),
            remedy="keep it and give another folder with --out, or let it be replaced with --force",
        )
    written = tuple(path for path, content in wanted.items() if path in changed or not path.exists())
    for path in written:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[path])
        except OSError as error:
            raise InputError(
                f"cannot be written: {described(error)}", path=path, remedy="give a folder of yours with --out"
            ) from error
    return written


def _is_other(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() != content
    except FileNotFoundError:
        return False
    except OSError as error:
        raise InputError(
            f"cannot be read: {described(error)}", path=path, remedy="give another folder with --out"
        ) from error


def _targets(setup: Setup) -> Iterator[tuple[str, bytes]]:
    """The lists that Prometheus reads its targets from, each also as a container sees them."""
    for name, addresses in (("loadrig", setup.targets), ("pushgateway/pushgateway", setup.gateways)):
        if addresses:
            yield f"targets/{name}.json", _listed(addresses)
            yield f"targets/compose/{name}.json", _listed(tuple(map(_from_container, addresses)))


def _listed(addresses: tuple[str, ...]) -> bytes:
    return json.dumps([{"targets": list(addresses)}], indent=2).encode() + b"\n"


def _from_container(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"{FROM_CONTAINER}:{port}" if host in LOOPBACK else address


def _duration(seconds: int) -> str:
    return f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"
