#include "report/chart_thinning_internal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "coden/base/printable.h"

namespace coden {

namespace {

void KeepPoints(ChartSeries& series, const std::vector<std::size_t>& kept) {
  for (auto* values : {&series.x, &series.y, &series.low, &series.high}) {
    if (values->empty()) continue;
    std::vector<double> chosen;
    chosen.reserve(kept.size());
    for (const std::size_t i : kept) chosen.push_back((*values)[i]);
    *values = std::move(chosen);
  }
}

void DropNonFiniteX(ChartSeries& series) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (std::isfinite(series.x[i])) kept.push_back(i);
  }
  if (kept.size() < series.x.size()) KeepPoints(series, kept);
}

// Where `values` are lowest and highest from `first` to `last`; nothing if none is
// finite.
void AddExtremes(const std::vector<double>& values, std::size_t first, std::size_t last,
                 std::vector<std::size_t>& kept) {
  std::size_t low = last, high = last;
  for (std::size_t i = first; i < last; ++i) {
    if (!std::isfinite(values[i])) continue;
    if (low == last || values[i] < values[low]) low = i;
    if (high == last || values[i] > values[high]) high = i;
  }
  if (low == last) return;
  kept.push_back(low);
  kept.push_back(high);
}

// `group`: series that share one x, of more than `max_points`.
void ThinGroup(const std::vector<ChartSeries*>& group, std::size_t max_points) {
  std::vector<const std::vector<double>*> lists;
  for (const ChartSeries* series : group) {
    for (const auto* values : {&series->y, &series->low, &series->high}) {
      if (!values->empty()) lists.push_back(values);
    }
  }
  const std::size_t num_points = group.front()->x.size();
  const std::size_t most = max_points / std::max<std::size_t>(1, 2 * lists.size());
  const std::size_t num_stretches = std::max<std::size_t>(20, most);
  std::vector<std::size_t> kept = {0, num_points - 1};
  for (std::size_t stretch = 0; stretch < num_stretches; ++stretch) {
    const std::size_t first = num_points * stretch / num_stretches;
    const std::size_t last = num_points * (stretch + 1) / num_stretches;
    const std::size_t num_kept = kept.size();
    for (const auto* values : lists) AddExtremes(*values, first, last, kept);
    // A stretch without any value stays a gap.
    if (kept.size() == num_kept && first < last) kept.push_back(first);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (ChartSeries* series : group) KeepPoints(*series, kept);
}

}  // namespace

Chart ThinnedChart(Chart chart, std::size_t max_points) {
  std::size_t num_before = 0, num_after = 0;
  for (ChartSeries& series : chart.series) DropNonFiniteX(series);
  for (const ChartSeries& series : chart.series) num_before += series.x.size();
  std::vector<bool> done(chart.series.size(), false);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (done[i] || chart.series[i].x.size() <= max_points) continue;
    std::vector<ChartSeries*> group;
    for (std::size_t j = i; j < chart.series.size(); ++j) {
      if (done[j] || chart.series[j].x != chart.series[i].x) continue;
      done[j] = true;
      group.push_back(&chart.series[j]);
    }
    ThinGroup(group, max_points);
  }
  for (const ChartSeries& series : chart.series) num_after += series.x.size();
  if (num_after < num_before) {
    chart.caption += " Thinned to " + FormatCount(static_cast<std::int64_t>(num_after)) +
                     " of " + FormatCount(static_cast<std::int64_t>(num_before)) +
                     " points; the extremes of each stretch stay.";
  }
  return chart;
}

ChartRows AlignRows(const Chart& chart) {
  // A row is an x and how often the same x came before it in its series.
  using Place = std::pair<double, std::size_t>;
  std::vector<std::vector<Place>> places;
  std::vector<Place> all;
  for (const ChartSeries& series : chart.series) {
    auto& own = places.emplace_back();
    for (const double x : series.x) {
      const bool again = !own.empty() && own.back().first == x;
      own.emplace_back(x, again ? own.back().second + 1 : 0);
    }
    all.insert(all.end(), own.begin(), own.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  ChartRows aligned;
  for (const Place& place : all) aligned.x.push_back(place.first);
  for (const auto& own : places) {
    auto& rows = aligned.rows.emplace_back();
    for (const Place& place : own) {
      const auto found = std::lower_bound(all.begin(), all.end(), place);
      rows.push_back(static_cast<std::size_t>(found - all.begin()));
    }
  }
  return aligned;
}

}  // namespace coden
