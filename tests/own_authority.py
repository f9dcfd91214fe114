"""A certificate authority of one's own, made with openssl: a server's certificate for 127.0.0.1 and a client's."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True)
class Authority:
    """Files in PEM. `both` holds the client's certificate and its key."""

    ca: Path
    server: tuple[Path, Path]
    client: tuple[Path, Path]
    both: Path

    def context(self, *, asks: bool = False) -> ssl.SSLContext:
        """The server's side; `asks`: it wants a client's certificate from this authority."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*self.server)
        if asks:
            context.load_verify_locations(self.ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def authority(folder: Path, *, days: int = 90) -> Authority:
    """Makes all of it in `folder`; certificates last for so many days."""
    folder.mkdir(exist_ok=True)
    ca, ca_key = folder / "ca.pem", folder / "ca.key"
    _openssl("req", "-x509", *EC, "-days", "90", "-subj", "/CN=own authority", "-keyout", ca_key, "-out", ca)
    pairs = []
    for name, extension in (("server", "subjectAltName=IP:127.0.0.1"), ("client", "extendedKeyUsage=clientAuth")):
        cert, key, request, more = (folder / f"{name}.{end}" for end in ("pem", "key", "csr", "cnf"))
        more.write_text(extension)
        _openssl("req", "-new", *EC, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        _openssl(
            "x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", days,
            "-extfile", more, "-out", cert,
        )  # fmt: skip
        pairs.append((cert, key))
    both = folder / "both.pem"
    both.write_text(pairs[1][0].read_text() + pairs[1][1].read_text())
    return Authority(ca, pairs[0], pairs[1], both)


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
