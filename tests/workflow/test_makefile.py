"""Targets of the Makefile, run with the Python of the tests and without installing anything."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.workflow.configs import ROOT
from tests.workflow.test_pins import lock

HARMLESS, VULNERABLE = {}, {"vulns": [{"id": "TEST-1", "affected": [], "summary": "invented"}]}


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """Run make without installing anything."""
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = rules.replace(".venv/bin/pip-audit", f"{sys.executable} -m pip_audit")
    env = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "-f", "-", "--old-file=install", *words]
    return subprocess.run(command, input=rules, cwd=ROOT, env=env, text=True, capture_output=True)


@pytest.mark.parametrize("cores", ["0", "-1", "1.5", "two", ""])
def test_a_number_of_cores_that_is_none_is_one_line(cores):
    done = make(f"CORES={cores}", "all")
    assert done.returncode and done.stdout == "" and done.stderr.count("\n") == 1
    assert f"CORES={cores}: give a whole number of at least 1, or all" in done.stderr


@pytest.mark.parametrize("cores", ["1", "16", "all"])
def test_other_numbers_of_cores_are_passed_on(cores):
    done = make("--dry-run", f"CORES={cores}", "smoke")
    assert f"snakemake --cores {cores} " in done.stdout, done.stderr


class Index(HTTPServer):
    """A stand-in for the database of vulnerabilities, and the packages that it is asked about."""

    vulnerable = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: dict[str, str] = {}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked["package"]["name"]
        self.server.asked[name] = asked["version"]
        body = json.dumps(VULNERABLE if name == self.server.vulnerable else HARMLESS).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def index() -> Iterator[Index]:
    with Index() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize("vulnerable", ["", "torch"])
def test_every_package_of_every_lock_is_audited(vulnerable, index, tmp_path):
    index.vulnerable = vulnerable
    url = f"http://127.0.0.1:{index.server_port}"
    done = make(
        "audit", f"AUDIT=--vulnerability-service osv --osv-url {url} --cache-dir {tmp_path}"
    )
    assert bool(done.returncode) == bool(vulnerable), done.stdout + done.stderr
    if vulnerable:
        assert "TEST-1" in done.stdout
    else:
        assert index.asked == lock()
