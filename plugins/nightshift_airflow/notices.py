"""Tells people of runs from Airflow: by mail through its SMTP connection, by webhook, and of deadlines that passed.

Airflow imports this module whenever it parses a batch with a deadline, so it imports little itself.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_core.errors import ServiceUnavailable

if TYPE_CHECKING:
    from rag_core.batch.notices import Notice
    from rag_core.wiring import Services

logger = logging.getLogger(__name__)


def tell_run(services: Services, run_id: str) -> list[str]:
    """Tells of a finished run as its batch asks for; returns the channels that took the message now."""
    from rag_core.batch.notices import tell, webhook_channel  # noqa: PLC0415 - heavy

    settings = services.settings.notify
    url, secret = settings.webhook_url, settings.webhook_secret

    def email(notice: Notice) -> None:
        # The PDF holds nothing that the checks kept back; the HTML report does, for whoever decides.
        report = Path(notice.outcome.report_path or "").with_suffix(".pdf")
        send_mail(
            settings.smtp_connection,
            to=notice.batch.notify.email,
            subject=notice.summary.subject,
            html=notice.summary.html(),
            files=[str(report)] if notice.batch.pdf and report.is_file() else [],
        )

    webhook = webhook_channel(
        url.get_secret_value() if url is not None else None, secret.get_secret_value() if secret is not None else None
    )
    return list(tell(services.store, run_id, {"email": email, "webhook": webhook}))


def send_mail(connection: str, *, to: Sequence[str], subject: str, html: str, files: Sequence[str] = ()) -> None:
    """Sends one mail through an SMTP connection of Airflow, whose `from_email` is the sender.

    Raises ServiceUnavailable where the server does not take it.
    """
    import smtplib  # noqa: PLC0415 - heavy

    from airflow.providers.smtp.hooks.smtp import SmtpHook  # noqa: PLC0415 - heavy

    try:
        with SmtpHook(smtp_conn_id=connection) as hook:
            hook.send_email_smtp(to=list(to), subject=subject, html_content=html, files=list(files))
    except (OSError, smtplib.SMTPException) as error:
        raise ServiceUnavailable(f"the mail server did not take the message: {error}") from error


def deadline_missed(batch_path: str, minutes: int, **context: Any) -> None:
    """Callback of a batch's deadline: says in the log, by mail and by webhook that a run has not ended in time."""
    from nightshift_airflow.context import open_context  # noqa: PLC0415 - heavy
    from rag_core.batch.definition import load_batch  # noqa: PLC0415 - heavy
    from rag_core.connectors.webhook import post_json  # noqa: PLC0415 - heavy
    from rag_core.reports.summary import describe_late_run  # noqa: PLC0415 - heavy

    batch = load_batch(batch_path)
    run = (context.get("context") or {}).get("dag_run") or {}
    run_id = str(run.get("run_id", "") if isinstance(run, dict) else getattr(run, "run_id", ""))
    late = describe_late_run(batch, minutes=minutes, run_id=run_id)
    logger.warning(late.lead)
    with open_context() as services:
        settings = services.settings.notify
        if batch.notify.email:
            send_mail(settings.smtp_connection, to=batch.notify.email, subject=late.subject, html=late.html())
        if batch.notify.webhook and settings.webhook_url is not None:
            secret = settings.webhook_secret
            post_json(
                settings.webhook_url.get_secret_value(),
                {"event": "batch.late", "text": late.lead, "batch": batch.batch, "minutes": minutes, "run": run_id},
                secret=secret.get_secret_value() if secret is not None else None,
            )
