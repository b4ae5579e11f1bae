"""Registers the page and the pools with an Airflow that uses this folder of plugins. It must cost nothing.

Where the package is installed, Airflow finds them by its entry points, and a second registration would be an error in
its list of plugins.
"""

from __future__ import annotations

from importlib.metadata import entry_points

if not entry_points(group="airflow.plugins", name="nightshift"):
    from nightshift_airflow.registration import NightshiftPlugin, NightshiftPools

    __all__ = ["NightshiftPlugin", "NightshiftPools"]
