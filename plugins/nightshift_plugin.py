"""Registers the page with Airflow. Every Airflow process runs this file: it must cost nothing."""

from __future__ import annotations

from nightshift_airflow.page.plugin import NightshiftPlugin

__all__ = ["NightshiftPlugin"]
