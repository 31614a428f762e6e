"""The page in a real browser: no request, no error on the console, tables sort and filter."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.analysis.conftest import make_grid, write_all, write_answers, write_tables
from workflow.analysis import report
from workflow.analysis.report import make
from workflow.grid import PagePlan, StudyHead

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
TABLES = ("ablation", "layer_transfer", "zero_shot", "main", "claims", "positive_control")
FIGURES = ("ablation", "differences", "layer_transfer")
ALONE = ("--disable-background-networking", "--disable-component-update", "--no-first-run")
PROBE = """
const VERDICTS = "#table-positive_control td.good, #table-positive_control td.bad";
addEventListener("load", () => {
  const field = document.querySelector("#table-claims .tools input");
  const table = field.parentElement.nextElementSibling.querySelector("table");
  const first = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim());
  const made = first();
  const orders = [0, 1, 2].map(() => (table.tHead.querySelector("button").click(), first()));
  field.value = "shuffled";
  field.dispatchEvent(new Event("input"));
  const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const box = (node) => node.getBoundingClientRect();
  const narrow = [...document.querySelectorAll("article .box > table")].filter(
    (table) => table.offsetWidth > table.parentElement.clientWidth,
  );
  parent.postMessage(JSON.stringify({
    made, orders,
    heights: [...document.querySelectorAll("tbody tr")].map((row) => box(row).height),
    verdicts: [...document.querySelectorAll(VERDICTS)].map((tone) => box(tone).right),
    wide: narrow.map((table) => table.closest("article").id),
    shown: shown.map((row) => row.cells[0].textContent.trim()),
    status: field.nextElementSibling.textContent,
    resources: performance.getEntriesByType("resource").map((entry) => entry.name),
    page: document.documentElement.scrollWidth, window: innerWidth,
    drawn: [...document.querySelectorAll("img")].map((image) => box(image).height),
  }), "*");
});
"""
# A window is at least 500 pixels wide, a frame in it as wide as it is told.
FRAME = """<!doctype html><iframe src="{page}" width="{width}" height="900"></iframe>
<script>addEventListener("message", (told) => document.body.dataset.seen = told.data)</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """A page of figures, tables, verdicts and a study, and a script that uses them."""
    results = tmp_path_factory.mktemp("browser") / "run"
    layers = {"transformer": ["none", 0, 6, 12], "lstm": ["none", 1]}
    grid = make_grid(
        "rte", "sst2", "mnli", layers=layers, controls=("shuffled",), scale="the synthetic world"
    )
    write_all(results, grid)
    write_answers(results, grid)
    write_tables(results, grid, TABLES)
    (results / "figures").mkdir()
    for name in FIGURES:
        make(f"figures/{name}.png", results, grid)
    (results / "studies").mkdir()
    report.build("ablation", results, grid).write(results / "studies" / "made.csv")
    heads = [StudyHead(name=n, heading=n, question="What is it?") for n in ("made", "later")]
    shown = PagePlan(tables=["cells", *TABLES], figures=list(FIGURES), studies=heads)
    make("index.html", results, grid, page=shown)
    out = results / "index.html"
    text = out.read_text(encoding="utf-8")
    out.write_text(text.replace("</body>", f"<script>{PROBE}</script></body>"), encoding="utf-8")
    return out


@pytest.mark.skipif(not BROWSER, reason="no Chromium here; install it to look at the page in it")
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser_the_page_is_quiet_fits_and_its_tables_work(page, width, tmp_path):
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", *ALONE]
    command += [f"--user-data-dir={tmp_path}", "--window-size=1400,900"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom"]
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(page=page.as_uri(), width=width), encoding="utf-8")
    done = subprocess.run(
        [*command, frame.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    assert "CONSOLE" not in done.stderr
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    seen = json.loads(unescape(found[1]))
    assert all(name.startswith("data:") for name in seen["resources"])
    assert seen["drawn"] and min(seen["drawn"]) > 100
    assert seen["page"] <= seen["window"] == width
    assert all(height == round(height) for height in seen["heights"])  # else lines are lost
    assert seen["verdicts"] and max(seen["verdicts"]) <= width
    assert width == 400 or "table-claims" not in seen["wide"]
    up, down, again = seen["orders"]
    assert up == sorted(up, key=str.casefold) != seen["made"]
    assert again == seen["made"] and sorted(down) == sorted(up) and down != up
    assert seen["shown"] and all("shuffled" in line for line in seen["shown"])
    assert seen["status"] == f"{len(seen['shown'])} of {len(seen['made'])} lines"
