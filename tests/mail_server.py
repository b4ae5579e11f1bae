"""A mail server on loopback that keeps what it gets: enough SMTP for the clients that are tested."""

from __future__ import annotations

import socketserver
import threading
from email import message_from_bytes, policy
from email.message import EmailMessage


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 loopback")
        while line := self.rfile.readline():
            verb = line.split(b" ")[0].strip().upper()
            if verb == b"DATA":
                self._say("354 go on")
                self.server.take(self._read_message())
                self._say("250 kept")
            elif verb == b"QUIT":
                self._say("221 bye")
                return
            elif verb == b"RCPT" and self.server.refuses:
                self._say("550 no such box")
            elif verb in (b"EHLO", b"HELO", b"MAIL", b"RCPT", b"RSET", b"NOOP"):
                self._say("250 ok")
            else:
                self._say("502 not spoken here")

    def _read_message(self) -> bytes:
        lines: list[bytes] = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return b"".join(lines)

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class MailServer(socketserver.ThreadingTCPServer):
    """`with MailServer() as server`: `port` to send to, `messages` that came, `refuses` to take none."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.messages: list[EmailMessage] = []
        self.refuses = False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    def take(self, content: bytes) -> None:
        """Keeps one message."""
        message = message_from_bytes(content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)

    def server_close(self) -> None:
        self.shutdown()
        super().server_close()
