#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <arrow/status.h>

namespace coden {

/// One member of an options struct as users see it, declared once: flags, files, help,
/// checks and reference pages are all made from this.
template <typename Options>
struct Option {
  std::string key;           ///< section.name, or a name alone
  std::string rule;          ///< which values are allowed, in words
  std::string help;          ///< what it does, one sentence
  std::string default_text;  ///< as it would be typed; empty where there is no default
  std::function<arrow::Status(Options&, std::string_view)> set;
  std::function<std::string(const Options&)> get;

  std::string_view section() const {
    return std::string_view(key).substr(0, key.find('.'));
  }
  std::string_view name() const {
    return std::string_view(key).substr(key.find('.') + 1);
  }
};

}  // namespace coden
