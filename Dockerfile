# Airflow with Nightshift: one image for every service of docker-compose.yml.
#
#   docker build -t nightshift .
#   docker build -t nightshift --build-arg TORCH_INDEX_URL=... --build-arg EXTRAS=celery,layout .
#
# TORCH_INDEX_URL  PyTorch's CPU wheel index; empty takes what pip is configured with (on Linux the much larger CUDA build)
# EXTRAS           extras of pyproject.toml, joined by commas; with `layout` Docling's models are downloaded here

ARG PYTHON_VERSION=3.12

FROM python:${PYTHON_VERSION}-slim-bookworm AS build
ARG TORCH_INDEX_URL=""
ARG EXTRAS="celery"
# Nobody may write into the image's environment: what is not compiled here is compiled by each process again.
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1 UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1 \
    PYTHONDONTWRITEBYTECODE=1
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH VIRTUAL_ENV=/opt/venv
WORKDIR /opt/nightshift

# The requirements change seldom: they are a layer of their own, below the code.
COPY pyproject.toml requirements.lock ./
# Docling's models need an older hub client than the lock has, and torchvision from where torch comes from.
RUN case ",${EXTRAS}," in \
      *,layout,*) grep -vE '^(huggingface-hub|typer)==' requirements.lock > /tmp/constraints.txt; vision=torchvision ;; \
      *) cp requirements.lock /tmp/constraints.txt; vision= ;; \
    esac; \
    pip install -q uv -c requirements.lock; \
    pip install -q ${TORCH_INDEX_URL:+--index-url "$TORCH_INDEX_URL"} "$(grep -E '^torch==' requirements.lock)" ${vision}; \
    chosen=(); for extra in ${EXTRAS//,/ }; do chosen+=(--extra "$extra"); done; \
    uv pip install -q -r pyproject.toml "${chosen[@]}" -c /tmp/constraints.txt

RUN mkdir -p models; \
    case ",${EXTRAS}," in *,layout,*) docling-tools models download -o models ;; esac

COPY README.md LICENSE ./
COPY config config
COPY dags dags
COPY docker docker
COPY ingestion ingestion
COPY plugins plugins
COPY rag_core rag_core
COPY sample sample
COPY sql sql
RUN uv pip install -q --no-deps -e .; uv pip check -q; \
    uv pip install -q --target /tmp/writers reportlab python-docx python-pptx openpyxl -c requirements.lock; \
    PYTHONPATH=/tmp/writers python -m sample.build_documents sample-documents; \
    python -m compileall -q rag_core ingestion plugins dags

FROM python:${PYTHON_VERSION}-slim-bookworm AS run
RUN groupadd --gid 10001 nightshift \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/nightshift --shell /usr/sbin/nologin nightshift \
    && install -d -o nightshift -g nightshift /var/lib/nightshift /var/lib/nightshift/reports \
       /var/lib/nightshift/airflow /var/lib/nightshift/airflow/logs /documents
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/nightshift /opt/nightshift
ENV PATH=/opt/venv/bin:$PATH VIRTUAL_ENV=/opt/venv PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    NIGHTSHIFT_HOME=/var/lib/nightshift \
    AIRFLOW_HOME=/var/lib/nightshift/airflow \
    DOCLING_ARTIFACTS_PATH=/opt/nightshift/models \
    HF_HUB_DISABLE_TELEMETRY=1 TOKENIZERS_PARALLELISM=false OMP_NUM_THREADS=2
WORKDIR /opt/nightshift
USER nightshift
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s --retries=5 \
  CMD ["python", "docker/healthcheck.py", "api-server"]
CMD ["bash", "docker/api_server.sh"]
