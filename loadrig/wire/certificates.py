"""Whom TLS trusts and who we are in it: the system's store and a plan's files as an SSL context.

Rules: certificates are verified against the system's store, or that of SSL_CERT_FILE and SSL_CERT_DIR, and against
`ca_file` besides; a client's certificate is shown to a server that asks for one. Nothing of a key is kept here: files
are read where a context is made, in every process that makes one. A key with a passphrase is refused: nobody is asked.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from loadrig.words.errors import InputError


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in PEM, by absolute path. `client_key` None: the key stands in the file of the certificate."""

    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None

    def __str__(self) -> str:
        named = (("trusting", self.ca_file), ("as", self.client_cert), ("with the key", self.client_key))
        return " ".join(f"{what} {file}" for what, file in named if file is not None)


def context_of(files: Certificates | None, *, of_system: bool = True) -> ssl.SSLContext:
    """A client's context. Blocks: the system's store takes milliseconds to read; `of_system` False leaves it out.

    Raises `InputError` with the file that cannot be used."""
    context = ssl.create_default_context() if of_system else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if files is not None and files.ca_file is not None:
        try:
            context.load_verify_locations(cafile=files.ca_file)
        except OSError as error:  # ssl.SSLError is one
            remedy = "a readable file of certificates in PEM, -----BEGIN CERTIFICATE----- and so on"
            raise InputError(f"ca_file: {_told(error)}", path=files.ca_file, remedy=remedy) from error
    if files is not None and files.client_cert is not None:
        _show(context, files.client_cert, files.client_key)
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_RENEGOTIATION
    return context


def _show(context: ssl.SSLContext, cert: str, key: str | None) -> None:
    for name, path in (("client_cert", cert), ("client_key", key)):
        try:
            if path is not None:
                with open(path, "rb"):  # noqa: PTH123 - which of the two it is, OpenSSL does not say
                    pass
        except OSError as error:
            raise InputError(f"{name}: {_told(error)}", path=path, remedy="name a readable file in PEM") from error
    try:
        context.load_cert_chain(cert, key, password=lambda: b"")  # else it would ask at the terminal
    except OSError as error:
        remedy = "a certificate and the key that belongs to it, in PEM; the key without a passphrase"
        where = cert if key is None else f"{cert}, {key}"
        raise InputError(f"client_cert and its key: {_told(error)}", path=where, remedy=remedy) from error


def _told(error: OSError) -> str:
    return f"{error.reason or error}" if isinstance(error, ssl.SSLError) else error.strerror or str(error)
