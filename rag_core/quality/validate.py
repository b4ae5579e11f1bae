"""Judges observations with Great Expectations: all of a run in one pass over one frame. The only importer of it."""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import threading
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rag_core.datamodel.report import CheckResult, CheckVerdict
from rag_core.quality.observation import Observation

if TYPE_CHECKING:
    import pandas

_KEY = "key"
# Each expectation looks at one column of the frame; a row without a value there is not its business.
_AT_LEAST = "above_lower"
_AT_MOST = "below_upper"
_EXACT = "exact"
_TURN = threading.Lock()


def judge(observations: Sequence[Observation]) -> tuple[CheckResult, ...]:
    """One result an observation, in their order.

    An expectation that cannot be made as it is written, or that Great Expectations cannot evaluate, is an `error`,
    which is neither pass nor fail. Threads wait for one another: judging at once, the library mixes up their verdicts.
    """
    judged = [item for item in observations if item.judged and not item.broken]
    with _TURN:
        failing, broken = _run_suite(_build_frame(judged)) if judged else (set(), {})
    positions = {id(item): position for position, item in enumerate(judged)}
    return tuple(_to_result(item, positions.get(id(item)), failing, broken) for item in observations)


def _to_result(item: Observation, position: int | None, failing: set[int], broken: dict[str, str]) -> CheckResult:
    verdict: CheckVerdict
    message = item.message
    if item.broken:
        verdict, message = "error", item.broken
    elif position is None:
        verdict = "not_judged"
    elif position in failing:
        verdict = "fail"
    else:
        concerned = [column for column in _columns_of(item) if column in broken]
        verdict = "error" if concerned else "pass"
        message = broken[concerned[0]] if concerned else message
    return CheckResult(
        check_id=item.check_id,
        question_id=item.question_id,
        verdict=verdict,
        severity=item.severity,
        observed=item.observed,
        threshold=_threshold(item),
        message=message,
        description=item.description,
    )


def _columns_of(item: Observation) -> list[str]:
    if item.exact is not None:
        return [_EXACT]
    return [*([_AT_LEAST] if item.lower is not None else []), *([_AT_MOST] if item.upper is not None else [])]


def _threshold(item: Observation) -> str | None:
    if item.lower is None and item.upper is None:
        return None
    if item.lower is None:
        return f"at most {item.upper}"
    return f"at least {item.lower}" if item.upper is None else f"{item.lower} to {item.upper}"


def _build_frame(observations: Sequence[Observation]) -> pandas.DataFrame:
    import pandas as pd  # noqa: PLC0415 - heavy

    def distance(value: Any, bound: Any) -> float | None:
        return None if bound is None else float(value) - float(bound)

    return pd.DataFrame(
        {
            _KEY: range(len(observations)),
            _AT_LEAST: pd.Series(
                [None if i.exact is not None else distance(i.observed, i.lower) for i in observations], dtype="float64"
            ),
            _AT_MOST: pd.Series(
                [None if i.exact is not None else distance(i.observed, i.upper) for i in observations], dtype="float64"
            ),
            _EXACT: pd.Series([i.exact for i in observations], dtype="object"),
        }
    )


def load_library() -> None:
    """Imports Great Expectations, which takes seconds: for a process whose children are to find it loaded."""
    # Nothing about a run leaves the machine.
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with warnings.catch_warnings():
        # The library warns about its own use of pandas; our frames have the types it asks for.
        warnings.simplefilter("ignore")
        importlib.import_module("great_expectations.expectations")


def _run_suite(frame: pandas.DataFrame) -> tuple[set[int], dict[str, str]]:
    """Keys of the rows that fail, and for each column that could not be judged the library's reason."""
    load_library()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import great_expectations as gx  # noqa: PLC0415 - heavy
        import great_expectations.expectations as gxe  # noqa: PLC0415 - heavy

        # The library sets one of its loggers to INFO itself and tells of each of its parts.
        for name in ("great_expectations", "great_expectations.data_context.types.base"):
            logging.getLogger(name).setLevel(logging.WARNING)
        context = gx.get_context(mode="ephemeral")
        # It also makes a folder for a web site that nobody asked for, and leaves it.
        for site in (context.variables.data_docs_sites or {}).values():
            shutil.rmtree(site["store_backend"]["base_directory"], ignore_errors=True)
        context.variables.progress_bars = {"globally": False, "metric_calculations": False}
        asset = context.data_sources.add_pandas("results").add_dataframe_asset("observations")
        batch = asset.add_batch_definition_whole_dataframe("run").get_batch({"dataframe": frame})
        suite = gx.ExpectationSuite(
            name="publication",
            expectations=[
                gxe.ExpectColumnValuesToBeBetween(column=_AT_LEAST, min_value=0),
                gxe.ExpectColumnValuesToBeBetween(column=_AT_MOST, max_value=0),
                gxe.ExpectColumnValuesToBeInSet(column=_EXACT, value_set=[True]),
            ],
        )
        outcome = batch.validate(
            suite, result_format={"result_format": "COMPLETE", "unexpected_index_column_names": [_KEY]}
        )
    failing: set[int] = set()
    broken: dict[str, str] = {}
    for result in outcome.results:
        column = result.expectation_config.kwargs["column"]
        problem = result.exception_info
        if isinstance(problem, dict) and problem.get("raised_exception") is False:
            failing.update(int(row[_KEY]) for row in result.result.get("unexpected_index_list") or [])
        else:
            broken[column] = f"the check itself failed: {problem}"[:300]
    return failing, broken
