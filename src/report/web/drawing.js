// Drawing on uPlot's canvas: colours, lines, stems, bars, spread, levels and axes.
//
// Colours come from the style sheet, so a chart follows the scheme and is printed on white.

const MAX_DOTS = 90; // more of them would hide their line
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
const root = document.documentElement;

let palette = {};

function readPalette() {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  palette = {
    ink: read("--ink"),
    muted: read("--muted"),
    rule: read("--rule"),
    ground: read("--ground"),
  };
  palette.series = Array.from({ length: 8 }, (_, i) => read("--c" + i));
}

// uPlot's own lines leave out what falls on one pixel column; here a value that jumps at one
// x is drawn whole.
const linePaths = (stepped) => (u, seriesIndex) => {
  const stroke = new Path2D();
  let before = null;
  u.data[seriesIndex].forEach((value, i) => {
    if (value === undefined) return;
    if (value === null) return void (before = null);
    const x = u.valToPos(u.data[0][i], "x", true),
      y = u.valToPos(value, "y", true);
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
  const slot = Math.abs(
    u.valToPos(u.scales.x.min + distance, "x", true) - u.valToPos(u.scales.x.min, "x", true),
  );
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
        stretch.push([
          u.valToPos(x, "x", true),
          u.valToPos(low[row], "y", true),
          u.valToPos(high[row], "y", true),
        ]);
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
      const found = linearTicks(
        low,
        high,
        niceStep(high - low, maxTicks(width, space), data.xAxis.whole),
      );
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
    values: (u, splits) =>
      names ? splits.map((i) => shortened(names[i], 18)) : tickTexts(splits, data.xAxis.log),
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
      show:
        series.style === "dots" ||
        (!["bars", "steps"].includes(series.style) && numPoints <= MAX_DOTS && !jumps),
      size: series.style === "line" ? 5 : numPoints > 150 ? 4 : 6,
      width: 0,
      stroke,
      fill: stroke,
    },
  };
  if (series.style === "line" || series.style === "steps")
    options.paths = linePaths(series.style === "steps");
  if (series.style === "dots") options.paths = () => null;
  if (series.style === "stems") options.paths = stemPaths;
  if (series.style === "bars") {
    options.paths = barPaths(data);
    options.fill = stroke;
    options.width = 0;
  }
  return options;
}
