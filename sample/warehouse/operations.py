"""Deployments and incidents of the cloud services (S6) and headcount of the teams (S7). Pure."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import NamedTuple

from sample.warehouse.catalog import SERVICES, TEAMS, Service
from sample.warehouse.timeline import LAST_DAY, MONTHS, QUAY_START, WEEKLY_BILLING, Month, stream

_END = datetime(LAST_DAY.year, LAST_DAY.month, LAST_DAY.day, 23, 59, tzinfo=UTC)
_ACKNOWLEDGE = {"sev1": 2.6, "sev2": 3.2, "sev3": 6.0, "sev4": 14.0}
_RESOLVE = {"sev1": 95.0, "sev2": 120.0, "sev3": 210.0, "sev4": 480.0}
_SEVERITIES = ("sev1", "sev2", "sev3", "sev4")
_POOL_TITLE = "Connection pool exhausted after release"
_TITLES = (
    "Elevated error rate",
    "Latency above objective",
    "Queue backlog growing",
    "Certificate about to expire",
    "Disk filling up",
    "Replica lagging",
    "Upstream timeouts",
    "Out of memory restarts",
)


class Deployment(NamedTuple):
    """A production deployment; ``duration`` in seconds, None where it failed."""

    deployment_id: int
    service: Service
    deployed_at: datetime
    version: str
    tool: str
    outcome: str
    duration: int | None


class Incident(NamedTuple):
    """An incident of a service; times in UTC."""

    incident_id: int
    service_id: int
    severity: str
    title: str
    started_at: datetime
    acknowledged_at: datetime | None
    resolved_at: datetime | None
    deployment_id: int | None


class Headcount(NamedTuple):
    """Employees of a team at the end of a month."""

    month: date
    team: str
    employees: int
    open_positions: int | None


def build_deployments(seed: int) -> list[Deployment]:
    """All deployments by time, numbered from 1: about 900."""
    found: list[Deployment] = []
    for service in SERVICES:
        rng = stream(seed, f"deployments:{service.name}")
        # Releases go out on Tuesdays; the train of a service starts in the first days of the sample.
        day = date(2023, 7, 4) + timedelta(days=7 * (service.service_id % 2))
        while day <= LAST_DAY:
            found.append(_deployment(rng, service, day, 1))
            if rng.random() < 0.06 and day + timedelta(days=2) <= LAST_DAY:
                found.append(_deployment(rng, service, day + timedelta(days=2), 2))
            day += timedelta(days=_cycle(service, day))
    found.sort(key=lambda d: (d.deployed_at, d.service.service_id))
    return [d._replace(deployment_id=number) for number, d in enumerate(found, start=1)]


def _cycle(service: Service, day: date) -> int:
    """Days to the next release: weekly for billing-api from March to May 2026 (S6)."""
    if service.name == "billing-api" and WEEKLY_BILLING[0] - timedelta(days=7) <= day < WEEKLY_BILLING[1]:
        return 7
    return service.cycle


def _deployment(rng: Random, service: Service, day: date, number: int) -> Deployment:
    year, week, _ = day.isocalendar()
    at = datetime(day.year, day.month, day.day, 8, tzinfo=UTC) + timedelta(seconds=rng.randrange(7 * 3600))
    outcome = rng.choices(("succeeded", "rolled_back", "failed"), (93, 4, 3))[0]
    tool = "quay" if day >= QUAY_START else "ferry-deploy"
    usual = 420 if tool == "quay" else 900
    duration = None if outcome == "failed" else round(usual * float(rng.lognormvariate(0.0, 0.3)))
    return Deployment(0, service, at, f"{year}.{week:02d}.{number}", tool, outcome, duration)


def build_incidents(seed: int, deployments: list[Deployment]) -> list[Incident]:
    """All incidents by the time they started, numbered from 2001: about 370."""
    found: list[Incident] = []
    for service in SERVICES:
        rng = stream(seed, f"incidents:{service.name}")
        pending = rng.random()
        for month in MONTHS:
            releases = [
                d for d in deployments if d.service is service and month.first <= d.deployed_at.date() <= month.last
            ]
            if service.name == "billing-api" and month.between((2026, 3), (2026, 5)):
                found.extend(_pool_incidents(rng, releases))
                continue
            pending += service.incidents * rng.uniform(0.75, 1.25)
            while pending >= 1:
                pending -= 1
                found.append(_usual_incident(rng, month, service, releases))
    found.sort(key=lambda i: (i.started_at, i.service_id))
    return [i._replace(incident_id=number) for number, i in enumerate(found, start=2001)]


def _pool_incidents(rng: Random, releases: list[Deployment]) -> list[Incident]:
    """After each weekly release the pool of connections runs dry, every third time twice (S6)."""
    found: list[Incident] = []
    for position, release in enumerate(releases):
        for _ in range(2 if position % 3 == 0 else 1):
            started = release.deployed_at + timedelta(seconds=1200 + rng.randrange(18 * 3600))
            severity = rng.choices(_SEVERITIES, (10, 60, 30, 0))[0]
            title = f"{_POOL_TITLE} {release.version}"
            found.append(_incident(rng, release.service, severity, title, started, release.deployment_id))
    return found


def _usual_incident(rng: Random, month: Month, service: Service, releases: list[Deployment]) -> Incident:
    severity = rng.choices(_SEVERITIES, (5, 22, 48, 25))[0]
    title = rng.choice(_TITLES)
    if releases and rng.random() < 0.2:
        release = rng.choice(releases)
        started = release.deployed_at + timedelta(seconds=600 + rng.randrange(6 * 3600))
        return _incident(rng, service, severity, title, started, release.deployment_id)
    begin = datetime(month.first.year, month.first.month, month.first.day, tzinfo=UTC)
    started = begin + timedelta(seconds=rng.randrange(month.days * 86400))
    return _incident(rng, service, severity, title, started, None)


def _incident(
    rng: Random, service: Service, severity: str, title: str, started: datetime, deployment_id: int | None
) -> Incident:
    taken = started + timedelta(seconds=round(60 * _ACKNOWLEDGE[severity] * float(rng.lognormvariate(0.0, 0.5))))
    over = taken + timedelta(seconds=round(60 * _RESOLVE[severity] * float(rng.lognormvariate(0.0, 0.6))))
    # An open one stays open only near the end of the sample: nobody leaves a fault for months.
    recent = (_END - started).days < 14
    acknowledged = None if severity == "sev4" and rng.random() < 0.15 else min(taken, _END)
    resolved = None if over > _END or (recent and rng.random() < 0.6) else over
    return Incident(0, service.service_id, severity, title, started, acknowledged, resolved, deployment_id)


def build_headcount(seed: int) -> list[Headcount]:
    """One row a month and team (36 x 6). From 2026 only Security hires; Customer Care loses 15 % (S7)."""
    rng = stream(seed, "headcount")
    found: list[Headcount] = []
    for month in MONTHS:
        for team, first, last in TEAMS:
            positions: int | None = rng.randrange(1, 4)
            if month.number < 30:
                employees = first + round((last - first) * month.number / 29)
            else:
                passed = month.number - 29
                lost = {"Customer Care": 8 / 6, "Security": -2 / 6, "Platform": 1 / 6, "Devices": 1 / 6}
                employees = last - round(lost.get(team, 0.0) * passed)
                positions = positions if team == "Security" else None
            found.append(Headcount(month.first, team, employees, positions))
    return found
