"""A small SMTP server on loopback (RFC 5321: HELO, MAIL, RCPT, DATA), which keeps the mails it is given."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    """Takes mails for everybody but the addresses in `refused`."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.mails: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.refused: set[str] = set()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 loopback")
        recipients: list[str] = []
        while line := self.rfile.readline().decode().strip():
            verb, rest = line[:4].upper(), line[4:]
            if verb == "RCPT":
                address = rest.partition("<")[2].partition(">")[0]
                if address in self.server.refused:
                    self._say("550 no such user")
                    continue
                recipients.append(address)
            elif verb == "DATA":
                self._say("354 go on")
                self.server.mails.append(self._read())
                self.server.recipients.append(recipients)
                recipients = []
            elif verb == "QUIT":
                self._say("221 bye")
                return
            self._say("250 fine")

    def _read(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        found = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(found, EmailMessage)
        return found

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def serve_mail() -> Iterator[MailServer]:
    """The server, running until the end of the block."""
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
