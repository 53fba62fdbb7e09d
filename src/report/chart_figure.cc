#include "report/chart_figure_internal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "coden/base/printable.h"
#include "report/chart_thinning_internal.h"

namespace coden {

namespace {

using nlohmann::json;

// Every whole number up to this is a double of its own.
constexpr double kExact = 9007199254740992.0;

bool IsWhole(double value) {
  return std::isfinite(value) && std::abs(value) <= kExact && std::floor(value) == value;
}

json Number(double value) {
  if (IsWhole(value)) return static_cast<std::int64_t>(value);
  return value;  // written as null where it is not finite
}

std::string NumberText(double value) {
  if (!std::isfinite(value)) return {};
  if (IsWhole(value)) return std::to_string(static_cast<std::int64_t>(value));
  return FormatShortest(value);
}

std::string Shown(std::string_view text) { return Printable(MaskCredentials(text)); }

json Numbers(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(Number(value));
  return list;
}

json AxisJson(const ChartAxis& axis) {
  json value = {{"name", Shown(axis.name)}};
  if (axis.whole) value["whole"] = true;
  if (axis.from_zero) value["zero"] = true;
  if (axis.logarithmic) value["log"] = true;
  for (const auto& category : axis.categories) {
    value["categories"].push_back(Shown(category));
  }
  return value;
}

std::string_view StyleName(SeriesStyle style) {
  switch (style) {
    case SeriesStyle::kLine:
      return "line";
    case SeriesStyle::kStems:
      return "stems";
    case SeriesStyle::kBars:
      return "bars";
    case SeriesStyle::kSteps:
      return "steps";
    case SeriesStyle::kDots:
      return "dots";
  }
  return "line";
}

std::string ChartJson(const Chart& chart, const ChartRows& aligned) {
  json value = {{"id", FigureId(chart.id)},   {"label", Shown(chart.label)},
                {"xAxis", AxisJson(chart.x)}, {"yAxis", AxisJson(chart.y)},
                {"x", Numbers(aligned.x)},    {"series", json::array()},
                {"levels", json::array()}};
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const ChartSeries& series = chart.series[i];
    json written = {{"name", Shown(series.name)},
                    {"style", StyleName(series.style)},
                    {"color", std::clamp(series.color, 0, 7)},
                    {"y", Numbers(series.y)}};
    // A series with a point in every row needs no list of rows.
    if (aligned.rows[i].size() < aligned.x.size()) written["at"] = aligned.rows[i];
    if (!series.low.empty()) {
      written["low"] = Numbers(series.low);
      written["high"] = Numbers(series.high);
    }
    value["series"].push_back(std::move(written));
  }
  for (const ChartLevel& level : chart.levels) {
    if (!std::isfinite(level.value)) continue;
    value["levels"].push_back(
        {{"name", Shown(level.name)}, {"value", Number(level.value)}});
  }
  return value.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

struct NumberColumn {
  std::string name;
  std::vector<std::string> texts;  // one a row
};

std::vector<NumberColumn> NumberColumns(const Chart& chart, const ChartRows& aligned) {
  std::vector<NumberColumn> columns;
  auto& x = columns.emplace_back(NumberColumn{Shown(chart.x.name), {}});
  for (const double value : aligned.x) {
    const bool named = IsWhole(value) && value >= 0.0 &&
                       value < static_cast<double>(chart.x.categories.size());
    x.texts.push_back(named ? Shown(chart.x.categories[static_cast<std::size_t>(value)])
                            : NumberText(value));
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const ChartSeries& series = chart.series[i];
    const auto add = [&](const std::string& name, const std::vector<double>& values) {
      auto& column = columns.emplace_back(NumberColumn{name, {}});
      column.texts.resize(aligned.x.size());
      for (std::size_t point = 0; point < values.size(); ++point) {
        column.texts[aligned.rows[i][point]] = NumberText(values[point]);
      }
    };
    const std::string name = Shown(series.name);
    add(name, series.y);
    if (series.low.empty()) continue;
    add(name + " low", series.low);
    add(name + " high", series.high);
  }
  return columns;
}

void AddNumbers(Markup& page, const Chart& chart, const ChartRows& aligned) {
  const auto columns = NumberColumns(chart, aligned);
  page.Open("details").Element("summary", "Numbers").Line();
  page.Open("div", {{"class", "scroll tall"},
                    {"tabindex", "0"},
                    {"role", "region"},
                    {"aria-label", "Numbers of " + Shown(chart.heading)}});
  page.Open("table").Open("thead").Open("tr");
  for (const auto& column : columns) {
    page.Element("th", column.name, {{"scope", "col"}, {"class", "num"}});
  }
  page.Close().Close().Line().Open("tbody").Line();
  for (std::size_t row = 0; row < aligned.x.size(); ++row) {
    page.Open("tr");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i == 0) {
        page.Element("th", columns[i].texts[row], {{"scope", "row"}, {"class", "num"}});
      } else {
        page.Element("td", columns[i].texts[row], {{"class", "num"}});
      }
    }
    page.Close().Line();
  }
  page.Close().Close().Close().Close().Line();
}

bool HasValues(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const auto& series) {
    return std::any_of(series.y.begin(), series.y.end(),
                       [](double value) { return std::isfinite(value); });
  });
}

}  // namespace

std::string FigureId(std::string_view id) {
  std::string safe;
  for (const char c : id) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '_';
    safe += plain ? c : '-';
  }
  return safe.empty() ? "chart" : safe;
}

std::string ScriptJson(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos;
       at = json.find('<', at)) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

void AddFigure(Markup& page, const Chart& whole) {
  const Chart chart = ThinnedChart(whole);
  page.Open("figure", {{"class", "chart"}, {"id", "chart-" + FigureId(chart.id)}});
  page.Element("h3", Shown(chart.heading));
  page.Element("figcaption", Shown(chart.caption)).Line();
  if (!HasValues(chart)) {
    page.Element("p", "No values to show.", {{"class", "muted none"}}).Close().Line();
    return;
  }
  const ChartRows aligned = AlignRows(chart);
  page.Open("script", {{"type", "application/json"}});
  page.Raw(ScriptJson(ChartJson(chart, aligned))).Close().Line();
  AddNumbers(page, chart, aligned);
  page.Close().Line();
}

void AddFigures(Markup& page, const std::vector<Chart>& charts) {
  if (charts.empty()) return;
  page.Open("div", {{"class", "charts"}}).Line();
  for (const Chart& chart : charts) AddFigure(page, chart);
  page.Close().Line();
}

}  // namespace coden
