"""Conversion in a process of its own, which can be killed.

Documents are input from anywhere: a parser may loop, take all memory or crash. The worker reads one file at a time and
answers in JSON, never in a format that could run code in the process that asks. It is started once and used for many
files, because the import of Docling takes seconds; it is replaced after a timeout, a crash or when it has grown.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from pydantic import SecretStr

from ingestion.config import ConversionLimits
from ingestion.documents import Block, ConvertedDocument, DocumentState, SourceFile

_STARTUP_SECONDS = 120.0
_POLL_SECONDS = 0.05
_HEADER = struct.Struct(">Q")
_READ = 1024 * 1024
_PATIENCE = 10
"""Times the limit by the clock after which a worker is stopped in any case."""
_GROWN = 0.6
"""Share of the memory limit above which an idle worker is replaced, so that the next document has room."""


class IsolatedConverter:
    """Converts files one after another in one worker process. Use it as a context manager; calls are serialised.

    `passwords` are tried in turn on a file that is locked.
    """

    def __init__(self, limits: ConversionLimits, *, passwords: Sequence[SecretStr] = ()) -> None:
        self._limits = limits
        self._passwords = tuple(passwords)
        self._worker: _Worker | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> IsolatedConverter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker, None where none runs."""
        return None if self._worker is None else self._worker.pid

    def convert(self, file: SourceFile) -> ConvertedDocument:
        """The converted document; of a locked one the first password that opens it is taken.

        Too much memory gives the state too_large, a timeout or a crash the state quarantined; the next file gets a
        new worker.
        """
        document = self._convert(file, None)
        for password in self._passwords:
            if document.state != "encrypted":
                break
            document = self._convert(file, password.get_secret_value())
        return document

    def _convert(self, file: SourceFile, password: str | None) -> ConvertedDocument:
        with self._lock:
            try:
                if self._worker is not None and not self._worker.is_alive():
                    # It died while it had nothing to do (out of memory, say): no document is to blame.
                    self._stop()
                if self._worker is None:
                    self._worker = _Worker(self._limits)
                document = self._worker.convert(file, password)
            except _WorkerLost as lost:
                digest, size = ("", 0) if self._worker is None else self._worker.read
                self._stop()
                return ConvertedDocument(
                    lost.state,
                    _stem(file),
                    converter="nightshift",
                    reason=lost.reason,
                    stage="machine" if lost.by_machine else "convert",
                    content_hash=digest,
                    size=size,
                )
            except BaseException:
                # Interrupted in the middle of an answer: the worker cannot be used again.
                self._stop()
                raise
            if self._worker.resident_bytes() > _GROWN * self._limits.memory_megabytes * 1024 * 1024:
                self._stop()
            return document

    def close(self) -> None:
        """Ends the worker."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


class _WorkerLost(Exception):
    """The worker was killed or died while it had a document. `by_machine`: the document need not be the cause."""

    def __init__(self, state: DocumentState, reason: str, *, by_machine: bool = False) -> None:
        super().__init__(reason)
        self.state = state
        self.reason = reason
        self.by_machine = by_machine


class _Worker:
    """The parent's side of the worker process."""

    def __init__(self, limits: ConversionLimits) -> None:
        self._limits = limits
        self.read: tuple[str, int] = ("", 0)
        """Hash and size of what the worker read of the document that it has, empty and 0 before."""
        code = f"import sys; sys.path[:] = {sys.path!r}; from ingestion.isolate import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._answers = _Pipe(_stream(self._process.stdout))
        try:
            self._send(limits.model_dump(mode="json"))
            self._receive(_STARTUP_SECONDS)
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def convert(self, file: SourceFile, password: str | None) -> ConvertedDocument:
        request = {**asdict(file), "root": os.fspath(file.root), "path": os.fspath(file.path)}
        self.read = ("", 0)
        self._send({"file": request, "password": password})
        answer = self._receive(self._limits.seconds)
        if "read" in answer:
            digest, size = answer["read"]
            self.read = (str(digest), int(size))
            answer = self._receive(self._limits.seconds)
        return _document(answer)

    def resident_bytes(self) -> int:
        """Memory that the worker holds, 0 where the system does not tell."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, ValueError, IndexError):
            return 0
        return pages * resource.getpagesize()

    def _waited(self) -> float:
        """Seconds that the worker was ready to run and had no processor, 0 where the system does not tell."""
        try:
            return int(Path(f"/proc/{self.pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def kill(self) -> None:
        """Ends the process with everything that it may have started, and waits for it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode("ascii")
        try:
            stream = _stream(self._process.stdin)
            stream.write(_HEADER.pack(len(data)) + data)
            stream.flush()
        except BrokenPipeError:
            raise self._died() from None

    def _receive(self, seconds: float) -> dict[str, Any]:
        started, idle = time.monotonic(), self._waited()
        most = self._limits.memory_megabytes * 1024 * 1024
        while True:
            state, message = self._answers.poll()
            if message is not None:
                return message
            if state == "closed":
                raise self._died()
            # On a busy machine other processes' work is no fault of the document.
            passed = time.monotonic() - started
            spent = passed - (self._waited() - idle) > seconds
            if spent or passed > seconds * _PATIENCE:
                reason = f"the conversion took longer than {seconds:g} seconds and was stopped"
                raise _WorkerLost("quarantined", reason, by_machine=not spent)
            if self.resident_bytes() > most:
                raise _WorkerLost("too_large", f"the conversion needs more than {self._limits.memory_megabytes} MB")

    def _died(self) -> _WorkerLost:
        code = self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        # A parser that fails on a file does not end so: the system takes memory back, or somebody stops the process.
        ended = -code in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        return _WorkerLost("quarantined", f"the converter crashed on this file ({how})", by_machine=ended)


class _Pipe:
    """Messages with a length before them, put together from a pipe without ever waiting for long."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._descriptor = stream.fileno()
        self._buffer = bytearray()

    def poll(self) -> tuple[str, dict[str, Any] | None]:
        """The next message, or None with `open` or `closed`."""
        readable, _, _ = select.select([self._descriptor], [], [], _POLL_SECONDS)
        if readable:
            data = os.read(self._descriptor, _READ)
            if not data:
                return "closed", None
            self._buffer += data
        if len(self._buffer) < _HEADER.size:
            return "open", None
        length = _HEADER.unpack_from(self._buffer)[0]
        if len(self._buffer) < _HEADER.size + length:
            return "open", None
        body = bytes(self._buffer[_HEADER.size : _HEADER.size + length])
        del self._buffer[: _HEADER.size + length]
        message: dict[str, Any] = json.loads(body)
        return "open", message


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("the worker was started without pipes")
    return stream


def _document(answer: dict[str, Any]) -> ConvertedDocument:
    blocks = tuple(Block(**block) for block in answer.pop("blocks"))
    warnings = tuple(answer.pop("warnings"))
    return ConvertedDocument(blocks=blocks, warnings=warnings, **answer)


def _stem(file: SourceFile) -> str:
    name = file.relative_path.rpartition("/")[2]
    return name.partition(".")[0] or name


def serve() -> None:
    """The worker's side: answers conversion requests from standard input until it is closed."""
    requests = sys.stdin.buffer
    # Whatever a library prints must not end up among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    first = _read_message(requests)
    if first is None:
        return
    limits = ConversionLimits.model_validate(first)
    _limit_memory(limits.memory_megabytes)
    from ingestion.convert import convert  # noqa: PLC0415 - the parent shall not pay for the import

    _write_message(answers, {"ready": True})
    while (request := _read_message(requests)) is not None:
        fields = request["file"]
        file = SourceFile(**{**fields, "root": Path(fields["root"]), "path": Path(fields["path"])})
        read: tuple[str, int] = ("", 0)

        def tell(digest: str, size: int) -> None:
            nonlocal read
            read = (digest, size)
            # At once, so that a parser that does not come back leaves known what it was given.
            _write_message(answers, {"read": read})

        try:
            document = convert(file, limits=limits, password=request["password"], on_read=tell)
        except MemoryError:
            reason = f"the conversion needs more than {limits.memory_megabytes} MB"
            document = ConvertedDocument("too_large", _stem(file), converter="nightshift", reason=reason)
        except Exception as error:  # noqa: BLE001 - whatever a parser raises on a file is that file's state
            text = " ".join(str(error).split())[:300].encode("ascii", "replace").decode("ascii")
            reason = f"the converter failed ({type(error).__name__}: {text})"
            document = ConvertedDocument("quarantined", _stem(file), converter="nightshift", reason=reason)
        _write_message(answers, asdict(replace(document, content_hash=read[0], size=read[1])))


def _limit_memory(megabytes: int) -> None:
    """Bounds private memory. Address space is no measure: libraries reserve much more of it than they use."""
    wanted = megabytes * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))


def _read_message(stream: IO[bytes]) -> dict[str, Any] | None:
    head = stream.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return None
    message: dict[str, Any] = json.loads(stream.read(_HEADER.unpack(head)[0]))
    return message


def _write_message(stream: IO[bytes], message: dict[str, Any]) -> None:
    data = json.dumps(message).encode("ascii")
    stream.write(_HEADER.pack(len(data)) + data)
    stream.flush()
