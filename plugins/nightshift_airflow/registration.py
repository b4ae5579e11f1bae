"""What Airflow loads of Nightshift, by the entry points `airflow.plugins`. Every process of it runs this: it is cheap.

Each is registered once: `plugins/nightshift_plugin.py` stands back where the package is installed with entry points.
"""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from nightshift_airflow import pools
from nightshift_airflow.page.plugin import NightshiftPlugin


class NightshiftPools(AirflowPlugin):  # type: ignore[misc]  # Airflow's classes are untyped
    """Makes the pools that the tasks need when Airflow starts."""

    name = "nightshift_pools"
    listeners = [pools]


__all__ = ["NightshiftPlugin", "NightshiftPools"]
