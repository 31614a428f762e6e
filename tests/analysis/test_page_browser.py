"""The page in a real browser: no request, no error on the console, tables sort and filter."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.analysis.conftest import make_grid, write_all, write_answers
from workflow.analysis import collect
from workflow.analysis.figures.__main__ import main as draw
from workflow.analysis.page.__main__ import main
from workflow.analysis.tables import ablation

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
ALONE = ("--disable-background-networking", "--disable-component-update", "--no-first-run")
PROBE = """
addEventListener("load", () => {
  const field = document.querySelector(".tools input");
  const table = field.parentElement.nextElementSibling.querySelector("table");
  const first = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim());
  const made = first();
  const orders = [0, 1, 2].map(() => (table.tHead.querySelector("button").click(), first()));
  field.value = "shuffled";
  field.dispatchEvent(new Event("input"));
  const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  document.body.dataset.seen = JSON.stringify({
    made, orders,
    shown: shown.map((row) => row.cells[0].textContent.trim()),
    status: field.nextElementSibling.textContent,
    resources: performance.getEntriesByType("resource").map((entry) => entry.name),
    page: document.documentElement.scrollWidth, window: innerWidth,
    drawn: [...document.querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect().height),
  });
});
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """A page with one figure and one table, and a script that uses them."""
    results = tmp_path_factory.mktemp("browser") / "run"
    grid = make_grid(
        "rte", layers={"transformer": ["none", 12], "lstm": ["none", 1]}, shuffled=True
    )
    write_all(results, grid)
    write_answers(results, grid)
    collect.build(results, grid).write(results / "cells.csv")
    ablation.build(results, grid).write(results / "ablation.csv")
    (results / "figures").mkdir()
    shown = ["--tables", str(results / "ablation.csv"), "--grid", grid.to_json()]
    draw(["ablation", *shown, "--out", str(results / "figures" / "ablation.png")])
    shown = ["--tables", "ablation", "--figures", "ablation", "--grid", grid.to_json()]
    out = results / "index.html"
    main(["--results", str(results), *shown, "--out", str(out)])
    text = out.read_text(encoding="utf-8")
    out.write_text(text.replace("</body>", f"<script>{PROBE}</script></body>"), encoding="utf-8")
    return out


@pytest.mark.skipif(not BROWSER, reason="no Chromium here; install it to look at the page in it")
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser_the_page_is_quiet_fits_and_its_tables_work(page, width, tmp_path):
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", *ALONE]
    command += [f"--user-data-dir={tmp_path}", f"--window-size={width},900"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom"]
    done = subprocess.run(
        [*command, page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    assert "CONSOLE" not in done.stderr
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    seen = json.loads(unescape(found[1]))
    assert seen["resources"] == [] and seen["drawn"] and min(seen["drawn"]) > 100
    assert seen["page"] <= seen["window"]
    up, down, again = seen["orders"]
    assert up == sorted(up, key=str.casefold) != seen["made"]
    assert again == seen["made"] and sorted(down) == sorted(up) and down != up
    assert seen["shown"] and all("shuffled" in line for line in seen["shown"])
    assert seen["status"] == f"{len(seen['shown'])} of {len(seen['made'])} lines"
