# Two stages: the first installs what the lock file names, the second carries it.
FROM python:3.12-slim AS build

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
COPY requirements.lock /src/
RUN pip install --require-hashes -r /src/requirements.lock
WORKDIR /app
COPY pyproject.toml README.md LICENSE manage.py ./
COPY loomverify loomverify
COPY processes processes
COPY verification verification
# Editable, so that templates and static files are found beside the code.
RUN pip install --no-deps --no-build-isolation -e .
COPY templates templates
COPY static static
RUN python -m compileall -q /app

FROM python:3.12-slim

# Repositories: git for all, ssh for addresses of ssh and for signatures.
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 loomverify \
    && useradd --uid 10001 --gid loomverify --home-dir /data --shell /usr/sbin/nologin loomverify \
    && install -d -o loomverify -g loomverify -m 0750 /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    LOOMVERIFY_ENV=production \
    LOOMVERIFY_DATA=/data
WORKDIR /app
USER loomverify
VOLUME /data
EXPOSE 8000
CMD ["loomverify", "web"]
