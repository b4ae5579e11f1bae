"""No route answers without Airflow's session, none changes anything for a viewer, none takes another site's form."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from nightshift_airflow.page.plugin import PREFIX

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    from nightshift_airflow.page.services import PageServices

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

Login = Callable[[str | None], "TestClient"]
VALUES = {
    "run_id": str(uuid.UUID(int=1)),
    "question_id": "q",
    "marker": "S1",
    "plan_id": "none",
    "event_id": "1",
    "document_id": "none",
    "name": "page.css",
    "decision": "accept",
}


@pytest.fixture(scope="session")
def every_route(page_services: PageServices, airflow_home: object) -> list[tuple[str, str]]:
    """Method and path of every route of the page, whatever kind it is."""
    from fastapi.routing import APIRoute

    from nightshift_airflow.page.app import create_page

    def walk(app: FastAPI) -> Iterator[tuple[str, str]]:
        for route in app.routes:
            # A mounted application or a plain route would know nothing of the login that APIRoutes share.
            assert isinstance(route, APIRoute), route
            for method in sorted(route.methods):
                yield method, route.path.format(**VALUES)

    found = list(walk(create_page(page_services)))
    assert len(found) >= 40
    return found


def test_every_route_refuses_without_a_session(every_route: list[tuple[str, str]], log_in: Login) -> None:
    nobody = log_in(None)
    answers = {(method, path): nobody.request(method, PREFIX + path).status_code for method, path in every_route}
    assert {key: code for key, code in answers.items() if code != 401} == {}


@pytest.mark.parametrize("token", ["", "x.y.z", "null"])
def test_every_route_refuses_a_forged_token(every_route: list[tuple[str, str]], log_in: Login, token: str) -> None:
    for by_cookie in (True, False):
        forger = log_in(None)
        headers = {} if by_cookie else {"Authorization": f"Bearer {token}"}
        if by_cookie:
            forger.cookies.set("_token", token)
        for method, path in every_route:
            assert forger.request(method, PREFIX + path, headers=headers).status_code in (401, 403), path


def test_a_token_signed_by_somebody_else_is_refused(log_in: Login) -> None:
    import jwt

    claims = {"sub": "ada", "role": "admin", "teams": [], "aud": "apache-airflow", "iat": 0, "nbf": 0, "exp": 2**33}
    client = log_in(None)
    client.cookies.set("_token", jwt.encode(claims, "another secret, " * 5, algorithm="HS512"))
    assert client.get(f"{PREFIX}/").status_code in (401, 403)


def test_what_is_not_there_tells_nothing_either(log_in: Login) -> None:
    assert log_in(None).get(f"{PREFIX}/nowhere").status_code in (401, 404)
    assert "there is no" not in log_in(None).get(f"{PREFIX}/plans/none").text


def test_a_viewer_reads_and_changes_nothing(every_route: list[tuple[str, str]], log_in: Login) -> None:
    viewer = log_in("vera")
    assert viewer.get(f"{PREFIX}/").status_code == 200
    changing = [(method, path) for method, path in every_route if method not in ("GET", "HEAD")]
    assert len(changing) >= 12
    for method, path in changing:
        reply = viewer.request(method, PREFIX + path, headers={"Authorization": f"Bearer {viewer.cookies['_token']}"})
        assert reply.status_code == 403, path
        assert "role" in reply.text, path


def test_a_viewer_is_told_and_shown_no_form(log_in: Login) -> None:
    text = log_in("vera").get(f"{PREFIX}/ask").text
    assert "<textarea" not in text
    assert "ask_questions" in text


def test_every_change_needs_the_form_s_token(every_route: list[tuple[str, str]], log_in: Login) -> None:
    user = log_in("uli")
    user.get(f"{PREFIX}/ask")
    for method, path in every_route:
        if method not in ("GET", "HEAD"):
            for body in ({}, {"csrf_token": "0" * 64}, {"csrf_token": "é"}):
                reply = user.request(method, PREFIX + path, data=body)
                assert reply.status_code == 403, path
                assert "form" in reply.text, path


def test_a_token_of_another_user_or_another_browser_is_no_good(log_in: Login) -> None:
    from nightshift_airflow.page.csrf import COOKIE, sign

    ada, uli = log_in("ada"), log_in("uli")
    ada.get(f"{PREFIX}/ask")
    uli.get(f"{PREFIX}/ask")
    for token in (sign(uli.cookies[COOKIE], "ada"), sign(ada.cookies[COOKIE], "uli")):
        assert uli.post(f"{PREFIX}/ask", data={"csrf_token": token, "question": "x"}).status_code == 403
    # The user's own token passes; what is wrong then is the question.
    own = {"csrf_token": sign(uli.cookies[COOKIE], "uli"), "question": "x"}
    assert uli.post(f"{PREFIX}/ask", data=own).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
def test_another_site_s_request_is_refused_even_with_the_token(log_in: Login, headers: dict[str, str]) -> None:
    from nightshift_airflow.page.csrf import COOKIE, sign

    uli = log_in("uli")
    uli.get(f"{PREFIX}/ask")
    body = {"csrf_token": sign(uli.cookies[COOKIE], "uli"), "question": "x"}
    assert uli.post(f"{PREFIX}/ask", data=body, headers=headers).status_code == 403


def test_the_cookie_is_kept_from_scripts_and_other_sites(log_in: Login) -> None:
    set_cookie = log_in("ada").get(f"{PREFIX}/ask").headers["set-cookie"]
    assert "HttpOnly" in set_cookie
    assert "SameSite=strict" in set_cookie
    assert f"Path={PREFIX}" in set_cookie


def test_a_program_with_a_token_needs_no_form(log_in: Login) -> None:
    token = log_in("uli").cookies["_token"]
    program = log_in(None)
    reply = program.post(f"{PREFIX}/api/ask", json={"question": "x"}, headers={"Authorization": f"Bearer {token}"})
    assert reply.status_code == 400
    assert reply.json()["detail"] == "question 1 has 1 characters; 3 to 2000 are allowed"


def test_headers_say_what_a_browser_may_do(every_route: list[tuple[str, str]], log_in: Login) -> None:
    for client in (log_in(None), log_in("ada")):
        for method, path in every_route:
            if method != "GET":
                continue
            headers = client.get(PREFIX + path).headers
            assert "default-src 'none'" in headers["content-security-policy"], path
            assert headers["x-content-type-options"] == "nosniff", path
            assert "frame-ancestors 'self'" in headers["content-security-policy"], path


def test_airflow_knows_the_page_and_where_it_is(log_in: Login) -> None:
    plugins = log_in("ada").get("/api/v2/plugins").json()["plugins"]
    (ours,) = [plugin for plugin in plugins if plugin["name"] == "nightshift"]
    (view,) = ours["external_views"]
    assert (view["href"], view["url_route"], view["destination"]) == (f"{PREFIX}/", "nightshift", "nav")
