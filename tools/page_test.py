# Report pages in a headless browser: no console error, charts with their marks, search, sorting.
# SPDX-License-Identifier: Apache-2.0
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = shutil.which("chromium")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (./ci setup)")

COMMANDS = {
    "model": "predict llama-3.1-8b --machine h200 --batch 32 --context 1024",
    "operator": "explain gemm m=100 n=4100 k=4096 --machine h200",
    "comparison": "compare llama-3.1-8b --machines h100,h200 --batch 32",
    "sweep": "compare llama-3.1-8b --machines h100,h200 --batch 1..64x2 --context 512,4096",
}
WIDTHS = {"laptop": 1280, "phone": 390}


def write_page(name: str, folder: Path) -> Path:
    path = folder / f"{name}.html"
    subprocess.run(
        [ROOT / "orrery", *COMMANDS[name].split(), "--html", path],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        timeout=120,
        check=True,
    )
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {name: write_page(name, folder) for name in COMMANDS}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


class Opened:
    """A page, and what its console and the network saw."""

    def __init__(self, browser: Browser, path: Path, width: int = 1280, scheme: str = "light"):
        self.complaints: list[str] = []
        self.requests: list[str] = []
        context = browser.new_context(viewport={"width": width, "height": 900})
        self.page: Page = context.new_page()
        self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())


def inked(page: Page) -> list[int]:
    """Of each canvas: how many of its pixels are painted."""
    script = """() => [...document.querySelectorAll("canvas")].map((canvas) => {
        const {width, height} = canvas;
        const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
        let painted = 0;
        for (let i = 3; i < pixels.length; i += 4) painted += pixels[i] > 0;
        return painted;
    })"""
    counts: list[int] = page.evaluate(script)
    return counts


def marks(page: Page) -> list[int]:
    """Of each chart: how many of its points lie inside the drawing."""
    script = """() => [...document.querySelectorAll("canvas")].map((canvas) => {
        const chart = Chart.getChart(canvas);
        const {left, right, top, bottom} = chart.chartArea;
        return chart.data.datasets.flatMap((set, i) => chart.getDatasetMeta(i).data).filter(
            ({x, y}) => x >= left - 1 && x <= right + 1 && y >= top - 1 && y <= bottom + 1).length;
    })"""
    counts: list[int] = page.evaluate(script)
    return counts


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", list(WIDTHS.values()))
@pytest.mark.parametrize("name", list(COMMANDS))
def test_page_draws_its_charts_without_complaint_or_network(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    opened = Opened(browser, pages[name], width, scheme)
    assert opened.complaints == []
    assert opened.requests == [pages[name].as_uri()]
    assert len(inked(opened.page)) >= 2
    assert min(inked(opened.page)) > 500
    assert min(marks(opened.page)) >= 1
    overflow = opened.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0


def test_charts_have_a_mark_for_every_datum(browser: Browser, pages: dict[str, Path]) -> None:
    page = Opened(browser, pages["sweep"]).page
    # Time and tokens per second: two machines and two contexts, seven batches each.
    assert marks(page) == [28, 28]


def test_search_leaves_the_rows_that_match(browser: Browser, pages: dict[str, Path]) -> None:
    page = Opened(browser, pages["model"]).page
    section = page.get_by_role("region", name="Kernels", exact=True)
    rows = section.locator("tbody tr")
    everything = rows.count()
    section.get_by_role("searchbox").fill("gemm qkv")
    assert 0 < rows.count() < everything
    assert all("qkv" in text for text in rows.all_inner_texts())
    section.get_by_role("searchbox").fill("no such kernel")
    assert rows.count() == 0
    assert section.get_by_role("status").inner_text() == f"0 of {everything} rows"


def test_a_heading_sorts_by_keyboard(browser: Browser, pages: dict[str, Path]) -> None:
    page = Opened(browser, pages["sweep"]).page
    section = page.get_by_role("region", name="Points", exact=True)
    section.get_by_role("button", name="time", exact=True).focus()
    page.keyboard.press("Enter")
    head = section.locator("th[aria-sort=descending]")
    assert head.inner_text().startswith("time")
    page.keyboard.press("Enter")
    assert section.locator("th[aria-sort=ascending]").count() == 1


def test_every_chart_says_in_words_what_it_shows(browser: Browser, pages: dict[str, Path]) -> None:
    page = Opened(browser, pages["comparison"]).page
    labels = page.locator("canvas").evaluate_all("all => all.map((x) => x.ariaLabel)")
    assert all(len(label) > 20 for label in labels)


def test_a_name_cannot_end_the_script(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "<b onclick=x>"
    folder.mkdir()
    name = "llama</script><img src=x onerror=alert(1)>"
    model = folder / "a.json"
    config = (ROOT / "models/llama-3.2-1b.json").read_text(encoding="utf-8")
    model.write_text(config, encoding="utf-8")
    odd = folder / f"{name.replace('/', '')}.json"
    odd.write_text(config, encoding="utf-8")
    out = tmp_path / "odd.html"
    subprocess.run(
        [ROOT / "orrery", "predict", odd, "--machine", "h200", "--html", out],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert "<img" not in out.read_text(encoding="utf-8")
    opened = Opened(browser, out)
    assert opened.complaints == []
    assert opened.page.locator("h1").inner_text().startswith("llama<script>")


def test_a_failed_command_leaves_no_page(tmp_path: Path) -> None:
    out = tmp_path / "none.html"
    done = subprocess.run(
        [ROOT / "orrery", "predict", "gemm", "m=0", "--machine", "h200", "--html", out],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert re.match(r"orrery: \[", done.stderr)
    assert not list(tmp_path.iterdir())
