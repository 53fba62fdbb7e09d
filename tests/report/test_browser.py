"""Reports in a real browser: what is drawn, read out, downloaded and printed, and what is not
fetched."""

import base64
import csv
import json
import math
import os
import pathlib
import shutil
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden"))
CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
HOSTILE = "<script>alert(1)</script>"
# A name of a file cannot hold the slash.
HOSTILE_FILE = "<script>alert(1)<&\"'>"

if not (os.path.exists(CHROMIUM) and os.path.exists(DRIVER)) and os.environ.get("CI") != "true":
    pytest.skip("chromium is not installed: tools/setup.sh", allow_module_level=True)
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.common.exceptions import NoAlertPresentException  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402


class Browser:
    """One browser for all tests; `open` brings it back to a wide light screen."""

    def __init__(self, folder):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        flags = "headless no-sandbox disable-gpu disable-quic no-first-run"
        flags += " disable-background-networking disable-component-update disable-sync"
        for flag in flags.split():
            options.add_argument("--" + flag)
        options.add_argument(f"--user-data-dir={folder / 'profile'}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.downloads = folder / "downloads"
        self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def send(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def open(self, page, width=1200, scheme="light"):
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self.scheme(scheme)
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(page.as_uri())
        return self

    def scheme(self, scheme):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[feature])

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def charts(self):
        """The numbers of every chart, as the page holds them."""
        texts = self.run(
            """return [...document.querySelectorAll('script[type="application/json"]')]
                     .map(script => script.textContent)"""
        )
        return {data["id"]: data for data in map(json.loads, texts)}

    def pixels(self, chart, color):
        """How many pixels of a chart are of a colour of the style sheet, about."""
        return self.run(
            """const [id, name] = arguments;
            const probe = document.createElement('canvas').getContext('2d');
            probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
            probe.fillRect(0, 0, 1, 1);
            const wanted = probe.getImageData(0, 0, 1, 1).data;
            const canvas = codenCharts[id].uplot.ctx.canvas;
            // A copy: a canvas that is read often draws more slowly, and the console says so.
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext(
                '2d', {willReadFrequently: true});
            copy.drawImage(canvas, 0, 0);
            const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {
              const near = [0, 1, 2].every(k => Math.abs(data[i + k] - wanted[k]) < 24);
              if (near && data[i + 3] > 200) ++count;
            }
            return count;""",
            chart,
            color,
        )

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.driver.quit()


@pytest.fixture
def browser(started):
    """Whatever a test does, nothing may end up in the console."""
    yield started
    assert started.complaints() == []


def call(*arguments, cwd=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs, the second without the model's memory; every text in them is hostile."""
    folder = tmp_path_factory.mktemp(HOSTILE_FILE)
    random = np.random.default_rng(3)
    names = [f"{HOSTILE} {i}" for i in range(60)]
    ends = random.integers(0, 60, (2, 900))
    tables = {
        "edges": pa.table(
            {
                "src": [names[i] for i in ends[0]],
                "dst": [names[i] for i in ends[1]],
                "time": np.arange(900) // 3,
            }
        ),
        "features": pa.table(
            {"node": names, "x": pa.array(list(random.normal(size=(60, 6)).astype("float32")))}
        ),
        "labels": pa.table({"node": names, "label": [f"{HOSTILE}{i % 3}" for i in range(60)]}),
    }
    flags = ["--partition.predictions", "6", "--train.epochs", "5", "--train.hidden", "8"]
    flags += ["--train.runs", "2", "--train.batch", "32", "--quiet"]
    for name, table in tables.items():
        path = folder / f"{HOSTILE_FILE} {name}.parquet"
        pq.write_table(table, path)
        flags += [f"--input.{name}", path]
    made = []
    for name, model in [("first", "coden"), (HOSTILE_FILE, "coden-s")]:
        made.append(folder / name)
        call("run", *flags, "--train.model", model, "--run.directory", made[-1])
    return made


@pytest.fixture(scope="module")
def report(runs):
    return runs[0] / "report.html"


@pytest.fixture(scope="module")
def comparison(runs):
    page = runs[0].parent / "compare.html"
    call("report", "--compare", *runs, "--out", page, "--quiet")
    return page


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    program = PROGRAM.resolve().parent / "tests" / "page_probe"
    if not program.exists():
        pytest.skip("page_probe is not built")
    page = tmp_path_factory.mktemp("probe") / "page.html"
    subprocess.run([program, page], check=True)
    return page


def rows_of(data):
    """Column name -> values by row; None where there is none. As CSV and table have them."""
    columns = {data["xAxis"]["name"]: data["x"]}
    categories = data["xAxis"].get("categories")
    if categories:
        columns[data["xAxis"]["name"]] = [categories[x] for x in data["x"]]
    for series in data["series"]:
        at = series.get("at", range(len(data["x"])))
        for part in ("y", "low", "high"):
            if part in series:
                values = dict(zip(at, series[part], strict=True))
                name = series["name"] + ("" if part == "y" else " " + part)
                columns[name] = [values.get(row) for row in range(len(data["x"]))]
    return columns


def check_cells(header, lines, data):
    """Text cells hold exactly the numbers of the chart."""
    columns = rows_of(data)
    assert header == list(columns)
    for row, line in enumerate(lines):
        for text, values in zip(line, columns.values(), strict=True):
            value = values[row]
            assert (
                text == value
                if isinstance(value, str)
                else text == ""
                if value is None
                else (float(text) == value)
            )
    assert len(lines) == len(data["x"])


def check_drawn(browser, with_values=()):
    """Every chart has as many points as its numbers say, and its colours are on the canvas."""
    charts = browser.charts()
    drawn = browser.run(
        """return Object.fromEntries(Object.entries(codenCharts).map(([id, chart]) =>
             [id, chart.uplot.data.slice(1).map(values =>
                [...values].filter(v => v !== null && v !== undefined).length)]))"""
    )
    assert set(drawn) == set(charts) and set(with_values) <= set(charts)
    for name, data in charts.items():
        keep = (
            (lambda v: v is not None and v > 0)
            if data["yAxis"].get("log")
            else (lambda v: v is not None)
        )
        assert drawn[name] == [sum(map(keep, s["y"])) for s in data["series"]], name
        for series in data["series"]:
            if any(value for value in series["y"]):
                assert browser.pixels(name, f"--c{series['color']}") > 10, (name, series["name"])
    return charts


RUN_CHARTS = ["micro-f1", "sigma", "snapshots-per-interval", "events", "graph-size"]
RUN_CHARTS += ["proven-error", "loss", "validation", "stage-time"]


def test_every_chart_of_a_run_is_drawn(browser, report):
    charts = check_drawn(browser.open(report), RUN_CHARTS)
    assert len(charts["micro-f1"]["x"]) == 6
    assert "low" in charts["micro-f1"]["series"][0]


def test_every_kind_of_chart_is_drawn_and_long_series_are_quick(browser, probe):
    begin = time.monotonic()
    browser.open(probe)
    assert time.monotonic() - begin < 5
    charts = check_drawn(browser)
    assert "nothing" not in charts
    assert 400 < len(charts["long"]["x"]) < 1100 and max(charts["long"]["series"][0]["y"]) == 9
    assert "of 100,000 points" in browser.find("#chart-long figcaption").text
    assert probe.stat().st_size < 600_000


def test_nothing_is_fetched(browser, report):
    browser.open(report)
    asked = [json.loads(entry["message"]) for entry in browser.driver.get_log("performance")]
    asked = [entry["message"] for entry in asked]
    urls = [
        entry["params"]["request"]["url"]
        for entry in asked
        if entry["method"] == "Network.requestWillBeSent"
    ]
    assert urls == [report.as_uri()]
    assert browser.run("return performance.getEntriesByType('resource').length") == 0


def test_hostile_texts_are_shown_as_texts(browser, report, comparison):
    for page in (report, comparison):
        browser.open(page)
        with pytest.raises(NoAlertPresentException):
            browser.driver.switch_to.alert.accept()
        kinds = browser.run("return [...document.scripts].map(script => script.type)")
        assert kinds.count("") == 2 and set(kinds) == {"", "application/json"}
    assert HOSTILE_FILE in browser.find("h1 + p").text
    browser.open(report)
    assert browser.find(".matrix tbody th").text == HOSTILE + "0"
    assert HOSTILE_FILE + " edges.parquet" in browser.find("main").text


def hover(browser, chart, row):
    over = browser.find(f"#chart-{chart} .u-over")
    browser.run("arguments[0].scrollIntoView({block: 'center'})", over)
    left = browser.run(
        """const u = codenCharts[arguments[0]].uplot;
        return u.valToPos(u.data[0][arguments[1]], 'x')""",
        chart,
        row,
    )
    # Offsets are from the middle of the element.
    x = round(left - over.size["width"] / 2)
    ActionChains(browser.driver).move_to_element_with_offset(over, x, 0).perform()


def test_hover_shows_all_values_at_the_point(browser, report):
    browser.open(report)
    data = browser.charts()["micro-f1"]
    for row in (0, 3, 5):
        hover(browser, "micro-f1", row)
        assert browser.find("#chart-micro-f1 .tip-head").text.endswith(f" {data['x'][row]}")
        lines = browser.driver.find_elements(By.CSS_SELECTOR, "#chart-micro-f1 .tip-line")
        assert len(lines) == len(data["series"])
        for line, series in zip(lines, data["series"], strict=True):
            value = line.find_element(By.CLASS_NAME, "tip-value").text
            assert math.isclose(float(value), series["y"][row], rel_tol=1e-5)
            assert line.find_element(By.CLASS_NAME, "tip-name").text == series["name"]
    ActionChains(browser.driver).move_to_element(browser.find("h1")).perform()
    assert not browser.find("#chart-micro-f1 .tip").is_displayed()


def test_keys_move_the_cursor_and_values_are_announced(browser, report):
    browser.open(report)
    data = browser.charts()["micro-f1"]
    plot = browser.find("#chart-micro-f1 .plot")
    assert "Micro-F1 in percent" in plot.get_attribute("aria-label")
    browser.run("arguments[0].focus()", plot)

    def press(key):
        plot.send_keys(key)
        return browser.find("#announcer").get_property("textContent")

    def expected(row):
        return f"prediction time {data['x'][row]}: Micro-F1 "

    for key, row in [
        (Keys.ARROW_RIGHT, 0),
        (Keys.ARROW_RIGHT, 1),
        (Keys.END, 5),
        (Keys.ARROW_RIGHT, 5),
        (Keys.ARROW_LEFT, 4),
        (Keys.HOME, 0),
    ]:
        said = press(key)
        assert said.startswith(expected(row)), (key, said)
        assert f"{data['series'][0]['y'][row]:.6g}" in said
        assert "Macro-F1" in said
        assert browser.find("#chart-micro-f1 .tip").is_displayed()
    press(Keys.ESCAPE)
    assert not browser.find("#chart-micro-f1 .tip").is_displayed()


def test_the_legend_switches_series(browser, report):
    browser.open(report)
    buttons = browser.driver.find_elements(By.CSS_SELECTOR, "#chart-micro-f1 .series")
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["true"] * len(buttons)
    before = browser.pixels("micro-f1", "--c2")
    buttons[1].send_keys(Keys.ENTER)
    assert buttons[1].get_attribute("aria-pressed") == "false"
    assert before > 10 and browser.pixels("micro-f1", "--c2") == 0
    buttons[1].click()
    assert browser.pixels("micro-f1", "--c2") > 10


def test_the_csv_has_the_numbers_of_the_chart(browser, report, probe):
    for page, names in [(report, ["micro-f1", "sigma", "stage-time"]), (probe, ["bars"])]:
        browser.open(page)
        for name in names:
            shutil.rmtree(browser.downloads, ignore_errors=True)
            browser.run("arguments[0].click()", browser.find(f"#chart-{name} .csv"))
            path = browser.downloads / f"{name}.csv"
            for _ in range(100):
                if path.exists() and path.stat().st_size:
                    break
                time.sleep(0.05)
            header, *lines = csv.reader(path.read_text().splitlines())
            check_cells(header, lines, browser.charts()[name])


def test_the_table_has_the_numbers_of_the_chart_without_script_too(browser, report):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(report)
        assert "drawn by a script, which is off" in browser.find("noscript").text
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
    for name, data in browser.charts().items():
        texts = browser.run(
            """const rows = document.querySelectorAll(`#chart-${arguments[0]} details tr`);
            return [...rows].map(row => [...row.cells].map(cell => cell.textContent))""",
            name,
        )
        check_cells(texts[0], texts[1:], data)
    assert browser.run("return document.querySelectorAll('.uplot').length") == 0


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_follow_the_scheme(browser, report, comparison, probe, width, scheme):
    for page in (report, comparison, probe):
        browser.open(page, width, scheme)
        assert browser.run("return document.documentElement.scrollWidth") <= width
        widths = browser.run("return Object.values(codenCharts).map(c => c.uplot.width)")
        assert widths and all(280 <= each <= width for each in widths)
        check_drawn(browser)


def test_charts_change_with_the_scheme_and_the_width(browser, report):
    browser.open(report)
    light = browser.run(
        "return getComputedStyle(document.documentElement).getPropertyValue('--c0')"
    )
    browser.scheme("dark")
    dark = browser.run("return getComputedStyle(document.documentElement).getPropertyValue('--c0')")
    assert light != dark
    check_drawn(browser)
    browser.send(
        "Emulation.setDeviceMetricsOverride",
        width=400,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    for _ in range(50):
        width = browser.run("return codenCharts['micro-f1'].uplot.width")
        if width < 400:
            break
        time.sleep(0.05)
    assert width < 400
    check_drawn(browser)


def test_print_is_light_and_has_the_charts(browser, report):
    browser.open(report, scheme="dark")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    colors = "return getComputedStyle(document.documentElement).getPropertyValue('--ground')"
    assert browser.run(colors).strip() == "#ffffff"
    check_drawn(browser)
    assert browser.run("return codenCharts['micro-f1'].uplot.width") <= 700
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(colors).strip() != "#ffffff"
    pdf = base64.b64decode(browser.send("Page.printToPDF")["data"])
    # Each chart is a drawing in it.
    assert pdf.startswith(b"%PDF") and pdf.count(b"/Subtype /Form") >= len(RUN_CHARTS)
    check_drawn(browser)


def test_a_comparison_shows_all_runs(browser, comparison):
    charts = check_drawn(browser.open(comparison), ["micro-f1", "snapshots", "stage-time"])
    names = [series["name"] for series in charts["micro-f1"]["series"]]
    assert names == ["first", HOSTILE_FILE]
    assert "train.model" in browser.find("main").text
