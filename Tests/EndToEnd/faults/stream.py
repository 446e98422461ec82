"""The ends of a connection of the proxy: bytes, in the clear or over TLS."""

import asyncio
import socket
import ssl

RECEIVED_BYTES = 1 << 16


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

    def end_output(self) -> None:
        """Send FIN, unless the peer has ended the connection. TLS does not announce it, as when a server exits."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass


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
