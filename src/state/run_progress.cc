#include "coden/state/run_progress.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "store/json_field_internal.h"

namespace coden {

namespace {

using nlohmann::json;
using Field = JsonField<json>;

constexpr int kFormatVersion = 2;

json ToJson(const ClockMemory& clock) {
  return {{"start_time", clock.start_time},
          {"rows", clock.rows},
          {"last_time", clock.last_time},
          {"num_predictions", clock.num_predictions},
          {"rows_per_batch", clock.rows_per_batch}};
}

ClockMemory ClockFromJson(const json& value) {
  return {Field(value, "start_time"), Field(value, "rows"), Field(value, "last_time"),
          Field(value, "num_predictions"), Field(value, "rows_per_batch")};
}

json ToJson(const SamplerMemory& sampler) {
  return {{"num_snapshots", sampler.num_snapshots},
          {"prediction", sampler.prediction},
          {"num_events", sampler.num_events},
          {"mass", sampler.mass},
          {"repeated", sampler.counts.repeated},
          {"self_loops", sampler.counts.self_loops},
          {"missing_deletions", sampler.counts.missing_deletions},
          {"expired", sampler.counts.expired}};
}

SamplerMemory SamplerFromJson(const json& value) {
  return {Field(value, "num_snapshots"),
          Field(value, "prediction"),
          Field(value, "num_events"),
          Field(value, "mass"),
          {Field(value, "repeated"), Field(value, "self_loops"),
           Field(value, "missing_deletions"), Field(value, "expired")}};
}

// Whether the numbers agree that lead into memory: the segments hold all events in order,
// the files all columns.
bool IsWhole(const RunProgress& progress) {
  constexpr std::int64_t kMostRows = std::numeric_limits<std::int64_t>::max() / 4;
  std::int64_t events = 0;
  for (const LogSegment& segment : progress.log) {
    if (segment.first_row < 0 || segment.first_row > kMostRows ||
        segment.num_rows > kMostRows || segment.num_events < 1 ||
        segment.num_events > segment.num_rows || segment.first_event != events ||
        events > kMostRows) {
      return false;
    }
    events = segment.end_event();
  }
  int end = 0;
  for (const ColumnRange& file : progress.column_files) {
    if (file.begin != end || file.end < end) return false;
    end = file.end;
  }
  const auto columns = static_cast<std::size_t>(end);
  return progress.num_snapshots >= 0 && progress.engine.bounds.size() == columns &&
         progress.engine.in_double.size() == columns;
}

}  // namespace

std::string ToJson(const RunProgress& progress) {
  json log = json::array();
  for (const LogSegment& segment : progress.log) {
    log.push_back({{"file", segment.file},
                   {"first_row", segment.first_row},
                   {"num_rows", segment.num_rows},
                   {"first_event", segment.first_event},
                   {"num_events", segment.num_events},
                   {"hash", segment.hash}});
  }
  json column_files = json::array();
  for (const ColumnRange& range : progress.column_files)
    column_files.push_back({range.begin, range.end});
  const json value = {
      {"format_version", kFormatVersion},       {"clock", ToJson(progress.clock)},
      {"sampler", ToJson(progress.sampler)},    {"log", log},
      {"feature_rows", progress.feature_rows},  {"feature_hash", progress.feature_hash},
      {"update_hash", progress.update_hash},    {"num_snapshots", progress.num_snapshots},
      {"pushed", progress.engine.pushed},       {"bounds", progress.engine.bounds},
      {"in_double", progress.engine.in_double}, {"column_files", column_files}};
  return value.dump(1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace) +
         "\n";
}

arrow::Result<RunProgress> ProgressFromJson(const std::string& text,
                                            const std::string& shown) {
  const json value = json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  // The library reports a missing key or a wrong type by throwing; the fence is here.
  try {
    if (value.at("format_version") != kFormatVersion) {
      return CorruptionError(
          "'", shown, "' has a format this version does not know; ",
          "rebuild the run with --force: ", value.at("format_version").dump());
    }
    RunProgress progress;
    progress.clock = ClockFromJson(value.at("clock"));
    if (progress.clock.num_predictions < 0)
      throw json::other_error::create(501, "num_predictions is negative", &value);
    progress.sampler = SamplerFromJson(value.at("sampler"));
    for (const json& segment : value.at("log")) {
      progress.log.push_back({segment.at("file"), Field(segment, "first_row"),
                              Field(segment, "num_rows"), Field(segment, "first_event"),
                              Field(segment, "num_events"), segment.at("hash")});
    }
    progress.feature_rows = Field(value, "feature_rows");
    progress.feature_hash = value.at("feature_hash");
    progress.update_hash = value.at("update_hash");
    progress.num_snapshots = Field(value, "num_snapshots");
    progress.engine.pushed = value.at("pushed");
    progress.engine.bounds = value.at("bounds").get<std::vector<double>>();
    progress.engine.in_double = value.at("in_double").get<std::vector<bool>>();
    for (const json& range : value.at("column_files"))
      progress.column_files.push_back({Field(range.at(0)), Field(range.at(1))});
    if (!IsWhole(progress)) {
      return CorruptionError("'", shown,
                             "' contradicts itself; rebuild the run with --force");
    }
    return progress;
  } catch (const json::exception& exception) {
    return CorruptionError(
        "'", shown, "' is damaged; rebuild the run with --force: ", exception.what());
  }
}

}  // namespace coden
