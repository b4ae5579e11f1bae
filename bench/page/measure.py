"""Times the page of a running Airflow: `.venv/bin/python -m bench.page.measure`, with that Airflow's settings.

Every page once cold and then `--times` warm, beside an answer of Airflow itself that reads nothing, so that the load of
the machine shows. With `--ask` a question is asked twice and searched for: the first one pays for the libraries.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time

import httpx

from nightshift_airflow.server import AirflowServer
from rag_core.settings import load_settings

PREFIX = "/nightshift"
QUESTION = "What was revenue by region in 2025?"


def main() -> None:
    """Prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=15, help="how often each page is loaded")
    parser.add_argument("--ask", action="store_true", help="ask and search as well")
    options = parser.parse_args()
    server = AirflowServer(load_settings())
    username, password = server.credentials()
    with httpx.Client(base_url=server.url, timeout=600) as client:
        reply = client.post("/auth/token", json={"username": username, "password": password})
        client.cookies.set("_token", reply.raise_for_status().json()["access_token"])
        print(f"load {os.getloadavg()[0]:.0f}; api-server {_memory(server)}")
        print("| page | first ms | median ms | slowest ms | Airflow's own median ms | KB |\n|---|---|---|---|---|---|")
        for path in _pages(client):
            first = _seconds(client, PREFIX + path)
            warm = [_seconds(client, PREFIX + path) for _ in range(options.times)]
            own = [_seconds(client, "/api/v2/version") for _ in range(options.times)]
            figures = (first, statistics.median(warm), max(warm), statistics.median(own))
            size = len(client.get(PREFIX + path).content) / 1024
            print(f"| {path} | {' | '.join(f'{figure * 1000:.0f}' for figure in figures)} | {size:.0f} |")
        if options.ask:
            for name in ("first question", "second question"):
                print(f"{name}: {_ask(client):.1f} s")
            for name in ("first search", "second search"):
                print(f"{name}: {_seconds(client, f'{PREFIX}/search?q=how+long+are+metrics+kept'):.2f} s")
        print(f"load {os.getloadavg()[0]:.0f}; api-server {_memory(server)}")


def _pages(client: httpx.Client) -> list[str]:
    """The pages, with the newest run, one of its answers, and one plan, event and document where there is one."""
    runs = [run for run in client.get(f"{PREFIX}/api/runs").json()["runs"] if run["state"] == "finished"]
    pages = ["/", "/held", "/plans", "/drift", "/documents", "/ask"]
    if runs:
        run = f"/runs/{runs[0]['run_id']}"
        pages += [run, f"{run}/questions/{runs[0]['first_question_id']}"]
    for listed in ("/plans", "/drift?state=all", "/documents"):
        area = listed.split("?")[0]
        found = re.search(rf'href="{PREFIX}({area}/[^"?]+)"', client.get(PREFIX + listed).text)
        pages += [found[1]] if found else []
    return pages


def _seconds(client: httpx.Client, path: str) -> float:
    started = time.perf_counter()
    client.get(path).raise_for_status()
    return time.perf_counter() - started


def _ask(client: httpx.Client) -> float:
    token = re.search(r'name="csrf_token" value="(\w+)"', client.get(f"{PREFIX}/ask").text)
    assert token is not None
    started = time.perf_counter()
    reply = client.post(f"{PREFIX}/ask", data={"csrf_token": token[1], "question": QUESTION})
    path = reply.headers["location"].replace(f"{PREFIX}/", f"{PREFIX}/api/", 1)
    while client.get(path).status_code == 202:
        time.sleep(0.2)
    return time.perf_counter() - started


def _memory(server: AirflowServer) -> str:
    """Memory of the api-server's processes, and whether PyTorch is loaded in one of them."""
    parent = server.process()
    if parent is None:
        return "was not started by this home's `nightshift airflow start`"
    family = [parent, *parent.children(recursive=True)]
    serving = [process for process in family if "api_server" in " ".join(process.cmdline()).replace("-", "_")]
    torch = any("libtorch" in each.path for process in serving for each in process.memory_maps())
    return (
        f"{sum(process.memory_info().rss for process in serving) / 1e6:.0f} MB, PyTorch {'' if torch else 'not '}loaded"
    )


if __name__ == "__main__":
    main()
