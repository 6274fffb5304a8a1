# syntax=docker/dockerfile:1
FROM python:3.11-slim-bookworm AS build
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# The image's user may not write bytecode: without it every start compiles all that it imports.
ENV UV_NO_CACHE=1 \
    UV_COMPILE_BYTECODE=1 \
    NUMBA_CACHE_DIR=/opt/pith/kernels
WORKDIR /src
RUN python -m venv /opt/pith && /opt/pith/bin/pip install --no-cache-dir uv==0.13.7
COPY requirements/runtime.txt requirements/traces.txt requirements/dask.txt requirements/
RUN /opt/pith/bin/uv pip install --python /opt/pith/bin/python --require-hashes \
    -r requirements/runtime.txt -r requirements/traces.txt -r requirements/dask.txt
COPY . .
RUN /opt/pith/bin/uv pip install --python /opt/pith/bin/python --no-deps .
# Compiled kernels are found by the path and the time of their installed source: -P leaves out the
# copy in this directory, and layers keep whole seconds only. They are also bound to the type of
# CPU: on another one the worker compiles them again when it starts, before it takes a job. They lie
# where no volume is: the worker copies them to PITH_KERNEL_DIR, which outlives this image.
RUN mkdir -p /var/lib/pith /var/cache/pith && \
    find /opt/pith/lib -path '*/site-packages/core/*.py' -exec bash -c 'touch -d "@$(stat -c %Y "$0")" "$0"' {} \; && \
    /opt/pith/bin/python -P -c "from core.warm import warm_kernels; warm_kernels()"

FROM python:3.11-slim-bookworm
COPY --from=build /opt/pith /opt/pith
COPY --from=build --chown=10001:10001 /opt/pith/kernels /opt/pith/kernels
COPY --from=build --chown=10001:10001 /var/lib/pith /var/lib/pith
COPY --from=build --chown=10001:10001 /var/cache/pith /var/cache/pith
ENV PATH=/opt/pith/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    NUMBA_CACHE_DIR=/opt/pith/kernels \
    PITH_KERNEL_DIR=/var/cache/pith \
    PITH_DATA_DIR=/var/lib/pith \
    PITH_HOST=0.0.0.0
USER 10001:10001
WORKDIR /var/lib/pith
EXPOSE 8000
ENTRYPOINT ["pith"]
CMD ["serve"]
