"""Health of one Airflow service, by the api-server's own report: python docker/healthcheck.py COMPONENT [ADDRESS].

COMPONENT is api-server, scheduler, dag-processor or triggerer. Exit code 0 is healthy, 1 is not. Standard library only:
it runs twice a minute in every container.
"""

import json
import sys
import urllib.request

KEYS = {
    "api-server": "metadatabase",
    "scheduler": "scheduler",
    "dag-processor": "dag_processor",
    "triggerer": "triggerer",
}
TIMEOUT_SECONDS = 8


def main(arguments: list[str]) -> int:
    """Prints one line and returns the exit code."""
    if not arguments or arguments[0] not in KEYS or len(arguments) > 2:
        sys.stderr.write(f"usage: healthcheck.py {'|'.join(KEYS)} [ADDRESS]\n")
        return 2
    component = arguments[0]
    host = "127.0.0.1" if component == "api-server" else "api-server"
    address = arguments[1] if len(arguments) == 2 else f"http://{host}:8080"
    try:
        with urllib.request.urlopen(f"{address}/api/v2/monitor/health", timeout=TIMEOUT_SECONDS) as reply:
            report = json.load(reply)
    except (OSError, ValueError) as error:
        sys.stdout.write(f"{component}: the api-server does not answer ({type(error).__name__})\n")
        return 1
    state = (report.get(KEYS[component]) or {}).get("status")
    sys.stdout.write(f"{component}: {state}\n")
    return 0 if state == "healthy" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
