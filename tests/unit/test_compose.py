"""No Docker engine runs here, so the container files are held against the code: schema, variables, paths, commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for
from packaging.specifiers import SpecifierSet
from pydantic import BaseModel

from rag_core.connectors.dsn import libpq_dsn, parse_dsn
from rag_core.connectors.embedded import READER_ROLE
from rag_core.provision import BI_ROLE
from rag_core.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
IMAGE_ROOT = PurePosixPath("/opt/nightshift")
OURS = {name for name, service in SERVICES.items() if "build" in service}
AIRFLOW = {"api-server", "scheduler", "dag-processor", "triggerer", "worker"}
ONCE = {"init", "sample"}
# `${NAME}`, `${NAME:-default}` and `${NAME:?message}`; a default may hold further ones.
VARIABLE = re.compile(r"(?<!\$)\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<kind>:-|:\?)?")


def _settings_variables(model: type[BaseModel] = Settings, prefix: str = "NIGHTSHIFT_") -> set[str]:
    found = set()
    for name, field in model.model_fields.items():
        if name == "openai_api_key":
            found.add("OPENAI_API_KEY")
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found |= _settings_variables(field.annotation, f"{prefix}{name.upper()}__")
        else:
            found.add(prefix + name.upper())
    return found


def interpolate(value: Any, given: dict[str, str]) -> Any:
    """The value with its variables filled in as Compose does; raises KeyError with the message of a missing one."""
    if isinstance(value, dict):
        return {key: interpolate(item, given) for key, item in value.items()}
    if isinstance(value, list):
        return [interpolate(item, given) for item in value]
    if not isinstance(value, str):
        return value
    done = ""
    while (match := VARIABLE.search(value)) is not None:
        done += value[: match.start()]
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(value[end], 0)
            end += 1
        rest = value[match.end() : end - 1]
        known = given.get(match["name"], "")
        if match["kind"] == ":?" and not known:
            raise KeyError(f"{match['name']}: {rest}")
        done += known or (interpolate(rest, given) if match["kind"] == ":-" else "")
        value = value[end:]
    return (done + value).replace("$$", "$")


def _required() -> set[str]:
    text = json.dumps(COMPOSE)
    return {match["name"] for match in VARIABLE.finditer(text) if match["kind"] == ":?"}


GIVEN = {name: f"secret{number}" for number, name in enumerate(sorted(_required()))}
FILLED: dict[str, dict[str, Any]] = interpolate(SERVICES, GIVEN)


def _dockerfile(instruction: str) -> list[str]:
    joined = DOCKERFILE.replace("\\\n", " ")
    return [line.split(None, 1)[1].strip() for line in joined.splitlines() if line.startswith(f"{instruction} ")]


def test_the_compose_file_fits_the_compose_specification() -> None:
    vendored = files("check_jsonschema.builtin_schemas.vendor") / "compose-spec.json"
    schema = json.loads(vendored.read_text(encoding="utf-8"))
    validator = validator_for(schema)(schema)
    # Merge keys are resolved by the parser; the x- parts are free by the specification.
    assert [error.message for error in validator.iter_errors(COMPOSE)] == []

    broken = {**COMPOSE, "services": {**SERVICES, "postgres": {**SERVICES["postgres"], "prots": []}}}
    assert list(validator.iter_errors(broken)), "the schema lets everything pass"


def test_the_required_services_are_there() -> None:
    assert set(SERVICES) == AIRFLOW | ONCE | {"postgres", "redis"}
    assert {name for name, service in SERVICES.items() if service.get("profiles") == ["celery"]} == {"redis", "worker"}
    assert SERVICES["sample"]["profiles"] == ["sample"]
    assert all("profiles" not in SERVICES[name] for name in AIRFLOW - {"worker"} | {"postgres", "init"})


def test_every_setting_reaches_the_containers() -> None:
    handed_on = {name for name in SERVICES["api-server"]["environment"] if not name.startswith("AIRFLOW__")}
    # Address and port are those of the published port; inside the container they are fixed.
    outside = {"NIGHTSHIFT_AIRFLOW__HOST", "NIGHTSHIFT_AIRFLOW__PORT"}
    assert handed_on == _settings_variables() - outside
    published = interpolate(SERVICES["api-server"]["ports"], {name: name for name in outside} | GIVEN)
    assert published == ["NIGHTSHIFT_AIRFLOW__HOST:NIGHTSHIFT_AIRFLOW__PORT:8080"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_the_settings_of_a_container_are_valid(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in [key for key in os.environ if key.startswith("NIGHTSHIFT_") or key == "OPENAI_API_KEY"]:
        monkeypatch.delenv(variable)
    for variable, value in FILLED[name]["environment"].items():
        if value is not None:
            monkeypatch.setenv(variable, str(value))

    settings = Settings()

    assert not settings.embedded_store
    assert not settings.embedded_warehouse
    assert not settings.chat_model_configured, "a model that nobody set"
    assert settings.ingestion.sources == [Path("/documents")]
    assert settings.store.dsn is not None
    assert settings.warehouse.dsn is not None
    store = parse_dsn(settings.store.dsn.get_secret_value(), setting="store")
    warehouse = parse_dsn(settings.warehouse.dsn.get_secret_value(), setting="warehouse")
    assert (store.username, store.host, store.database) == ("nightshift", "postgres", "nightshift")
    assert (warehouse.username, warehouse.database) == (READER_ROLE, "warehouse")
    assert libpq_dsn(store).startswith("postgresql://nightshift:secret")


def test_own_databases_replace_those_of_the_file() -> None:
    own = {"NIGHTSHIFT_WAREHOUSE__DSN": "snowflake://me@account/db", "NIGHTSHIFT_STORE__DSN": "postgresql://a@b/c"}
    environment = interpolate(SERVICES["scheduler"]["environment"], GIVEN | own)
    assert {name: environment[name] for name in own} == own


def test_airflow_s_options_exist() -> None:
    options = {name for name in SERVICES["scheduler"]["environment"] if name.startswith("AIRFLOW__")}
    sections: dict[str, Any] = {}
    for package, path in (("airflow", "config_templates/config.yml"), ("airflow.providers.celery", "provider.yaml")):
        if find_spec(package) is not None and (found := files(package) / path).is_file():
            content = yaml.safe_load(found.read_text(encoding="utf-8"))
            sections |= content if package == "airflow" else content.get("config", {})
    unknown = []
    for option in options:
        _, section, key = option.lower().split("__")
        if section == "celery" and "celery" not in sections:
            # The provider is an extra; its three options are named in the project's facts.
            assert key in {"broker_url", "result_backend", "worker_concurrency"}
        elif key not in sections.get(section, {}).get("options", {}):
            # Options of the auth manager are described by the manager, not by the core.
            unknown.append(option)
    assert sorted(unknown) == []


def test_airflow_s_processes_share_what_they_must() -> None:
    shared = ("AIRFLOW__API_AUTH__JWT_SECRET", "AIRFLOW__CORE__FERNET_KEY", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN")
    for name in shared:
        assert len({FILLED[service]["environment"][name] for service in AIRFLOW}) == 1, name
    environment = FILLED["worker"]["environment"]
    password = GIVEN["AIRFLOW_DB_PASSWORD"]
    assert environment["AIRFLOW__CELERY__RESULT_BACKEND"] == (
        f"db+postgresql+psycopg://airflow:{password}@postgres:5432/airflow"
    )
    assert environment["AIRFLOW__CELERY__BROKER_URL"] == f"redis://:{GIVEN['REDIS_PASSWORD']}@redis:6379/0"
    assert FILLED["redis"]["environment"]["REDISCLI_AUTH"] == GIVEN["REDIS_PASSWORD"]
    assert FILLED["redis"]["command"][-1] == GIVEN["REDIS_PASSWORD"]
    assert environment["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"
    celery = interpolate(SERVICES["scheduler"]["environment"], GIVEN | {"AIRFLOW_EXECUTOR": "CeleryExecutor"})
    assert celery["AIRFLOW__CORE__EXECUTOR"] == "CeleryExecutor"


def test_services_named_in_addresses_exist() -> None:
    hosts = set(re.findall(r"(?:@|http://)([a-z-]+):\d+", json.dumps(FILLED)))
    assert hosts == {"postgres", "api-server", "redis"}
    for name, service in SERVICES.items():
        for needed, how in service.get("depends_on", {}).items():
            assert needed in SERVICES, name
            if how["condition"] == "service_healthy":
                assert "test" in SERVICES[needed]["healthcheck"], f"{needed} is never healthy"
            # A service without a profile must start without those of a profile.
            if SERVICES[needed].get("profiles") not in (None, service.get("profiles")):
                assert how["required"] is False


def test_no_secret_has_a_default_and_each_says_what_to_do() -> None:
    with pytest.raises(KeyError, match=r"run python3 docker/make_env\.py"):
        interpolate(SERVICES, {})
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    secret = re.compile(r"PASSWORD|SECRET|_KEY$")
    assert _required() == {match["name"] for match in VARIABLE.finditer(text) if secret.search(match["name"])}
    for line in text.splitlines():
        if re.search(r"(PASSWORD|SECRET|KEY|AUTH): ", line) and "PASSWORDS_FILE" not in line:
            assert ":?" in line, line


def test_make_env_writes_every_required_variable_once(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text("NIGHTSHIFT_LLM__MODEL=mine\nBI_PASSWORD=kept", encoding="utf-8")
    command = [sys.executable, str(ROOT / "docker" / "make_env.py"), str(env)]

    first = subprocess.run(command, capture_output=True, text=True, check=True)
    written = env.read_text(encoding="utf-8")
    second = subprocess.run(command, capture_output=True, text=True, check=True)

    values = dict(line.split("=", 1) for line in written.splitlines())
    assert set(values) == _required() | {"NIGHTSHIFT_LLM__MODEL"}
    assert values["BI_PASSWORD"] == "kept"
    assert values["NIGHTSHIFT_LLM__MODEL"] == "mine"
    assert len(set(values.values())) == len(values)
    assert "BI_PASSWORD" not in first.stdout
    assert "nothing was missing" in second.stdout
    assert env.read_text(encoding="utf-8") == written
    assert env.stat().st_mode & 0o777 == 0o600
    assert not any(value in first.stdout for value in values.values())
    for name in _required() - {"AIRFLOW_FERNET_KEY", "BI_PASSWORD"}:
        assert re.fullmatch(r"[0-9a-f]{40}", values[name]), f"{name} does not fit into a URL"


def test_make_env_s_fernet_key_is_one(tmp_path: Path) -> None:
    from cryptography.fernet import Fernet

    env = tmp_path / ".env"
    subprocess.run([sys.executable, str(ROOT / "docker" / "make_env.py"), str(env)], check=True, capture_output=True)
    key = next(line for line in env.read_text().splitlines() if line.startswith("AIRFLOW_FERNET_KEY=")).split("=", 1)[1]
    assert Fernet(key).decrypt(Fernet(key).encrypt(b"x")) == b"x"


def test_the_example_of_settings_is_complete() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = re.findall(r"^# ?([A-Z][A-Z0-9_]+)=", text, flags=re.MULTILINE)
    compose = {match["name"] for match in VARIABLE.finditer((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))}
    assert len(named) == len(set(named))
    assert set(named) == _settings_variables() | compose
    assert not re.search(r"^[^#\n]", text, flags=re.MULTILINE), "an example that sets something"


def test_ports_are_bound_to_loopback() -> None:
    published = {name: service["ports"] for name, service in FILLED.items() if "ports" in service}
    assert set(published) == {"postgres", "api-server"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_images_are_pinned() -> None:
    for name, service in SERVICES.items():
        tag = service["image"].rpartition(":")[2]
        assert re.search(r"\d+\.\d+", tag), f"{name}: {service['image']}"
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert {SERVICES[name]["image"] for name in OURS} == {f"nightshift:{version}"}


def test_every_service_that_stays_has_a_health_check() -> None:
    for name, service in SERVICES.items():
        if name in ONCE:
            assert service["restart"] == "no"
            assert service["healthcheck"] == {"disable": True}
        else:
            assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name
            assert service["restart"] == "unless-stopped", name
    for name in AIRFLOW - {"worker"}:
        assert SERVICES[name]["healthcheck"]["test"] == ["CMD", "python", "docker/healthcheck.py", name]
    assert len(_dockerfile("HEALTHCHECK")) == 1


def _console_scripts() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # `celery` and `airflow celery` come with the extra of the same name.
    assert "celery" in project["optional-dependencies"]
    return {*project["scripts"], "airflow", "celery", "python", "bash", "pip", "uv", "docling-tools"}


def _airflow_commands() -> set[str]:
    if find_spec("airflow.cli.cli_config") is None:  # pragma: no cover - airflow is a requirement
        raise AssertionError("airflow is not installed")
    source = Path(str(find_spec("airflow.cli.cli_config").origin)).read_text(encoding="utf-8")  # type: ignore[union-attr]
    return set(re.findall(r"name=\"([a-z-]+)\"", source)) | {"celery"}


def test_commands_exist() -> None:
    commands = [service["command"] for name, service in SERVICES.items() if name in OURS]
    commands += [json.loads(text) for text in _dockerfile("CMD")]
    for command in commands:
        assert command[0] in _console_scripts(), command
        if command[0] in {"python", "bash"}:
            assert (ROOT / command[1]).is_file(), command
        if command[0] == "airflow":
            assert command[1] in _airflow_commands(), command
    for script in (ROOT / "docker").glob("*.sh"):
        text = script.read_text(encoding="utf-8")
        assert text.startswith("#!/usr/bin/env bash\n")
        assert "set -euo pipefail" in text
        subprocess.run(["bash", "-n", str(script)], check=True)
        for name in re.findall(r"docker/[a-z_]+\.py", text):
            assert (ROOT / name).is_file(), name
        for command in re.findall(r"^(?:exec )?airflow ([a-z-]+)", text, flags=re.MULTILINE):
            assert command in _airflow_commands()


def test_nightshift_has_the_command_of_the_init_service() -> None:
    source = (ROOT / "rag_core" / "cli" / "service.py").read_text(encoding="utf-8")
    assert "nightshift up" in (ROOT / "docker" / "init.sh").read_text(encoding="utf-8")
    assert re.search(r"@app\.command\(\)\n\s+def up\(", source)


def test_mounted_and_named_paths_exist() -> None:
    volumes = set(COMPOSE["volumes"])
    used = set()
    for name, service in FILLED.items():
        for mount in service.get("volumes", []):
            source, target = mount.split(":")[:2]
            if source.startswith("."):
                assert (ROOT / source).exists(), f"{name}: {source}"
            else:
                used.add(source)
            inside = PurePosixPath(target)
            if inside.is_relative_to(IMAGE_ROOT):
                assert (ROOT / inside.relative_to(IMAGE_ROOT)).exists(), target
    assert used == volumes
    folders = ("AIRFLOW__CORE__DAGS_FOLDER", "AIRFLOW__CORE__PLUGINS_FOLDER")
    for variable in folders:
        inside = PurePosixPath(FILLED["scheduler"]["environment"][variable])
        assert (ROOT / inside.relative_to(IMAGE_ROOT)).is_dir(), variable
    made = _dockerfile("RUN")[-1]
    home = FILLED["scheduler"]["environment"]["NIGHTSHIFT_HOME"]
    assert f"NIGHTSHIFT_HOME={home}" in DOCKERFILE
    # A volume takes the owner of the folder that the image has in its place.
    for target in (f"{home}/reports", f"{home}/airflow/logs", "/documents"):
        assert target in made, target


def _kept_by_dockerignore() -> set[str]:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "*"
    return {line[1:] for line in lines if line.startswith("!")}


def test_what_the_image_copies_is_in_the_repository_and_in_the_context() -> None:
    copied: set[str] = set()
    for line in _dockerfile("COPY"):
        words = line.split()
        if words[0].startswith("--from="):
            assert words[0].removeprefix("--from=") in {text.split()[-1] for text in _dockerfile("FROM")}
            continue
        copied |= set(words[:-1])
    for source in copied:
        assert (ROOT / source).exists(), source
    assert copied == _kept_by_dockerignore()
    # Everything that the installed project is made of: the packages, and the folders found beside them.
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    parts = {path.split("/")[0] for path in wheel["wheel"]["packages"]} | set(wheel["wheel"]["force-include"])
    assert parts | {"dags", "sample", "docker"} <= copied


def test_the_image_is_built_in_stages_and_does_not_run_as_root() -> None:
    stages = _dockerfile("FROM")
    assert len(stages) == 2
    last = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    users = re.findall(r"^USER (\S+)", last, flags=re.MULTILINE)
    assert users == ["nightshift"]
    assert "useradd --uid 10001" in last
    assert last.index("USER nightshift") < last.index("\nCMD ")
    assert not any("user" in service for service in SERVICES.values())
    for name in OURS:
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        assert not SERVICES[name].get("privileged")


def test_build_arguments_are_declared_and_empty_by_default() -> None:
    declared = dict(text.partition("=")[::2] for text in _dockerfile("ARG"))
    assert set(SERVICES["scheduler"]["build"]["args"]) <= set(declared)
    assert declared["TORCH_INDEX_URL"] == '""'
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert declared["EXTRAS"].strip('"') in extras
    assert "layout" in extras
    assert re.search(r"\*,layout,\*\) docling-tools models download", DOCKERFILE)
    assert not re.search(r"https?://", DOCKERFILE), "a registry's host is the operator's to name"


def test_the_image_s_python_is_one_that_the_project_allows() -> None:
    default = dict(text.partition("=")[::2] for text in _dockerfile("ARG"))["PYTHON_VERSION"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert default in SpecifierSet(project["requires-python"])
    assert all(text.startswith("python:${PYTHON_VERSION}-slim-") for text in _dockerfile("FROM"))


def test_the_roles_are_those_of_the_code() -> None:
    script = (ROOT / "docker" / "create_databases.sh").read_text(encoding="utf-8")
    for role in (READER_ROLE, BI_ROLE):
        assert f"CREATE ROLE {role} LOGIN PASSWORD" in script
    used = set(re.findall(r"\$([A-Z_]+)", script)) - {"POSTGRES_USER"}
    assert used < set(SERVICES["postgres"]["environment"])
    for template, role in (("create_reader_role", READER_ROLE), ("create_bi_role", BI_ROLE)):
        code = (ROOT / "sql" / "scripts" / f"{template}.sql").read_text(encoding="utf-8")
        for line in re.findall(r"^ALTER ROLE .*;$", code.replace("{role}", role), flags=re.MULTILINE):
            assert line in script, line
