"""A TCP proxy before a server, which cuts and holds up connections when told to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CHUNK = 1 << 16


class Proxy:
    """Passes bytes on; runs in a thread with a loop of its own."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._dead: set[asyncio.StreamWriter] = set()
        self._refusal = b""
        self._halving = False
        self._dreaded: bytes | None = None
        self.port = 0

    def cut(self) -> None:
        """Reset every connection there is; new ones are welcome."""
        self._loop.call_soon_threadsafe(self._cut)

    def cut_at(self, word: bytes) -> None:
        """Reset every connection there is whenever this is said on one of them."""
        self._dreaded = word

    def hold(self) -> None:
        """Keep back what arrives from now on, in both directions."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def release(self) -> None:
        """Let it go on."""
        self._loop.call_soon_threadsafe(self._open.set)

    def refuse(self, status: int) -> None:
        """Answer every request with a status, in the server's place; for servers of HTTP."""
        words = f"HTTP/1.1 {status} no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        self._refusal = words.encode()

    def halve(self) -> None:
        """Pass on half of what a server says next, and break off."""
        self._halving = True

    def behave(self) -> None:
        """Pass on everything again."""
        self._refusal, self._halving = b"", False

    def swallow(self) -> None:
        """Take what the connections there are still bring, and pass none of it on; new ones work.

        As a firewall does that has forgotten them.
        """
        self._loop.call_soon_threadsafe(lambda: self._dead.update(self._writers))

    def _cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self) -> asyncio.Server:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            behind = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:  # the server is away; the caller is to see that
            writer.transport.abort()
            return
        self._writers |= {writer, behind[1]}
        try:
            with suppress(asyncio.CancelledError):  # at the end, when connections are still open
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass(reader, behind[1], writer))
                    both.create_task(self._pass(behind[0], writer))
        finally:
            self._writers -= {writer, behind[1]}
            self._dead -= {writer, behind[1]}
            writer.close()
            behind[1].close()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        caller: asyncio.StreamWriter | None = None,
    ) -> None:
        """One direction; `caller` is who speaks, if it is not the server."""
        with suppress(ConnectionError):
            while chunk := await reader.read(CHUNK):
                await self._open.wait()
                if caller is not None and self._refusal:
                    caller.write(self._refusal)
                    await caller.drain()
                    caller.close()
                    break
                if caller is None and self._halving:
                    writer.write(chunk[: len(chunk) // 2])
                    await writer.drain()
                    break
                if self._dreaded is not None and self._dreaded in chunk:
                    self._cut()
                elif writer not in self._dead:
                    writer.write(chunk)
                    await writer.drain()
        # One side has ended; the other may be waiting for words that will not come.
        if writer not in self._dead:
            writer.close()

    def run(self, ready: threading.Event) -> None:
        """Serve until the loop is stopped."""
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(self._serve())
        ready.set()
        self._loop.run_forever()
        server.close()
        self._end_tasks()
        self._loop.close()

    def _end_tasks(self) -> None:
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        gathered = asyncio.gather(*tasks, return_exceptions=True)
        self._loop.run_until_complete(gathered)

    def stop(self) -> None:
        """End the loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)


@contextmanager
def proxy(target_port: int) -> Iterator[Proxy]:
    """A proxy on a free loopback port."""
    running = Proxy(target_port)
    ready = threading.Event()
    thread = threading.Thread(target=running.run, args=(ready,), name="proxy", daemon=True)
    thread.start()
    ready.wait()
    try:
        yield running
    finally:
        running.stop()
        thread.join(10)
