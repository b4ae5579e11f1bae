"""Every form a metric query can have, over the sample's model: what the dialects must be able to say."""

from __future__ import annotations

from typing import Any

from rag_core.datamodel.plan import MetricQuery

QUARTER = {"start": "2026-04-01", "end": "2026-07-01"}
HALF = {"start": "2025-07-01", "end": "2026-01-01"}
YEAR = {"start": "2025-01-01", "end": "2026-01-01"}
EARLIER = {"start": "2024-02-01", "end": "2024-04-01"}

_PARTS: dict[str, dict[str, Any]] = {
    "one figure": {"metrics": ["revenue"]},
    "several figures of two tables": {"metrics": ["orders", "units", "freight_cost"], "dimensions": ["region"]},
    "ratio": {"metrics": ["discount_share"], "dimensions": ["product_family"]},
    "ratio of two tables": {"metrics": ["target_attainment"], "dimensions": ["region"], "grain": "quarter"},
    "derived": {"metrics": ["gross_margin"], "dimensions": ["region"]},
    "share": {"metrics": ["revenue"], "dimensions": ["channel"], "share": True},
    "share by period": {"metrics": ["orders"], "dimensions": ["channel"], "grain": "month", "share": True},
    "share of one value": {
        "metrics": ["revenue"],
        "dimensions": ["region"],
        "filters": [{"dimension": "region", "values": ["DACH"]}],
        "share": True,
    },
    "difference to the period before": {"metrics": ["revenue", "orders"], "comparison": "previous"},
    "difference by month": {"metrics": ["revenue"], "grain": "month", "comparison": "previous", "time_range": HALF},
    "difference by week": {"metrics": ["tickets"], "grain": "week", "comparison": "previous"},
    "year over year": {"metrics": ["net_margin_percent"], "dimensions": ["region"], "comparison": "year_ago"},
    "year over year by month": {"metrics": ["orders"], "grain": "month", "comparison": "year_ago"},
    "year over year by week": {"metrics": ["incidents"], "grain": "week", "comparison": "year_ago"},
    "two periods": {"metrics": ["tickets"], "comparison": "range", "comparison_range": EARLIER},
    "ranked by change": {
        "metrics": ["revenue"],
        "dimensions": ["country"],
        "comparison": "year_ago",
        "order": "ascending",
        "order_by": "change",
        "limit": 3,
    },
    "running total": {"metrics": ["revenue"], "grain": "month", "running_total": True, "time_range": YEAR},
    "running total by group": {
        "metrics": ["orders"],
        "dimensions": ["channel"],
        "grain": "month",
        "running_total": True,
    },
    "top": {"metrics": ["revenue"], "dimensions": ["customer"], "order": "descending", "limit": 5},
    "bottom": {"metrics": ["units"], "dimensions": ["product"], "order": "ascending", "limit": 3},
    "one place": {"metrics": ["revenue"], "dimensions": ["country"], "order": "descending", "place": 2},
    "fewest with those that have none": {
        "metrics": ["incidents"],
        "dimensions": ["service"],
        "filters": [{"dimension": "incident_severity", "values": ["sev1"]}],
        "time_range": QUARTER,
        "order": "ascending",
        "limit": 1,
    },
    "lowest month with empty ones": {
        "metrics": ["incidents"],
        "grain": "month",
        "filters": [{"dimension": "incident_severity", "values": ["sev1"]}],
        "time_range": YEAR,
        "order": "ascending",
        "limit": 1,
    },
    "by day and week with empty ones": {"metrics": ["deployments"], "grain": "week", "time_range": HALF},
    "periods and groups with empty ones": {
        "metrics": ["incidents"],
        "dimensions": ["service"],
        "grain": "month",
        "time_range": YEAR,
    },
    "difference of two figures": {
        "metrics": ["revenue", "sales_target"],
        "dimensions": ["region"],
        "time_range": QUARTER,
        "combine": "difference",
        "conditions": [{"metric": "difference", "operator": ">", "value": 0}],
    },
    "ratio of two figures": {"metrics": ["tickets", "orders"], "time_range": YEAR, "combine": "ratio"},
    "one figure in percent of another": {
        "metrics": ["freight_cost", "net_margin"],
        "grain": "quarter",
        "time_range": YEAR,
        "combine": "percent",
    },
    "how many have it": {
        "metrics": ["orders"],
        "dimensions": ["country"],
        "time_range": QUARTER,
        "count_rows": True,
        "conditions": [{"metric": "orders", "operator": ">", "value": 500}],
    },
    "how many periods have none": {
        "metrics": ["incidents"],
        "grain": "month",
        "time_range": YEAR,
        "count_rows": True,
        "filters": [{"dimension": "incident_severity", "values": ["sev1"]}],
        "conditions": [{"metric": "incidents", "operator": "=", "value": 0}],
    },
    "top within a group": {
        "metrics": ["revenue"],
        "dimensions": ["product", "region"],
        "order": "descending",
        "limit": 2,
        "limit_by": ["region"],
    },
    "ranking with what has no name": {
        "metrics": ["churned_customers"],
        "dimensions": ["churn_reason"],
        "order": "descending",
        "keep_empty": True,
    },
    "two dimensions": {"metrics": ["revenue"], "dimensions": ["region", "segment"]},
    "two dimensions and months": {"metrics": ["revenue"], "dimensions": ["region", "segment"], "grain": "month"},
    "natural order": {"metrics": ["incidents"], "dimensions": ["incident_severity"], "time_range": YEAR},
    "condition": {
        "metrics": ["incidents"],
        "dimensions": ["service"],
        "conditions": [{"metric": "incidents", "operator": ">", "value": "3"}],
        "time_range": YEAR,
    },
    "filters": {
        "metrics": ["revenue"],
        "filters": [
            {"dimension": "country", "values": ["Germany", "Austria"]},
            {"dimension": "segment", "values": ["enterprise"], "negated": True},
        ],
    },
    "without a value": {"metrics": ["tickets"], "filters": [{"dimension": "product", "values": [None]}]},
    "mean by month": {"metrics": ["orders"], "average_over": "month", "time_range": YEAR},
    "state": {"metrics": ["headcount"], "dimensions": ["team"]},
    "state by month": {"metrics": ["headcount"], "grain": "month", "comparison": "previous"},
    "rows valid at the end": {"metrics": ["active_customers"], "dimensions": ["segment"]},
    "rows valid by month": {"metrics": ["open_tickets"], "grain": "month", "comparison": "previous"},
    "rate over the start": {"metrics": ["churn_rate"], "dimensions": ["region"]},
    "rate over the start by month": {"metrics": ["churn_rate"], "grain": "month"},
    "median": {"metrics": ["first_response_time"], "grain": "month"},
    "median of a length of time": {"metrics": ["resolution_time"], "dimensions": ["ticket_severity"]},
    "mean of a length of time": {"metrics": ["time_to_resolve"], "grain": "quarter", "time_range": YEAR},
    "by day": {"metrics": ["orders"], "grain": "day", "time_range": {"start": "2026-06-01", "end": "2026-06-15"}},
    "by year": {"metrics": ["revenue"], "grain": "year", "time_range": {"start": "2024-01-01", "end": "2026-07-01"}},
    "other table of a figure": {"metrics": ["revenue"], "dimensions": ["product_family"], "grain": "quarter"},
    "expression with a subquery": {"metrics": ["subscription_share"], "dimensions": ["channel"]},
}
FORMS: dict[str, MetricQuery] = {
    name: MetricQuery.model_validate({"time_range": QUARTER, **parts}) for name, parts in _PARTS.items()
}
