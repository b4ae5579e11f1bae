"""Registers the page and the pools with Airflow. Every Airflow process runs this file: it must cost nothing."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from nightshift_airflow import pools
from nightshift_airflow.page.plugin import NightshiftPlugin


class NightshiftPools(AirflowPlugin):  # type: ignore[misc]  # Airflow's classes are untyped
    """Makes the pools that the tasks need when Airflow starts."""

    name = "nightshift_pools"
    listeners = [pools]


__all__ = ["NightshiftPlugin", "NightshiftPools"]
