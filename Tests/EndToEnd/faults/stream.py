"""The ends of a connection of the proxy: bytes, in the clear or over TLS."""

import asyncio
import socket
import ssl
import struct
from pathlib import Path

RECEIVED_BYTES = 1 << 16

# A pause that is long enough for the receiver to read and handle what came before.
DELAY_SECONDS = 0.02

# How long a reset waits for the client to read what was forwarded before.
READ_SECONDS = 2.0


class Stream:
    """A TCP connection without TLS."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        end.setblocking(False)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def receive(self) -> bytes:
        """Returns bytes; none after the end. Raises OSError."""
        return await asyncio.get_running_loop().sock_recv(self.socket, RECEIVED_BYTES)

    async def send(self, data: bytes) -> None:
        """Raises OSError."""
        await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def end_output(self) -> None:
        """Send FIN. TLS does not announce it, as when a server exits. Raises OSError if the peer has ended the connection."""
        self.socket.shutdown(socket.SHUT_WR)

    # A connection ends when both sides have sent FIN.
    close = end_output

    async def drain(self) -> None:
        """Wait until the peer has read all that was sent to it, and a moment longer, until it has handled it."""
        if await read_by_peer(self.socket):
            await asyncio.sleep(DELAY_SECONDS)

    def reset(self) -> None:
        """Send RST instead of FIN when the socket is closed."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class SecureStream(Stream):
    """A TCP connection with TLS, of which this is the server."""

    def __init__(self, end: socket.socket, context: ssl.SSLContext) -> None:
        super().__init__(end)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        # Two tasks send: that which receives may have to respond.
        self.sending = asyncio.Lock()

    async def accept(self) -> None:
        """Make the handshake. Raises OSError."""
        await self.repeat(self.tls.do_handshake)
        await self.flush()

    async def receive(self) -> bytes:
        try:
            return await self.repeat(lambda: self.tls.read(RECEIVED_BYTES))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""

    async def send(self, data: bytes) -> None:
        self.tls.write(data)
        await self.flush()

    async def repeat(self, action):
        """The result of an action, for which more may have to be received."""
        while True:
            try:
                return action()
            except ssl.SSLWantReadError:
                await self.flush()
                data = await super().receive()
                if data:
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()

    async def flush(self) -> None:
        async with self.sending:
            await super().send(self.outgoing.read())


async def read_by_peer(sink: socket.socket) -> bool:
    """Wait until the peer of a socket on this machine has read all that was sent to it."""
    try:
        peer, own = sink.getpeername()[1], sink.getsockname()[1]
    except OSError:
        return False
    line = f" 0100007F:{peer:04X} 0100007F:{own:04X} "
    deadline = asyncio.get_running_loop().time() + READ_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        entries = [entry for entry in Path("/proc/net/tcp").read_text().splitlines() if line in entry]
        if not entries:
            return False
        if int(entries[0].split()[4].split(":")[1], 16) == 0:
            return True
        await asyncio.sleep(0.002)
    return False
