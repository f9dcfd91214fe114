"""What a plan changes in a dialect's request head: another path, further headers, certificates.

Rules: the dialect's own authority makes the head, this is laid over it; what a header of the plan names is replaced
where it stands, and what is new goes behind. What comes from the environment is a secret: in no repr, error or record.
On loopback a variable that is not set becomes a placeholder, as a key does; elsewhere it is an `InputError`. Files of
certificates are looked at here, so that a wrong one stops a run before it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from loadrig.headers import expanded, is_sendable, variables
from loadrig.wire.certificates import Certificates, context_of
from loadrig.wire.head import PLACEHOLDER_TOLD, Head, is_loopback
from loadrig.wire.proxy import SHORTEST_SECRET
from loadrig.words.errors import InputError
from loadrig.words.settings import ModelSettings

PLACEHOLDER = "no-key"
_LAST = b"Accept-Encoding: identity"


def dressed(head: Head, model: ModelSettings, path: str, environment: Mapping[str, str]) -> Head:
    """The head as the plan wants it; `path` is the dialect's own. Blocks. Raises `InputError`."""
    if model.path is not None:
        head = replace(head, lines=with_path(head.lines, path, model.path))
    return with_certificates(with_headers(head, model.headers or {}, environment), model)


def with_path(lines: bytes, path: str, wanted: str) -> bytes:
    """`wanted` in the place of `path` in the request line, behind what the base URL has and before what follows it
    (`/count_tokens`); a query in `wanted` goes to the end."""
    method, target, rest = lines.split(b" ", 2)
    base, found, behind = target.rpartition(path.encode())
    if not found:
        return lines
    place, _, query = wanted.partition("?")
    behind, _, its_query = behind.partition(b"?")
    queries = b"&".join(one for one in (its_query, query.encode()) if one)
    target = b"%b%b%b%b" % (base, place.encode(), behind, b"?" + queries if queries else b"")
    return b"%b %b %b" % (method, target, rest)


def with_headers(head: Head, headers: Mapping[str, str], environment: Mapping[str, str]) -> Head:
    """With a plan's headers, of which `loadrig.headers` has nothing to say."""
    if not headers:
        return head
    first, *lines = head.lines.removesuffix(b"\r\n").split(b"\r\n")
    held = _held(head, headers, environment)
    for name, value in headers.items():
        text = expanded(value, held)
        lines = _placed(lines, name, b"%b: %b" % (name.encode(), text.encode("latin-1")) if text else None)
    found = dict.fromkeys(text for text in held.values() if text != PLACEHOLDER)
    secrets = tuple(secret for secret in found if len(secret) >= SHORTEST_SECRET)
    warnings = [*head.warnings, f"requests to {head.origin[1]} have headers of the plan: {', '.join(sorted(headers))}"]
    if missing := sorted(name for name, text in held.items() if text == PLACEHOLDER):
        warnings.append(f"{', '.join(missing)} not set: {head.origin[1]} is asked with a placeholder for it")
    if any(name.lower() == "authorization" for name in headers):
        warnings = [one for one in warnings if not one.endswith(PLACEHOLDER_TOLD)]
    joined = b"\r\n".join([first, *lines, b""])
    return replace(head, lines=joined, further_secrets=secrets, warnings=tuple(warnings))


def _held(head: Head, headers: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """What the variables of all headers hold. Raises `InputError`, telling no value."""
    held = {}
    for header, name in ((header, name) for header, value in headers.items() for name in variables(value)):
        text = environment.get(name, "").strip()
        if not text and not is_loopback(head.origin[1]):
            raise InputError(f"{name} is not set: the header {header} needs it", remedy=f"export {name}=...")
        if not is_sendable(text):
            raise InputError(f"{name} does not hold one line of printable text", remedy=f"correct {name}")
        held[name] = text or PLACEHOLDER
    return held


def _placed(lines: list[bytes], name: str, line: bytes | None) -> list[bytes]:
    """`line` in the place of the header called so, else before the last of ours; None takes it out."""
    found = [number for number, one in enumerate(lines) if one.partition(b":")[0].lower() == name.lower().encode()]
    kept = [one for number, one in enumerate(lines) if number not in found]
    if line is not None:
        kept.insert(found[0] if found else kept.index(_LAST), line)
    return kept


def with_certificates(head: Head, model: ModelSettings) -> Head:
    """With the files that TLS takes. Raises `InputError` for one that cannot be used."""
    files = (model.ca_file, model.client_cert, model.client_key)
    if not any(files):
        return head
    if model.client_key is not None and model.client_cert is None:
        remedy = "name the certificate that belongs to it as client_cert"
        raise InputError("client_key without client_cert", path=model.client_key, remedy=remedy)
    wanted = Certificates(*(None if one is None else str(Path(one).expanduser().absolute()) for one in files))
    context_of(wanted, of_system=False)  # to see whether they can be read
    if head.origin[0] != "https":
        told = f"certificates of the plan have no use: {head.origin[1]} is asked without TLS"
        return replace(head, warnings=(*head.warnings, told))
    return replace(head, certificates=wanted)
