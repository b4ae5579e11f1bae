"""Functions, types and units that a model's statement may use under a grammar, by dialect: what analysts write.

The guard lets more through; a grammar that names everything would lead a small model astray.
"""

from __future__ import annotations

_EVERYWHERE = (
    "ABS", "AVG", "CEIL", "COALESCE", "CONCAT", "CORR", "COUNT", "CUME_DIST", "DENSE_RANK", "EXP", "FIRST_VALUE",
    "FLOOR", "GREATEST", "LAG", "LAST_VALUE", "LEAD", "LEAST", "LEFT", "LENGTH", "LN", "LOWER", "LPAD", "MAX", "MIN",
    "MOD", "NTILE", "NULLIF", "PERCENT_RANK", "POWER", "RANK", "REPLACE", "RIGHT", "ROUND", "ROW_NUMBER", "SIGN",
    "SQRT", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "SUBSTRING", "SUM", "TRIM", "UPPER", "VARIANCE",
)  # fmt: skip
_POSTGRES = (
    "AGE", "ARRAY_AGG", "BOOL_AND", "BOOL_OR", "DATE_PART", "DATE_TRUNC", "GENERATE_SERIES", "INITCAP", "MAKE_DATE",
    "MODE", "NOW", "PERCENTILE_CONT", "PERCENTILE_DISC", "SPLIT_PART", "STRING_AGG", "STRPOS", "TO_CHAR", "TO_DATE",
    "TO_TIMESTAMP", "TRUNC",
)  # fmt: skip
_OTHERS = {
    "postgres": _POSTGRES,
    "redshift": ("DATEADD", "DATEDIFF", "DATE_PART", "DATE_TRUNC", "LISTAGG", "MEDIAN", "NVL",
                 "PERCENTILE_CONT", "SPLIT_PART", "STRPOS", "TO_CHAR", "TO_DATE", "TRUNC"),
    "snowflake": ("ARRAY_AGG", "DATEADD", "DATEDIFF", "DATE_PART", "DATE_TRUNC", "IFF", "INITCAP", "LISTAGG", "MEDIAN",
                  "NVL", "PERCENTILE_CONT", "SPLIT_PART", "TO_CHAR", "TO_DATE", "TRUNC"),
    "bigquery": ("APPROX_QUANTILES", "ARRAY_AGG", "COUNTIF", "DATE_ADD", "DATE_DIFF", "DATE_SUB", "DATE_TRUNC",
                 "FORMAT_DATE", "IF", "IFNULL", "INITCAP", "PARSE_DATE", "PERCENTILE_CONT", "SAFE_DIVIDE", "STRING_AGG",
                 "STRPOS", "TIMESTAMP_DIFF", "TIMESTAMP_TRUNC", "TRUNC"),
    "duckdb": ("ARRAY_AGG", "BOOL_AND", "BOOL_OR", "DATE_DIFF", "DATE_TRUNC", "LIST", "MEDIAN",
               "MODE", "PERCENTILE_CONT", "QUANTILE_CONT", "SPLIT_PART", "STRFTIME", "STRING_AGG", "STRPOS", "TRUNC"),
}  # fmt: skip
FUNCTIONS = {dialect: tuple(sorted((*_EVERYWHERE, *own))) for dialect, own in _OTHERS.items()}

_TYPES = ("BIGINT", "BOOLEAN", "DATE", "DECIMAL", "DOUBLE PRECISION", "INT", "INTEGER", "INTERVAL", "NUMERIC",
          "REAL", "TEXT", "TIME", "TIMESTAMP", "VARCHAR", "date", "float", "int", "integer", "numeric", "text",
          "timestamp")  # fmt: skip
TYPES = {
    "postgres": ("FLOAT", *_TYPES),
    "redshift": ("FLOAT", *_TYPES),
    "snowflake": ("FLOAT", *_TYPES),
    "duckdb": ("DOUBLE", "FLOAT", *_TYPES),
    "bigquery": ("BIGNUMERIC", "BOOL", "DATE", "DATETIME", "FLOAT64", "INT64", "NUMERIC", "STRING", "TIMESTAMP"),
}
UNITS = ("CENTURY", "DAY", "DECADE", "DOW", "DOY", "EPOCH", "HOUR", "ISODOW", "MINUTE", "MONTH", "QUARTER", "SECOND",
         "WEEK", "YEAR")  # fmt: skip
