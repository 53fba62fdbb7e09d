// Draws the charts of a page with uPlot, from the numbers that stand beside each of them.
//
// Colours come from the style sheet, so a chart follows the scheme and is printed on white.
// Values reach the page as text nodes only, never as markup.
(() => {
  "use strict";

  const NARROW = 420; // pixels; below, a chart is lower and has fewer ticks
  const MAX_DOTS = 90; // more of them would hide their line
  const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';

  const root = document.documentElement;
  const announcer = document.getElementById("announcer");
  const charts = {};
  window.codenCharts = charts;

  // ---------------------------------------------------------------- colours

  let palette = {};

  function readPalette() {
    const style = getComputedStyle(root);
    const read = (name) => style.getPropertyValue(name).trim();
    palette = { ink: read("--ink"), muted: read("--muted"), rule: read("--rule"), ground: read("--ground") };
    palette.series = Array.from({ length: 8 }, (_, i) => read("--c" + i));
  }

  // ---------------------------------------------------------------- numbers

  function niceStep(span, maxTicks, whole) {
    const rough = span / Math.max(1, maxTicks - 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const factor = [1, 2, 5, 10].find((f) => f * power >= rough * (1 - 1e-9)) || 10;
    return whole ? Math.max(1, factor * power) : factor * power;
  }

  // In as few characters as the step allows: 0.05, 40, 150k, 1.20G. All ticks of one axis
  // but zero have the same unit and the same digits.
  function tickText(value, step, largest) {
    if (Math.abs(value) < step * 1e-6) return "0";
    if (largest >= 1e15 || step < 1e-5) return String(Number(value.toPrecision(3)));
    const [unit, letter] =
      largest >= 1e9 ? [1e9, "G"] : largest >= 1e6 ? [1e6, "M"] : largest >= 1e5 ? [1e3, "k"] : [1, ""];
    const digits = -Math.floor(Math.log10(step / unit) + 1e-9);
    return (value / unit).toFixed(Math.min(6, Math.max(0, digits))) + letter;
  }

  function linearTicks(low, high, step) {
    const ticks = [];
    const first = Math.ceil(low / step - 1e-9);
    for (let i = first; i * step <= high + step * 1e-9 && ticks.length < 60; ++i) ticks.push(i * step);
    return ticks;
  }

  function logTicks(low, high, maxTicks) {
    const first = Math.floor(Math.log10(low) + 1e-9);
    const last = Math.ceil(Math.log10(high) - 1e-9);
    const factors = last - first <= 1 ? [1, 2, 5] : [1];
    const stride = Math.max(1, Math.ceil((last - first) / maxTicks));
    const ticks = [];
    for (let power = first; power <= last; power += stride) {
      for (const factor of factors) {
        const tick = Number((factor + "e" + power));
        if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
      }
    }
    return ticks;
  }

  function tickTexts(ticks, logarithmic) {
    if (logarithmic) {
      return ticks.map((v) => (v >= 1e5 || v < 1e-3 ? v.toExponential().replace("e+", "e") : String(v)));
    }
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : Math.abs(ticks[0]) || 1;
    const largest = Math.max(...ticks.map(Math.abs));
    return ticks.map((v) => tickText(v, step, largest));
  }

  // A value as people read it: six digits, and groups of three in long whole numbers.
  function valueText(value) {
    if (Number.isInteger(value) && Math.abs(value) < 1e15) {
      return Math.abs(value) < 1e5 ? String(value) : value.toLocaleString("en-US");
    }
    const rounded = Number(value.toPrecision(6));
    return Math.abs(rounded) >= 1e5 && Math.abs(rounded) < 1e15 ? rounded.toLocaleString("en-US") : String(rounded);
  }

  // ---------------------------------------------------------------- data

  // One value a row: null is a gap, undefined a row of other series only.
  function spreadRows(numRows, at, values) {
    if (!values || !at) return values;
    const rows = new Array(numRows);
    at.forEach((row, i) => (rows[row] = values[i]));
    return rows;
  }

  function prepare(data) {
    for (const series of data.series) {
      const logarithmic = data.yAxis.log;
      const drawn = (list) => list && list.map((v) => (logarithmic && v !== null && v <= 0 ? null : v));
      series.rows = {
        y: spreadRows(data.x.length, series.at, drawn(series.y)),
        low: spreadRows(data.x.length, series.at, drawn(series.low)),
        high: spreadRows(data.x.length, series.at, drawn(series.high)),
      };
      series.shown = true;
    }
    return data;
  }

  const isNumber = (value) => value !== null && value !== undefined;
  const fromZero = (style) => style === "bars" || style === "stems";

  function xText(data, value) {
    const names = data.xAxis.categories;
    return names && names[value] !== undefined ? names[value] : valueText(value);
  }

  function csvText(data) {
    const quote = (text) => (/[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text);
    const header = [data.xAxis.name || "x"];
    const columns = [];
    for (const series of data.series) {
      const parts = series.low ? ["y", "low", "high"] : ["y"];
      for (const part of parts) {
        header.push(part === "y" ? series.name : series.name + " " + part);
        columns.push(spreadRows(data.x.length, series.at, series[part]));
      }
    }
    const names = data.xAxis.categories;
    const lines = data.x.map((x, row) =>
      [names && names[x] !== undefined ? names[x] : String(x)]
        .concat(columns.map((column) => (isNumber(column[row]) ? String(column[row]) : "")))
        .map(quote)
        .join(",")
    );
    return [header.map(quote).join(","), ...lines, ""].join("\r\n");
  }

  // ---------------------------------------------------------------- ranges

  function yRange(data, height) {
    let low = Infinity, high = -Infinity;
    const include = (value) => {
      if (!isNumber(value) || (data.yAxis.log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const series of data.series) {
      if (!series.shown) continue;
      for (const list of Object.values(series.rows)) if (list) list.forEach(include);
      if (fromZero(series.style)) include(0);
    }
    if (data.yAxis.zero) include(0);
    data.levels.forEach((level) => include(level.value));
    if (low > high) [low, high] = data.yAxis.log ? [1, 10] : [0, 1];
    if (data.yAxis.log) {
      const bottom = 10 ** Math.floor(Math.log10(low) + 1e-9);
      const top = 10 ** Math.ceil(Math.log10(high) - 1e-9);
      return [bottom, top > bottom ? top : bottom * 10];
    }
    const magnitude = Math.max(Math.abs(low), Math.abs(high));
    if (high - low <= magnitude * 1e-12) {
      const margin = data.yAxis.whole ? 1 : magnitude * 0.1 || 1;
      if (low !== 0) low -= margin;
      high += margin;
    }
    const step = niceStep(high - low, maxTicks(height, 28), data.yAxis.whole);
    const bottom = Math.floor(low / step + 1e-9) * step;
    let top = Math.ceil(high / step - 1e-9) * step;
    // The name of a level stands above its line.
    const highest = Math.max(...data.levels.map((level) => level.value));
    if (top - highest < (top - bottom) * 0.09) top += step;
    data.yStep = step;
    return [bottom, top];
  }

  const maxTicks = (pixels, space) => Math.max(2, Math.floor(pixels / space));

  function xRange(data) {
    const first = data.x[0], last = data.x[data.x.length - 1];
    const bars = data.series.some((series) => series.style === "bars");
    if (bars || data.xAxis.categories) {
      const half = smallestDistance(data.x) * 0.6;
      return [first - half, last + half];
    }
    const margin = (last - first) * 0.02 || (data.xAxis.whole ? 1 : Math.abs(first) * 0.1 || 1);
    return [first - margin, last + margin];
  }

  function smallestDistance(x) {
    let smallest = Infinity;
    for (let i = 1; i < x.length; ++i) if (x[i] > x[i - 1]) smallest = Math.min(smallest, x[i] - x[i - 1]);
    return Number.isFinite(smallest) ? smallest : 1;
  }

  // ---------------------------------------------------------------- drawing

  // uPlot's own lines leave out what falls on one pixel column; here a value that jumps at one
  // x is drawn whole.
  const linePaths = (stepped) => (u, seriesIndex) => {
    const stroke = new Path2D();
    let before = null;
    u.data[seriesIndex].forEach((value, i) => {
      if (value === undefined) return;
      if (value === null) return void (before = null);
      const x = u.valToPos(u.data[0][i], "x", true), y = u.valToPos(value, "y", true);
      if (before === null) stroke.moveTo(x, y);
      else if (stepped) stroke.lineTo(x, before);
      if (before !== null) stroke.lineTo(x, y);
      before = y;
    });
    return { stroke, fill: null, clip: null, flags: 0 };
  };

  function stemPaths(u, seriesIndex, first, last) {
    const stroke = new Path2D();
    const zero = u.valToPos(Math.max(0, u.scales.y.min), "y", true);
    for (let i = first; i <= last; ++i) {
      const y = u.data[seriesIndex][i];
      if (!isNumber(y)) continue;
      const x = u.valToPos(u.data[0][i], "x", true);
      stroke.moveTo(x, zero);
      stroke.lineTo(x, u.valToPos(y, "y", true));
    }
    return { stroke, fill: null, clip: null, flags: 0 };
  }

  // Where the bar of a series stands within the room of one x.
  function barPlace(u, data, seriesIndex) {
    const bars = data.series.filter((series) => series.style === "bars" && series.shown);
    const distance = smallestDistance(data.x);
    const slot = Math.abs(u.valToPos(u.scales.x.min + distance, "x", true) - u.valToPos(u.scales.x.min, "x", true));
    const group = Math.min(slot * 0.76, bars.length * 48 * uPlot.pxRatio);
    const width = group / Math.max(1, bars.length);
    const place = bars.indexOf(data.series[seriesIndex - 1]);
    const gap = bars.length > 1 ? Math.min(2 * uPlot.pxRatio, width * 0.15) : 0;
    return { offset: -group / 2 + place * width + gap / 2, width: Math.max(1, width - gap) };
  }

  const barPaths = (data) => (u, seriesIndex, first, last) => {
    const fill = new Path2D();
    const place = barPlace(u, data, seriesIndex);
    const bottom = data.yAxis.log ? u.scales.y.min : Math.max(0, u.scales.y.min);
    const zero = u.valToPos(bottom, "y", true);
    for (let i = first; i <= last; ++i) {
      const y = u.data[seriesIndex][i];
      if (!isNumber(y)) continue;
      const x = u.valToPos(u.data[0][i], "x", true) + place.offset;
      const top = u.valToPos(y, "y", true);
      fill.rect(x, Math.min(top, zero), place.width, Math.abs(zero - top));
    }
    return { stroke: null, fill, clip: null, flags: 0 };
  };

  function clipped(u, draw) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx);
    ctx.restore();
  }

  // Below the lines: the spread of each as an area.
  function drawBands(u, data) {
    clipped(u, (ctx) => {
      for (const series of data.series) {
        if (!series.shown || !series.low || !["line", "steps"].includes(series.style)) continue;
        ctx.fillStyle = palette.series[series.color];
        ctx.globalAlpha = 0.2;
        let stretch = [];
        const flush = () => {
          if (stretch.length > 1) {
            ctx.beginPath();
            stretch.forEach(([x, , high]) => ctx.lineTo(x, high));
            stretch.reverse().forEach(([x, low]) => ctx.lineTo(x, low));
            ctx.fill();
          }
          stretch = [];
        };
        data.x.forEach((x, row) => {
          const { low, high } = series.rows;
          if (low[row] === undefined) return;
          if (low[row] === null || high[row] === null) return flush();
          stretch.push([u.valToPos(x, "x", true), u.valToPos(low[row], "y", true), u.valToPos(high[row], "y", true)]);
        });
        flush();
      }
    });
  }

  // Above the bars: the spread of each as a line with two ends.
  function drawWhiskers(u, data, seriesIndex) {
    const series = data.series[seriesIndex - 1];
    if (!series || !series.low || ["line", "steps"].includes(series.style)) return;
    const ratio = uPlot.pxRatio;
    const place = series.style === "bars" ? barPlace(u, data, seriesIndex) : { offset: 0, width: 0 };
    const cap = Math.min(4 * ratio, place.width ? place.width / 3 : 4 * ratio);
    clipped(u, (ctx) => {
      ctx.strokeStyle = palette.ink;
      ctx.lineWidth = 1.25 * ratio;
      data.x.forEach((value, row) => {
        const { low, high } = series.rows;
        if (!isNumber(low[row]) || !isNumber(high[row]) || low[row] === high[row]) return;
        const x = u.valToPos(value, "x", true) + place.offset + place.width / 2;
        const [bottom, top] = [u.valToPos(low[row], "y", true), u.valToPos(high[row], "y", true)];
        ctx.beginPath();
        ctx.moveTo(x, bottom);
        ctx.lineTo(x, top);
        for (const end of [bottom, top]) {
          ctx.moveTo(x - cap, end);
          ctx.lineTo(x + cap, end);
        }
        ctx.stroke();
      });
    });
  }

  function drawLevels(u, data) {
    const { ctx, bbox } = u;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.font = FONT.replace("12px", 12 * ratio + "px");
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    ctx.lineWidth = 1.25 * ratio;
    ctx.lineJoin = "round";
    for (const level of data.levels) {
      const y = u.valToPos(level.value, "y", true);
      ctx.strokeStyle = palette.ink;
      ctx.setLineDash([5 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      // On a ground of its own, so that it can be read above a line.
      ctx.setLineDash([]);
      ctx.strokeStyle = palette.ground;
      ctx.lineWidth = 4 * ratio;
      const place = [level.name, bbox.left + bbox.width - 4 * ratio, y - 3 * ratio];
      ctx.strokeText(...place);
      ctx.fillStyle = palette.ink;
      ctx.fillText(...place);
      ctx.lineWidth = 1.25 * ratio;
    }
    ctx.restore();
  }

  // ---------------------------------------------------------------- axes

  const measure = document.createElement("canvas").getContext("2d");

  function textWidth(text) {
    measure.font = FONT;
    return measure.measureText(text).width;
  }

  const widest = (texts) => Math.max(0, ...texts.map((text) => textWidth(text || "")));

  // Names of runs or classes often differ at their ends.
  function shortened(text, most) {
    const half = Math.floor((most - 1) / 2);
    return text.length > most ? text.slice(0, half) + "…" + text.slice(-half) : text;
  }

  function xAxis(data) {
    const names = data.xAxis.categories;
    let turned = false;
    const room = (u) => u.bbox.width / uPlot.pxRatio;
    const ticks = (u, low, high) => {
      if (names) return names.map((_, i) => i).filter((i) => i >= low && i <= high);
      const width = room(u) || u.width - 60;
      if (data.xAxis.log) return logTicks(low, high, maxTicks(width, 60));
      let space = 46;
      for (let tries = 0; tries < 3; ++tries) {
        const found = linearTicks(low, high, niceStep(high - low, maxTicks(width, space), data.xAxis.whole));
        const needed = widest(tickTexts(found, false)) + 24;
        if (needed * found.length <= width || tries === 2) return found;
        space = Math.max(space * 1.4, needed);
      }
    };
    return {
      label: data.xAxis.name || undefined,
      labelSize: data.xAxis.name ? 22 : 0,
      labelGap: 2,
      labelFont: FONT,
      font: FONT,
      gap: 5,
      stroke: () => palette.muted,
      grid: { show: false },
      ticks: { stroke: () => palette.muted, width: 1, size: 4 },
      border: { show: true, stroke: () => palette.muted, width: 1 },
      splits: (u, _, low, high) => ticks(u, low, high),
      filter: (u, splits) => splits,
      values: (u, splits) => (names ? splits.map((i) => shortened(names[i], 18)) : tickTexts(splits, data.xAxis.log)),
      rotate: (u, values) => {
        turned = Boolean(names && values && widest(values) + 8 > room(u) / values.length);
        data.overhang = turned ? textWidth(values[0]) * 0.77 : 0;
        return turned ? 40 : 0;
      },
      size: (u, values) => 28 + (turned && values ? widest(values) * 0.64 : 0),
    };
  }

  function yAxis(data) {
    return {
      font: FONT,
      gap: 5,
      stroke: () => palette.muted,
      grid: { stroke: () => palette.rule, width: 1 },
      ticks: { show: false },
      filter: (u, splits) => splits,
      splits: (u, _, low, high) =>
        data.yAxis.log
          ? logTicks(low, high, maxTicks(u.height - 60, 24))
          : linearTicks(low, high, data.yStep),
      values: (u, splits) => tickTexts(splits, data.yAxis.log),
      size: (u, values) => (values ? Math.max(30, widest(values) + 12) : 40),
    };
  }

  function seriesOptions(data, series) {
    const stroke = () => palette.series[series.color];
    const numPoints = series.y.filter(isNumber).length;
    // Points of one x would make a bar of dots.
    const jumps = series.style === "line" && data.x.some((x, i) => i > 0 && x === data.x[i - 1]);
    const options = {
      label: series.name,
      stroke,
      width: series.style === "stems" ? 1.2 : 1.8,
      points: {
        show: series.style === "dots" || (!["bars", "steps"].includes(series.style) && numPoints <= MAX_DOTS && !jumps),
        size: series.style === "line" ? 5 : numPoints > 150 ? 4 : 6,
        width: 0,
        stroke,
        fill: stroke,
      },
    };
    if (series.style === "line" || series.style === "steps") options.paths = linePaths(series.style === "steps");
    if (series.style === "dots") options.paths = () => null;
    if (series.style === "stems") options.paths = stemPaths;
    if (series.style === "bars") {
      options.paths = barPaths(data);
      options.fill = stroke;
      options.width = 0;
    }
    return options;
  }

  // ---------------------------------------------------------------- one chart

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
        const spread = series.low && isNumber(series.rows.low[row]) && isNumber(series.rows.high[row]);
        return {
          series,
          value: valueText(series.rows.y[row]),
          spread: spread ? valueText(series.rows.low[row]) + " to " + valueText(series.rows.high[row]) : "",
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
      const first = data.x[0], last = data.x[data.x.length - 1];
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
            range: (u, low, high) => (low > first || high < last ? [low, high] : data.xAxis.log ? [first, last] : whole),
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
      button.setAttribute("aria-label", "Download the numbers of " + this.figure.querySelector("h3").textContent + " as CSV");
      button.addEventListener("click", () => {
        const link = element("a");
        link.href = URL.createObjectURL(new Blob([csvText(this.data)], { type: "text/csv;charset=utf-8" }));
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
      while (row > 0 && this.data.x[row - 1] === this.data.x[row] && readings(this.data, row - 1).length) --row;
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
        ({ series, value, spread }) => series.name + " " + value + (spread ? " (" + spread + ")" : "")
      );
      return this.where(row) + ": " + values.join("; ");
    }

    where(row) {
      return (this.data.xAxis.name ? this.data.xAxis.name + " " : "") + xText(this.data, this.data.x[row]);
    }

    show(row) {
      this.row = row;
      this.tip.hidden = row < 0;
      if (row < 0) return;
      this.tip.replaceChildren(element("div", "tip-head", this.where(row)));
      for (const { series, value, spread } of readings(this.data, row)) {
        const line = element("div", "tip-line c" + series.color);
        line.append(element("span", "swatch " + series.style), element("span", "tip-name", series.name));
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

  // ---------------------------------------------------------------- the page

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
})();
