// How an importer declares its options; the types that only importers have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/util/key_value_metadata.h>

#include "base/declare_option_internal.h"
#include "coden/import/import.h"
#include "generate/flag_internal.h"
#include "settings/setting_value_internal.h"

namespace coden::importing {

/// A number above 0, or nothing.
struct Scale {
  std::string rule() const { return "a number above 0, or none"; }
  std::optional<std::optional<double>> Parse(std::string_view text) const {
    if (text == "none") return std::optional<double>();
    const auto number = setting_value::ParseNumber<double>(text);
    if (!number || !(*number > 0.0) || !std::isfinite(*number)) return std::nullopt;
    return std::optional<std::optional<double>>(std::in_place, *number);
  }
  std::string Format(const std::optional<double>& value) const {
    return value ? setting_value::FormatReal(*value) : "none";
  }
};

/// Declare the flag that fills `member`, which may be one of ImportOptions.
template <typename Options, typename Class, typename Member, typename Value>
ImportFlag<Options> Declare(const std::string& name, Member Class::* member,
                            const Value& value, std::string help) {
  return DeclareOption<Options>(
      name, [member](Options& options) -> Member& { return options.*member; }, value,
      std::move(help));
}

/// The flags of every importer, followed by `more`.
template <typename Options>
std::vector<ImportFlag<Options>> WithSharedFlags(std::vector<ImportFlag<Options>> more) {
  using namespace setting_value;
  std::vector<ImportFlag<Options>> flags = {
      Declare<Options>("out", &ImportOptions::out, generate::Directory{},
                       "Output directory."),
      Declare<Options>("ids", &ImportOptions::ids,
                       Choice<ImportIds>{{{"auto", ImportIds::kAuto},
                                          {"int", ImportIds::kInteger},
                                          {"string", ImportIds::kString}}},
                       "Type of the node ids; auto infers it from the first rows."),
      Declare<Options>(
          "time-scale", &ImportOptions::time_scale, Scale{},
          "Factor for numeric times, which are then rounded: 1000 converts seconds "
          "to milliseconds. Without it, fractional times are refused."),
      Declare<Options>("sort", &ImportOptions::sort, Boolean{},
                       "Sort the rows by time. The sort is stable."),
      Declare<Options>(
          "on-error", &ImportOptions::on_error,
          Choice<OnRowError>{{{"stop", OnRowError::kStop}, {"skip", OnRowError::kSkip}}},
          "What to do with a row that cannot be parsed: stop, or skip and "
          "count it."),
  };
  for (auto& flag : more) flags.push_back(std::move(flag));
  return flags;
}

/// Say in the files' metadata how they were made. `out` is left out: it is not in the
/// data.
template <typename Options>
std::shared_ptr<const arrow::KeyValueMetadata> Provenance(std::string_view importer,
                                                          const Options& options) {
  std::string command = "import " + std::string(importer) + " " + options.file;
  for (const auto& flag : Options::Flags()) {
    if (flag.key == "out" || flag.get(options) == flag.default_text) continue;
    command += " --" + flag.key + " " + flag.get(options);
  }
  return arrow::key_value_metadata({"coden.importer"}, {command});
}

}  // namespace coden::importing
