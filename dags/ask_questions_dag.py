"""
### Ask questions

A manual run for a list of questions: one a line, CSV with a column `question` (and, if you like, `question_id` and
`title`), or the path of such a file on the worker. The answers are checked like those of a batch; with `publish` they
are written to the schema `reports` too, without it only the report file is made. A dry run asks nothing: it checks the
list and says what would be asked.
"""

from __future__ import annotations

from airflow.sdk import Param, dag, task

from nightshift_airflow.defaults import DEFAULT_ARGS, QUESTIONS_A_GROUP


@dag(
    dag_id="ask_questions",
    schedule=None,
    catchup=False,
    default_args=DEFAULT_ARGS,
    doc_md=__doc__,
    tags=["nightshift", "manual"],
    params={
        "questions": Param(
            default="What was revenue by region last quarter?",
            type="string",
            format="multiline",
            minLength=3,
            maxLength=100_000,
            description="One question a line, or CSV; empty lines are left out.",
        ),
        "format": Param(
            default="lines", type="string", enum=["lines", "csv"], description="How the questions are written."
        ),
        "file": Param(
            default=None,
            type=["null", "string"],
            maxLength=1_000,
            description="Path of a file on the worker instead; one that ends in .csv is read as CSV.",
        ),
        "dry_run": Param(default=False, type="boolean", description="Only check the list and say what would be asked."),
        "publish": Param(default=False, type="boolean", description="Write the answers to the schema reports."),
        "run_date": Param(
            default=None,
            type=["null", "string"],
            format="date",
            description="The date that relative times refer to; empty takes the run's own.",
        ),
    },
)
def ask_questions() -> None:
    @task
    def start(params: dict, **context: object) -> dict:
        from nightshift_airflow.context import open_context, run_date_of
        from rag_core.batch.manual import read_asked

        batch = read_asked(params["questions"], format=params["format"], file=params["file"])
        asked = {question.question_id: question.text for question in batch.questions}
        with open_context() as services:
            run_date = run_date_of(services, context, params["run_date"])
            if params["dry_run"]:
                # Nothing is recorded; without groups the steps that follow are skipped.
                return {"run_id": None, "run_date": run_date.isoformat(), "asked": asked, "groups": []}
            run = services.batch_runner.start(batch, run_date, publish=params["publish"], group_size=QUESTIONS_A_GROUP)
            return {"run_id": run.run_id, "groups": [list(group) for group in run.groups], "asked": asked}

    @task
    def groups_of(run: dict) -> list[dict]:
        return [{"run_id": run["run_id"], "question_ids": group} for group in run["groups"]]

    @task
    def answer(group: dict) -> dict:
        from nightshift_airflow.context import open_context

        with open_context() as services:
            return services.batch_runner.answer(group["run_id"], group["question_ids"])

    @task
    def finish(run: dict) -> dict:
        from nightshift_airflow.context import open_context

        with open_context() as services:
            outcome = services.batch_runner.finish(run["run_id"])
            services.copy_reports(outcome)
            return outcome.model_dump(mode="json", exclude={"questions"})

    run = start()
    answer.expand(group=groups_of(run)) >> finish(run)


ask_questions()
