#include "report/report_style_internal.h"

namespace coden {

// Colours are named once per scheme. Text on its ground has a contrast of at least 4.5:1
// and chart colours at least 3:1, in both schemes.
std::string_view ReportStyle() {
  return R"css(
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f6f7f9; --ink: #1c2330; --muted: #5a6474;
  --rule: #d9dee6; --c0: #1f5fbf; --c1: #c2500a; --c2: #2a7d46;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171c; --panel: #1c2027; --ink: #e4e8ee; --muted: #9ba6b5;
    --rule: #343b46; --c0: #78aaf5; --c1: #f0a05c; --c2: #79c792;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 1040px; padding: 2rem 1.5rem 3rem;
  background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial,
    sans-serif;
  font-variant-numeric: tabular-nums;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .8rem; padding-top: .9rem;
  border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 0 0 .3rem; }
p { margin: 0 0 .8rem; max-width: 70ch; }
.summary { font-size: 1.05rem; max-width: none; }
.muted { color: var(--muted); font-size: .9rem; }
.notes { padding-left: 1.2rem; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; }
svg text { font-size: 12px; fill: var(--muted); }
.flow { margin-top: 1.4rem; }
.flow.down { display: none; }
.flow .box { fill: var(--panel); stroke: var(--rule); }
.flow .arrow { fill: none; stroke: var(--muted); stroke-width: 1.3; }
.flow .stage { font-size: 14px; font-weight: 600; fill: var(--ink); }
.flow .given { fill: var(--ink); }
.pair { display: grid; gap: 1.6rem 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); }
figure { margin: 0; min-width: 0; }
figcaption { color: var(--muted); font-size: .9rem; margin-bottom: .4rem; }
.chart { max-width: 620px; }
.chart .grid { stroke: var(--rule); stroke-width: 1; }
.chart .axis { stroke: var(--muted); stroke-width: 1; }
.chart .name { fill: var(--ink); }
.chart .none { font-size: 14px; }
.chart .line { fill: none; stroke: currentColor; stroke-width: 1.8;
  stroke-linejoin: round; }
.chart .dot { fill: currentColor; stroke: transparent; stroke-width: 9;
  pointer-events: all; }
.chart .stem { stroke: currentColor; stroke-width: 1; opacity: .55; }
.chart .bar { fill: currentColor; }
.chart .level { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 5 4; }
.chart .level-name { fill: var(--ink); paint-order: stroke; stroke: var(--ground);
  stroke-width: 4px; stroke-linejoin: round; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .2rem 0 0;
  padding: 0; list-style: none; font-size: .9rem; }
.legend li::before { content: ""; display: inline-block; width: .7em; height: .7em;
  margin-right: .4em; border-radius: 50%; background: currentColor; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
  gap: 1rem; margin: 0; align-content: center; }
.figures div { background: var(--panel); border: 1px solid var(--rule);
  border-radius: 6px; padding: .7rem .9rem; }
.figures dt { color: var(--muted); font-size: .9rem; }
.figures dd { margin: 0; }
.figures .large { font-size: 1.5rem; font-weight: 600; line-height: 1.3; }
details { margin-top: 1rem; }
summary { cursor: pointer; color: var(--c0); }
summary:focus-visible { outline: 2px solid var(--c0); outline-offset: 3px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; margin: .6rem 0; }
caption { text-align: left; color: var(--muted); padding-bottom: .4rem; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); }
thead th { font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 400; }
tfoot th, tfoot td { font-weight: 600; }
tfoot tr:first-child > * { border-top: 2px solid var(--muted); }
.num { text-align: right; padding: .25rem 0 .25rem 1.2rem; }
.num:first-child { padding-left: 0; }
.facts { width: 100%; }
.facts th { color: var(--muted); font-weight: 400; white-space: nowrap; width: 9.5rem; }
.facts td { overflow-wrap: anywhere; font-family: ui-monospace, "SF Mono", Menlo,
  Consolas, "DejaVu Sans Mono", monospace; font-size: .85rem; }
.settings { columns: 400px; column-gap: 2rem; }
.settings section { break-inside: avoid; padding-bottom: 1rem; }
@media (max-width: 640px) {
  body { padding: 1.2rem 1rem 2rem; }
  h1 { font-size: 1.4rem; }
  .flow.across { display: none; }
  .flow.down { display: block; max-width: 400px; }
  svg.chart text { font-size: 13.5px; }
  .figures { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .5rem; }
  .figures div { padding: .5rem .6rem; }
  .figures .large { font-size: 1.15rem; }
}
@media print {
  :root { --ground: #fff; --panel: #fff; --ink: #000; --muted: #444; --rule: #bbb;
    --c0: #1f5fbf; --c1: #c2500a; --c2: #2a7d46; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  .flow.across { display: block; }
  .flow.down { display: none; }
  .pair { grid-template-columns: 1fr 1fr; }
  figure, tr, .figures div { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
)css";
}

}  // namespace coden
