# docker build -t gpt1-suite .
# docker run --rm --user "$(id -u)" -v "$PWD:/here" gpt1-suite --cores 4 all
FROM python:3.11-slim-bookworm@sha256:0bee7276f83efd4a1ee05bbbf4281d95ed28e079220a9457f25a93e3f1e3c31b

ENV PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1

WORKDIR /suite

# The environment first: it changes more rarely than the code.
COPY requirements.lock requirements-torch.lock ./
RUN pip --disable-pip-version-check install --require-hashes -r requirements.lock && \
    pip --disable-pip-version-check install -r requirements-torch.lock

COPY . .

# Any user may run it. Snakemake keeps its records in /here, beside results/, libraries their caches in
# HOME.
RUN mkdir /here && chmod 1777 /here
ENV HOME=/tmp USER=suite
USER 1000

ENTRYPOINT ["snakemake", "--directory", "/here"]
CMD ["--cores", "all", "all"]
