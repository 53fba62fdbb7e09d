// Numbers of a chart: ticks, ranges, how values are written, and the CSV file. What the files of
// this folder define they share: the build makes one script of them.

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
    largest >= 1e9
      ? [1e9, "G"]
      : largest >= 1e6
        ? [1e6, "M"]
        : largest >= 1e5
          ? [1e3, "k"]
          : [1, ""];
  const digits = -Math.floor(Math.log10(step / unit) + 1e-9);
  return (value / unit).toFixed(Math.min(6, Math.max(0, digits))) + letter;
}

function linearTicks(low, high, step) {
  const ticks = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let i = first; i * step <= high + step * 1e-9 && ticks.length < 60; ++i)
    ticks.push(i * step);
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
      const tick = Number(factor + "e" + power);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

function tickTexts(ticks, logarithmic) {
  if (logarithmic) {
    return ticks.map((v) =>
      v >= 1e5 || v < 1e-3 ? v.toExponential().replace("e+", "e") : String(v),
    );
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
  return Math.abs(rounded) >= 1e5 && Math.abs(rounded) < 1e15
    ? rounded.toLocaleString("en-US")
    : String(rounded);
}

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
    const drawn = (list) =>
      list && list.map((v) => (logarithmic && v !== null && v <= 0 ? null : v));
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
      .join(","),
  );
  return [header.map(quote).join(","), ...lines, ""].join("\r\n");
}

function yRange(data, height) {
  let low = Infinity,
    high = -Infinity;
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
  const first = data.x[0],
    last = data.x[data.x.length - 1];
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
  for (let i = 1; i < x.length; ++i)
    if (x[i] > x[i - 1]) smallest = Math.min(smallest, x[i] - x[i - 1]);
  return Number.isFinite(smallest) ? smallest : 1;
}
