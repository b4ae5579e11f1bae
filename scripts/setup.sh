#!/usr/bin/env bash
# Creates .venv and installs the pinned requirements. Does nothing where that is already done.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

stamp=.venv/.installed
wanted=$(cat pyproject.toml requirements.lock scripts/setup.sh | sha256sum | cut -d' ' -f1)
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
  exit 0
fi

python=$(find_python) || fail "Python 3.11, 3.12 or 3.13 is needed and not found: install one, or set PYTHON=/path/to/python"
free_kb=$(df -Pk . | awk 'NR==2 {print $4}')
[ "$free_kb" -gt 4000000 ] || fail "4 GB of free disk are needed here, $((free_kb / 1024)) MB are free"

if ! [ -x .venv/bin/python ]; then
  say "creating .venv with $("$python" --version)"
  "$python" -m venv .venv || fail "python cannot create an environment: install the venv module (Debian: python3-venv)"
fi

# Only pip looks where a machine keeps PyTorch's CPU build; uv then installs the rest in a fraction of pip's time.
say "installing PyTorch (CPU)"
.venv/bin/python -m pip install -q --disable-pip-version-check uv -c requirements.lock
.venv/bin/python -m pip install -q --disable-pip-version-check ${TORCH_INDEX_URL:+--index-url "$TORCH_INDEX_URL"} \
  "$(grep -E '^torch==' requirements.lock)"
say "installing the other requirements"
.venv/bin/uv pip install -q --python .venv/bin/python -c requirements.lock -e '.[dev]'
.venv/bin/uv pip check -q --python .venv/bin/python || fail "the installed packages do not fit together"
# Else each process compiles what it imports: every one of them where PYTHONDONTWRITEBYTECODE is set, and all of Airflow's
# side by side when it first starts.
say "compiling the installed modules"
.venv/bin/python -m compileall -q -j 0 -x '/(tests|torch)/' .venv/lib rag_core ingestion plugins sample ||
  say "what cannot be compiled is left as it is"
echo "$wanted" > "$stamp"
say "done"
