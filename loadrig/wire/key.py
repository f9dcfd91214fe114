"""A provider's key: in its usual environment variable, or in the file that `<variable>_FILE` names.

Rules: the file may be written anew while a run lasts, by whoever gives out keys for a while; so it is read each time.
Blank space round a key does not belong to it. Knows no provider; a key is in no error.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loadrig.providers import Endpoint
from loadrig.wire.head import PLACEHOLDER_TOLD, is_loopback, origin_of
from loadrig.words.errors import InputError

PLACEHOLDER_KEY = "no-key"


def file_variable(variable: str) -> str:
    """Name of the variable that names a file with what `variable` would hold."""
    return f"{variable}_FILE"


def key_of(variable: str, environment: Mapping[str, str]) -> str:
    """The key as it is now; empty when there is none. Raises `InputError` for a file without one, or two places."""
    key, place = environment.get(variable, "").strip(), environment.get(file_variable(variable), "")
    if not place:
        return key
    if key:
        raise InputError(
            f"{variable} and {file_variable(variable)} are both set", remedy="unset one: which key is meant?"
        )
    try:
        key = Path(place).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the key cannot be read: {type(error).__name__}", path=place, remedy=f"correct {file_variable(variable)}"
        ) from error
    if not key:
        raise InputError("there is no key in the file", path=place, remedy="write the key into it, and nothing else")
    return key


def key_for(endpoint: Endpoint, host: str, environment: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The key for requests to `host`, empty where there is none, and what is to be said of that. Raises `InputError`
    where the provider's own endpoint would be asked without one, or with one that no header can hold."""
    key = key_of(endpoint.key_variable, environment)
    if not key and host == origin_of(endpoint.base_url)[1]:
        raise InputError(
            f"no key for {host}: {endpoint.key_variable} is not set",
            remedy=f"export {endpoint.key_variable}=..., or the name of a file with the key as "
            f'{file_variable(endpoint.key_variable)}, or set base_url = "simulator" in the plan',
        )
    if not (key.isascii() and key.isprintable()):
        remedy = f"correct {endpoint.key_variable}, or the file of {file_variable(endpoint.key_variable)}"
        raise InputError("the key is not one line of printable characters", remedy=remedy)
    if key or is_loopback(host):
        return key, ()
    return key, (f"{endpoint.key_variable} is not set: {host} {PLACEHOLDER_TOLD}",)
