"""The worker process: reused, bounded, replaced; a document never takes another with it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.config import ConversionLimits
from ingestion.convert import convert
from ingestion.documents import SourceFile
from ingestion.isolate import IsolatedConverter

pytestmark = pytest.mark.integration


def source(folder: Path, name: str, text: str | bytes) -> SourceFile:
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(data)
    return SourceFile("docs", folder, path, name, len(data), "0" * 64)


@pytest.fixture(scope="module")
def converter() -> Iterator[IsolatedConverter]:
    with IsolatedConverter(ConversionLimits()) as made:
        yield made


def slow(folder: Path) -> SourceFile:
    """A CSV file that takes seconds to read."""
    return source(folder, "slow.csv", "a,b,c,d,e,f,g,h\n" * 120_000)


SLOW_LIMITS = {"max_rows": 10_000_000, "max_cells": 100_000_000}


def test_the_answer_is_that_of_the_same_process(tmp_path: Path, converter: IsolatedConverter) -> None:
    file = source(
        tmp_path, "a.md", "---\ntitle: \u00dcber\ndate: 2024-01-02\n---\n# H\n\n```sh\nls\n```\n\n|a|b|\n|-|-|\n|1|2|\n"
    )
    assert converter.convert(file) == convert(file, limits=ConversionLimits())


def test_one_worker_serves_many_files(tmp_path: Path, converter: IsolatedConverter) -> None:
    pids = set()
    for number in range(5):
        assert converter.convert(source(tmp_path, f"{number}.md", f"text {number}")).state == "ok"
        pids.add(converter.worker_pid)
    assert len(pids) == 1


def test_a_name_that_is_not_utf8_reaches_the_worker(tmp_path: Path, converter: IsolatedConverter) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.md")
    try:
        path.write_text("coffee")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    document = converter.convert(SourceFile("docs", tmp_path, path, "caf\ufffd.md", 6, "0" * 64))
    assert document.blocks[0].text == "coffee"


def test_a_timeout_ends_that_document_alone(tmp_path: Path) -> None:
    limits = ConversionLimits(seconds=0.4, **SLOW_LIMITS)
    with IsolatedConverter(limits) as converter:
        converter.convert(source(tmp_path, "first.md", "warm"))
        before = converter.worker_pid
        document = converter.convert(slow(tmp_path))
        assert document.state == "quarantined"
        assert "longer than 0.4 seconds" in document.reason
        assert before is not None
        with pytest.raises(ProcessLookupError):
            os.kill(before, 0)
        assert converter.convert(source(tmp_path, "next.md", "fine")).state == "ok"
        assert converter.worker_pid != before


def test_a_crash_ends_that_document_alone(tmp_path: Path) -> None:
    with IsolatedConverter(ConversionLimits(**SLOW_LIMITS)) as converter:
        converter.convert(source(tmp_path, "first.md", "warm"))
        pid = converter.worker_pid
        assert pid is not None
        killer = threading.Timer(0.3, os.kill, (pid, signal.SIGSEGV))
        killer.start()
        document = converter.convert(slow(tmp_path))
        killer.join()
        assert document.state == "quarantined"
        assert "SIGSEGV" in document.reason
        assert converter.convert(source(tmp_path, "next.md", "fine")).state == "ok"


def test_a_worker_that_died_while_idle_is_replaced(tmp_path: Path) -> None:
    with IsolatedConverter(ConversionLimits()) as converter:
        converter.convert(source(tmp_path, "first.md", "warm"))
        pid = converter.worker_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
        assert converter.convert(source(tmp_path, "next.md", "fine")).state == "ok"


def test_too_much_memory_is_a_state(tmp_path: Path) -> None:
    limits = ConversionLimits(memory_megabytes=1_024, max_characters=2_000_000_000, **SLOW_LIMITS)
    with IsolatedConverter(limits) as converter:
        document = converter.convert(source(tmp_path, "big.txt", "# x\n\n- y\n\n" * 9_000_000))
        assert document.state == "too_large"
        assert "1024 MB" in document.reason
        assert converter.convert(source(tmp_path, "next.md", "fine")).state == "ok"


def test_the_worker_ends_with_the_converter(tmp_path: Path) -> None:
    converter = IsolatedConverter(ConversionLimits())
    converter.convert(source(tmp_path, "a.md", "x"))
    pid = converter.worker_pid
    assert pid is not None
    converter.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert converter.worker_pid is None
