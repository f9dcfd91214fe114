"""TLS over bytes: a client's side of a connection, fed with what arrives and asked for what is to be sent.

Rules: ciphertext goes in and comes out here; sockets, stamps and order of reads are its caller's. All that one read
completes comes out as one piece, so that it keeps that read's stamp. A read may leave something to send, an alert or
the answer to a KeyUpdate (which OpenSSL 3 keeps for our next write, as it may), so `outgoing` is asked after each. An
end announced by close_notify and one that is not are told apart. Knows no HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl

from loadrig.wire.link import CLOSED

_RECORD_BYTES = 16_384
_READ_BYTES = 65_536


class Tls:
    """`ended` says how the other side ended it; None while it has not."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self.ended: str | None = None
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    async def shake_hands(self, sock: socket.socket) -> None:
        """The handshake, over a connected socket that does not block. Raises ssl.SSLError and OSError."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await loop.sock_sendall(sock, self.outgoing())
                data = await loop.sock_recv(sock, _READ_BYTES)
                if data:
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
            except ssl.SSLError:
                with contextlib.suppress(OSError):
                    sock.send(self.outgoing())  # the alert: the other side's log should name the reason too
                raise
            else:
                await loop.sock_sendall(sock, self.outgoing())
                return

    def opened(self, data: bytes | memoryview) -> bytes:
        """The plaintext that these bytes complete; empty when they complete none."""
        incoming, read = self._incoming, self._tls.read
        incoming.write(data)
        pieces = []
        try:
            while incoming.pending:  # a read takes one record, and never leaves part of one behind
                piece = read(_RECORD_BYTES)
                if not piece:
                    self.ended = CLOSED
                    break
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self.ended = f"{type(error).__name__}: {error}"
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def cut(self) -> str:
        """How it ended, when the socket has: without a close_notify that is a truncation, or an attack."""
        return self.ended or f"{CLOSED} without a TLS close_notify"

    def sealed(self, data: memoryview) -> bytes:
        """Ciphertext of `data`, behind whatever else is to be sent."""
        self._tls.write(data)
        return self._outgoing.read()

    def outgoing(self) -> bytes:
        """What TLS itself has to send."""
        return self._outgoing.read()

    def goodbye(self) -> bytes:
        """Our close_notify; empty when it cannot be sent any more."""
        with contextlib.suppress(ssl.SSLError):
            self._tls.unwrap()
        return self._outgoing.read()
