"""Mail goes out through Airflow's own SMTP connection; deadlines and schedules come from the batch file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.reports.summary import RunSummary, SummaryLine
from tests.smtp_server import MailServer, serve_mail

pytestmark = pytest.mark.airflow

PROBE = """
import json, sys
from nightshift_airflow.notices import send_mail
from rag_core.errors import ServiceUnavailable
subject, html, attached = json.loads(sys.stdin.read())
try:
    send_mail("smtp_default", to=["a@example.com", "b@example.com"], subject=subject, html=html, files=attached)
except ServiceUnavailable as error:
    print(error)
    sys.exit(3)
"""


@pytest.fixture
def server() -> Iterator[MailServer]:
    with serve_mail() as running:
        yield running


def _send(server: MailServer, home: Path, summary: RunSummary, *files: Path) -> subprocess.CompletedProcess[str]:
    extra = "disable_ssl=true&disable_tls=true&from_email=nightshift%40example.com&retry_limit=1&timeout=5"
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("AIRFLOW")},
        "AIRFLOW_HOME": str(home / "airflow"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/none.db",
        "AIRFLOW_CONN_SMTP_DEFAULT": f"smtp://127.0.0.1:{server.port}/?{extra}",
    }
    return subprocess.run(
        [sys.executable, "-c", PROBE],
        input=json.dumps([summary.subject, summary.html(), [str(file) for file in files]]),
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


SUMMARY = RunSummary(
    subject="Umsatz in Köln, 2026-07-01: 1 published",
    lead="One question.",
    lines=(SummaryLine(question_id="q", title="Umsatz <Köln>", state="Answered", answer="5 €"),),
)


def test_a_mail_holds_the_summary_and_the_pdf(server: MailServer, tmp_path: Path) -> None:
    (tmp_path / "2026-07-01.pdf").write_bytes(b"%PDF-1.7 sample")
    done = _send(server, tmp_path, SUMMARY, tmp_path / "2026-07-01.pdf")
    assert done.returncode == 0, done.stderr[-2000:]
    [message] = server.mails
    assert message["subject"] == "Umsatz in Köln, 2026-07-01: 1 published"
    assert message["from"] == "nightshift@example.com"
    assert message["to"] == "a@example.com, b@example.com"
    parts = {part.get_content_type(): part for part in message.walk() if not part.is_multipart()}
    assert "Umsatz &lt;Köln&gt;" in parts["text/html"].get_content()
    [attachment] = message.iter_attachments()
    assert attachment.get_filename() == "2026-07-01.pdf"
    assert attachment.get_payload(decode=True) == b"%PDF-1.7 sample"


def test_a_server_that_refuses_is_one_line(server: MailServer, tmp_path: Path) -> None:
    server.refused = {"a@example.com", "b@example.com"}
    done = _send(server, tmp_path, SUMMARY)
    assert done.returncode == 3, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1].startswith("the mail server did not take the message:")
    assert server.mails == []
