// The charts of a page, each drawn with uPlot from the numbers that stand beside it: pointer, keys,
// legend, download, and what follows the screen. Values reach the page as text nodes only, never
// as markup.

const NARROW = 420; // pixels; below, a chart is lower and its values are shown under it
const announcer = document.getElementById("announcer");
const charts = {};
window.codenCharts = charts;

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// What is to be read at a row: the values of all series that are shown.
function readings(data, row) {
  return data.series
    .filter((series) => series.shown && isNumber(series.rows.y[row]))
    .map((series) => {
      const spread =
        series.low && isNumber(series.rows.low[row]) && isNumber(series.rows.high[row]);
      return {
        series,
        value: valueText(series.rows.y[row]),
        spread: spread
          ? valueText(series.rows.low[row]) + " to " + valueText(series.rows.high[row])
          : "",
      };
    });
}

// The row with a reading that is nearest to `row`, looking in direction `step` if given.
function nearestReading(data, row, step) {
  const has = (i) => i >= 0 && i < data.x.length && readings(data, i).length > 0;
  if (step) {
    for (let i = row; i >= 0 && i < data.x.length; i += step) if (has(i)) return i;
    return -1;
  }
  for (let away = 0; away < data.x.length; ++away) {
    if (has(row - away)) return row - away;
    if (has(row + away)) return row + away;
  }
  return -1;
}

class ChartView {
  constructor(figure, data) {
    this.figure = figure;
    this.data = prepare(data);
    this.row = -1;
    this.plot = element("div", "plot");
    this.plot.tabIndex = 0;
    // Arrow keys belong to the chart while it has the focus.
    this.plot.setAttribute("role", "application");
    this.plot.setAttribute("aria-roledescription", "chart");
    this.plot.setAttribute("aria-label", data.label + ". Arrow keys read the values.");
    this.tip = element("div", "tip");
    this.tip.hidden = true;
    const foot = element("div", "chart-foot");
    foot.append(this.makeDownload(), figure.querySelector("details"));
    figure.append(element("div", "axis-name", data.yAxis.name), this.plot, this.makeLegend(), foot);
    this.uplot = new uPlot(this.options(), this.columns(), this.plot);
    this.plot.append(this.tip);
    this.plot.addEventListener("keydown", (event) => this.onKey(event));
    this.plot.addEventListener("blur", () => this.moveTo(-1));
    new ResizeObserver(() => this.fit()).observe(this.plot);
  }

  columns() {
    return [this.data.x, ...this.data.series.map((series) => series.rows.y)];
  }

  size() {
    const width = Math.max(120, Math.floor(this.plot.clientWidth));
    return { width, height: width < NARROW ? 220 : 260 };
  }

  fit() {
    const size = this.size();
    if (size.width !== this.uplot.width || size.height !== this.uplot.height) {
      this.moveTo(-1);
      this.uplot.setSize(size);
    }
  }

  options() {
    const { data } = this;
    const whole = xRange(data);
    const first = data.x[0],
      last = data.x[data.x.length - 1];
    return {
      ...this.size(),
      // A turned name begins left of its tick.
      padding: [10, 16, 0, (u) => Math.max(0, (data.overhang || 0) - 40)],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: data.x.length > 40, y: false },
        points: {
          size: (u, i) => (data.series[i - 1].style === "bars" ? 0 : 9),
          width: 2,
          stroke: () => palette.ground,
          fill: (u, i) => palette.series[data.series[i - 1].color],
        },
      },
      scales: {
        // A part that was chosen with the pointer stays as it is; all of it has margins.
        x: {
          time: false,
          distr: data.xAxis.log ? 3 : 1,
          range: (u, low, high) =>
            low > first || high < last ? [low, high] : data.xAxis.log ? [first, last] : whole,
        },
        y: { distr: data.yAxis.log ? 3 : 1, range: (u) => yRange(data, u.height - 60) },
      },
      axes: [xAxis(data), yAxis(data)],
      series: [{}, ...data.series.map((series) => seriesOptions(data, series))],
      hooks: {
        drawAxes: [(u) => drawBands(u, data)],
        drawSeries: [(u, i) => drawWhiskers(u, data, i)],
        draw: [(u) => drawLevels(u, data)],
        setCursor: [(u) => this.onCursor(u)],
      },
    };
  }

  makeLegend() {
    const legend = element("div", "legend");
    if (this.data.series.length < 2) return legend;
    legend.setAttribute("role", "group");
    legend.setAttribute("aria-label", "Series shown");
    this.data.series.forEach((series, i) => {
      const button = element("button", "series c" + series.color);
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(element("span", "swatch " + series.style), element("span", "", series.name));
      button.addEventListener("click", () => {
        series.shown = !series.shown;
        button.setAttribute("aria-pressed", String(series.shown));
        this.moveTo(-1);
        this.uplot.setSeries(i + 1, { show: series.shown });
        this.uplot.redraw();
      });
      legend.append(button);
    });
    return legend;
  }

  makeDownload() {
    const button = element("button", "csv", "CSV");
    button.type = "button";
    button.title = "Download the numbers of this chart";
    button.setAttribute(
      "aria-label",
      "Download the numbers of " + this.figure.querySelector("h3").textContent + " as CSV",
    );
    button.addEventListener("click", () => {
      const link = element("a");
      link.href = URL.createObjectURL(
        new Blob([csvText(this.data)], { type: "text/csv;charset=utf-8" }),
      );
      link.download = this.data.id + ".csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    return button;
  }

  onCursor(u) {
    if (this.steered) return;
    const { idx, left } = u.cursor;
    let row = isNumber(idx) && left >= 0 ? nearestReading(this.data, idx) : -1;
    // Of several rows of one x the first: a value before it falls back.
    while (
      row > 0 &&
      this.data.x[row - 1] === this.data.x[row] &&
      readings(this.data, row - 1).length
    )
      --row;
    this.show(row);
  }

  onKey(event) {
    const last = this.data.x.length - 1;
    const moves = {
      ArrowLeft: [this.row < 0 ? last : this.row - 1, -1],
      ArrowRight: [this.row + 1, 1],
      PageUp: [Math.max(0, this.row - 10), -1],
      PageDown: [Math.min(last, this.row + 10), 1],
      Home: [0, 1],
      End: [last, -1],
    };
    if (event.key === "Escape") {
      this.moveTo(-1);
    } else if (moves[event.key] && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      const row = nearestReading(this.data, ...moves[event.key]);
      if (row >= 0) this.moveTo(row, /*aloud=*/ true);
    }
  }

  // Put the cursor on a row, or away with -1.
  moveTo(row, aloud) {
    this.steered = true;
    const u = this.uplot;
    const left = row < 0 ? -10 : u.valToPos(this.data.x[row], "x");
    u.setCursor({ left, top: row < 0 ? -10 : 10 }, false);
    this.steered = false;
    this.show(row);
    if (aloud) announcer.textContent = this.spoken(row);
  }

  spoken(row) {
    const values = readings(this.data, row).map(
      ({ series, value, spread }) =>
        series.name + " " + value + (spread ? " (" + spread + ")" : ""),
    );
    return this.where(row) + ": " + values.join("; ");
  }

  where(row) {
    return (
      (this.data.xAxis.name ? this.data.xAxis.name + " " : "") + xText(this.data, this.data.x[row])
    );
  }

  show(row) {
    this.row = row;
    this.tip.hidden = row < 0;
    if (row < 0) return;
    this.tip.replaceChildren(element("div", "tip-head", this.where(row)));
    for (const { series, value, spread } of readings(this.data, row)) {
      const line = element("div", "tip-line c" + series.color);
      line.append(
        element("span", "swatch " + series.style),
        element("span", "tip-name", series.name),
      );
      line.append(element("span", "tip-value", value));
      if (spread) line.append(element("span", "tip-spread", spread));
      this.tip.append(line);
    }
    const u = this.uplot;
    const x = u.valToPos(this.data.x[row], "x") + u.bbox.left / uPlot.pxRatio;
    const width = this.tip.offsetWidth;
    const right = x + 14 + width <= u.width;
    const left = right ? x + 14 : Math.max(0, x - 14 - width);
    this.tip.style.left = Math.round(Math.min(left, Math.max(0, u.width - width))) + "px";
    // On a narrow screen it would hide the plot, so it stands below.
    this.tip.style.top = (u.width < NARROW ? u.height - 18 : 8) + "px";
  }
}

readPalette();
for (const figure of document.querySelectorAll("figure.chart")) {
  const source = figure.querySelector('script[type="application/json"]');
  if (!source) continue;
  const data = JSON.parse(source.textContent);
  charts[data.id] = new ChartView(figure, data);
}

function redrawAll() {
  readPalette();
  for (const chart of Object.values(charts)) {
    chart.fit();
    chart.uplot.redraw(false);
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
window.addEventListener("beforeprint", () => {
  root.classList.add("printing");
  redrawAll();
});
window.addEventListener("afterprint", () => {
  root.classList.remove("printing");
  redrawAll();
});
