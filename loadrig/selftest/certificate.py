"""A certificate for the null target, made for the time being and trusted by this process: openssl makes it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loadrig.words.errors import InputError

_TRUSTED = "SSL_CERT_FILE"  # what OpenSSL, and so every client here, takes certificates from


@contextmanager
def trusted_certificate(folder: Path) -> Iterator[Path]:
    """A PEM file with certificate and key for 127.0.0.1, in `folder`. Raises `InputError` without openssl."""
    pem, before = folder / "null.pem", os.environ.get(_TRUSTED)
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=null", "-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        subprocess.run([*command, "-keyout", str(pem), "-out", str(pem)], check=True, capture_output=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(f"openssl made no certificate: {error}", remedy="install openssl, or leave TLS out") from error
    os.environ[_TRUSTED] = str(pem)
    try:
        yield pem
    finally:
        if before is None:
            del os.environ[_TRUSTED]
        else:
            os.environ[_TRUSTED] = before
