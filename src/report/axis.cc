#include "report/axis_internal.h"

#include <algorithm>
#include <cmath>

#include "coden/report/printable.h"

namespace coden {

namespace {

// Beyond this the distance of two values could overflow.
constexpr double kLargest = 1e300;

double NiceStep(double span, int max_ticks) {
  const double rough = span / std::max(1, max_ticks - 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

}  // namespace

double Axis::Place(double value, double start, double end) const {
  const double share = (value - low) / (high - low);
  return start + std::clamp(share, 0.0, 1.0) * (end - start);
}

Axis MakeAxis(double low, double high, const AxisOptions& options) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) low = 0.0, high = 1.0;
  low = std::clamp(low, -kLargest, kLargest);
  high = std::clamp(high, -kLargest, kLargest);
  // A span that the digits of a double cannot divide into ticks counts as one value.
  const double magnitude = std::max(std::abs(low), std::abs(high));
  if (high - low <= magnitude * 1e-12 || high - low < 1e-290) {
    const double margin = options.whole_numbers ? std::max(1.0, magnitude * 1e-6)
                          : magnitude < 1e-280  ? 1.0
                                                : magnitude * 0.1;
    low -= margin;
    high += margin;
  }
  Axis axis{low, high, NiceStep(high - low, options.max_ticks), {}};
  if (options.whole_numbers) axis.step = std::max(1.0, axis.step);
  if (options.round_out) {
    axis.low = std::floor(low / axis.step + 1e-9) * axis.step;
    axis.high = std::ceil(high / axis.step - 1e-9) * axis.step;
  }
  constexpr int kMostTicks = 50;
  const double first = std::ceil(axis.low / axis.step - 1e-9);
  const double last = std::floor(axis.high / axis.step + 1e-9);
  for (int tick = 0; tick < kMostTicks && first + tick <= last; ++tick) {
    axis.ticks.push_back((first + tick) * axis.step);
  }
  return axis;
}

std::string TickText(double value, const Axis& axis) {
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  if (std::abs(value) < axis.step * 1e-6) return "0";
  if (largest >= 1e15 || axis.step < 1e-5) {
    std::string text = FormatShortest(std::round(value / axis.step) * axis.step);
    if (text.size() <= 7) return text;
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
    return FormatFixed(value / std::pow(10.0, exponent), 2) + "e" +
           std::to_string(exponent);
  }
  // Up to five digits stay as they are: a year or a small count needs no unit.
  const bool giga = largest >= 1e9, mega = largest >= 1e6, kilo = largest >= 1e5;
  const double unit = giga ? 1e9 : mega ? 1e6 : kilo ? 1e3 : 1.0;
  const double digits = -std::floor(std::log10(axis.step / unit) + 1e-9);
  return FormatFixed(value / unit, static_cast<int>(std::clamp(digits, 0.0, 6.0))) +
         (giga   ? "G"
          : mega ? "M"
          : kilo ? "k"
                 : "");
}

}  // namespace coden
