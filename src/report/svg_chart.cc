#include "report/svg_chart_internal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coden/report/printable.h"
#include "report/axis_internal.h"
#include "report/markup_internal.h"

namespace coden {

namespace {

// One picture unit is one pixel on a page of two columns; on a phone it is about 0.75.
constexpr double kWidth = 460.0;
constexpr double kHeight = 250.0;
constexpr double kLeft = 52.0;
constexpr double kRight = kWidth - 14.0;
constexpr double kTop = 26.0;
constexpr double kBottom = kHeight - 42.0;
constexpr std::size_t kMaxPoints = 600;
constexpr std::size_t kMaxDots = 80;  // more of them would hide the line

std::string Number(double value) { return FormatFixed(value, 1); }

bool IsDrawn(const ChartPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

std::vector<ChartPoint> Thinned(const std::vector<ChartPoint>& points) {
  if (points.size() <= kMaxPoints) return points;
  std::vector<ChartPoint> kept;
  const std::size_t num_stretches = kMaxPoints / 2;
  for (std::size_t i = 0; i < num_stretches; ++i) {
    const auto at = [&](std::size_t stretch) {
      return points.begin() +
             static_cast<std::ptrdiff_t>(points.size() * stretch / num_stretches);
    };
    std::vector<ChartPoint> drawn;
    std::copy_if(at(i), at(i + 1), std::back_inserter(drawn), IsDrawn);
    if (drawn.empty()) continue;
    auto [low, high] = std::minmax_element(
        drawn.begin(), drawn.end(),
        [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; });
    if (low > high) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  return kept;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class ChartDrawing {
 public:
  explicit ChartDrawing(const Chart& chart) : chart_(chart) {
    Range x_range, y_range;
    for (const auto& series : chart.series) {
      for (const auto& point : series.points) {
        if (!IsDrawn(point)) continue;
        has_points_ = true;
        x_range.Include(point.x);
        y_range.Include(point.y);
        if (series.style == SeriesStyle::kLine && !chart.zero_y) continue;
        y_range.Include(0.0);
        has_bars_ |= series.style == SeriesStyle::kBars;
      }
    }
    for (const auto& level : chart.levels) {
      if (std::isfinite(level.value)) y_range.Include(level.value);
    }
    if (has_points_ && has_bars_) x_range = {x_range.low - 0.5, x_range.high + 0.5};
    x_ = MakeAxis(x_range.low, x_range.high,
                  {.max_ticks = 7, .whole_numbers = chart.whole_x, .round_out = false});
    y_ = MakeAxis(y_range.low, y_range.high, {.whole_numbers = chart.whole_y});
  }

  std::string Draw() {
    svg_.Open("svg", {{"class", "chart"},
                      {"viewBox", "0 0 " + Number(kWidth) + " " + Number(kHeight)},
                      {"role", "img"},
                      {"aria-label", chart_.label}});
    if (!has_points_) {
      svg_.Element("text", "no values",
                   {{"class", "none"},
                    {"x", Number(kWidth / 2)},
                    {"y", Number(kHeight / 2)},
                    {"text-anchor", "middle"}});
      return svg_.Finish();
    }
    DrawAxes();
    for (const auto& series : chart_.series) DrawSeries(series);
    DrawLevels();
    return svg_.Finish();
  }

 private:
  double X(double value) const { return x_.Place(value, kLeft + 6.0, kRight - 6.0); }
  double Y(double value) const { return y_.Place(value, kBottom, kTop); }

  void Line(std::string_view style, double x1, double y1, double x2, double y2) {
    svg_.Element("line", "",
                 {{"class", style},
                  {"x1", Number(x1)},
                  {"y1", Number(y1)},
                  {"x2", Number(x2)},
                  {"y2", Number(y2)}});
  }

  void Label(std::string_view style, double x, double y, std::string_view anchor,
             std::string_view text) {
    svg_.Element(
        "text", text,
        {{"class", style}, {"x", Number(x)}, {"y", Number(y)}, {"text-anchor", anchor}});
  }

  void DrawAxes() {
    for (const double tick : y_.ticks) {
      Line("grid", kLeft, Y(tick), kRight, Y(tick));
      Label("tick", kLeft - 6.0, Y(tick) + 4.0, "end", TickText(tick, y_));
    }
    Line("axis", kLeft, kBottom, kRight, kBottom);
    for (const double tick : x_.ticks) {
      Line("axis", X(tick), kBottom, X(tick), kBottom + 4.0);
      Label("tick", X(tick), kBottom + 17.0, "middle", TickText(tick, x_));
    }
    Label("name", (kLeft + kRight) / 2, kHeight - 6.0, "middle", chart_.x_name);
    Label("name", 4.0, 13.0, "start", chart_.y_name);
  }

  void DrawLevels() {
    for (const auto& level : chart_.levels) {
      if (!std::isfinite(level.value)) continue;
      const double y = Y(level.value);
      Line("level", kLeft, y, kRight, y);
      Label("level-name", kRight, y - 4.0, "end", level.name);
    }
  }

  void DrawSeries(const ChartSeries& series) {
    const std::string color = "c" + std::to_string(std::clamp(series.color, 0, 2));
    const std::vector<ChartPoint> points = Thinned(series.points);
    svg_.Open("g", {{"class", color}});
    if (series.style == SeriesStyle::kLine) DrawPath(points);
    const std::string radius = points.size() <= kMaxDots ? "2.6" : "0.8";
    for (const auto& point : points) {
      if (!IsDrawn(point)) continue;
      if (series.style == SeriesStyle::kBars) {
        DrawBar(point);
        continue;
      }
      if (series.style == SeriesStyle::kStems) {
        Line("stem", X(point.x), Y(0.0), X(point.x), Y(point.y));
      }
      svg_.Open("circle", {{"class", "dot"},
                           {"cx", Number(X(point.x))},
                           {"cy", Number(Y(point.y))},
                           {"r", radius}});
      svg_.Element("title", point.title).Close();
    }
    svg_.Close().Line();
  }

  void DrawPath(const std::vector<ChartPoint>& points) {
    std::string path;
    bool pen_down = false;
    for (const auto& point : points) {
      if (IsDrawn(point)) {
        path += (pen_down ? "L" : "M") + Number(X(point.x)) + " " + Number(Y(point.y));
      }
      pen_down = IsDrawn(point);
    }
    svg_.Element("path", "", {{"class", "line"}, {"d", path}});
  }

  void DrawBar(const ChartPoint& point) {
    const double slot = (kRight - kLeft - 12.0) / (x_.high - x_.low);
    const double width = std::clamp(0.7 * slot, 1.0, 48.0);
    const double top = std::min(Y(point.y), Y(0.0));
    const double height = std::abs(Y(point.y) - Y(0.0));
    svg_.Open("rect", {{"class", "bar"},
                       {"x", Number(X(point.x) - width / 2)},
                       {"y", Number(top)},
                       {"width", Number(width)},
                       {"height", Number(height)}});
    svg_.Element("title", point.title).Close();
  }

  const Chart& chart_;
  Axis x_, y_;
  bool has_points_ = false;
  bool has_bars_ = false;
  Markup svg_;
};

}  // namespace

std::string SvgChart(const Chart& chart) { return ChartDrawing(chart).Draw(); }

std::string ChartLegend(const Chart& chart) {
  if (chart.series.size() < 2) return {};
  Markup html;
  html.Open("ul", {{"class", "legend"}});
  for (const auto& series : chart.series) {
    html.Open("li", {{"class", "c" + std::to_string(std::clamp(series.color, 0, 2))}});
    html.Text(series.name).Close();
  }
  return html.Finish();
}

}  // namespace coden
