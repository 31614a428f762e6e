# docker build -t gpt1-suite .
# docker run --rm -v "$PWD/results:/suite/results" gpt1-suite --cores 4 all
FROM python:3.11-slim

ENV PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1

WORKDIR /suite

# The environment first: it changes more rarely than the code.
COPY requirements.lock requirements-torch.lock ./
RUN pip --disable-pip-version-check install --require-hashes -r requirements.lock && \
    pip --disable-pip-version-check install -r requirements-torch.lock

COPY . .

ENTRYPOINT ["snakemake"]
CMD ["--cores", "all", "all"]
