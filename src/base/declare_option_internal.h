#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "coden/base/error.h"
#include "coden/base/option.h"

namespace coden {

/// Bind a value type (setting_value_internal.h) to the member it fills: `access` returns
/// that member of an Options.
template <typename Options, typename Access, typename Value>
Option<Options> DeclareOption(const std::string& key, Access access, const Value& value,
                              std::string help) {
  Option<Options> option;
  option.key = key;
  option.rule = value.rule();
  option.help = std::move(help);
  option.set = [key, access, value](Options& options, std::string_view text) {
    auto parsed = value.Parse(text);
    if (!parsed) {
      return UsageError("`", key, "` must be ", value.rule(), ": '", text, "'");
    }
    access(options) = *std::move(parsed);
    return arrow::Status::OK();
  };
  option.get = [access, value](const Options& options) {
    return value.Format(access(const_cast<Options&>(options)));
  };
  option.default_text = option.get(Options{});
  return option;
}

}  // namespace coden
