// How a generator declares its options and checks them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/util/key_value_metadata.h>

#include "base/declare_option_internal.h"
#include "coden/base/error.h"
#include "coden/generate/generate.h"
#include "settings/setting_value_internal.h"

namespace coden::generate {

/// The type of `out`, the one option without a default.
struct Directory {
  std::string rule() const { return "a directory"; }
  std::optional<std::string> Parse(std::string_view text) const {
    if (text.empty()) return std::nullopt;
    return std::string(text);
  }
  std::string Format(const std::string& value) const { return value; }
};

/// Declare the flag that fills `member`.
template <typename Options, typename Member, typename Value>
GenerateFlag<Options> Declare(const std::string& name, Member Options::* member,
                              const Value& value, std::string help) {
  return DeclareOption<Options>(
      name, [member](Options& options) -> Member& { return options.*member; }, value,
      std::move(help));
}

/// Check options that did not come through the flags: write each out and read it back.
template <typename Options>
arrow::Status CheckEach(const Options& options) {
  Options copy;
  for (const auto& flag : Options::Flags()) {
    ARROW_RETURN_NOT_OK(flag.set(copy, flag.get(options)));
  }
  return arrow::Status::OK();
}

/// Say in the file's metadata how it was made. `out` is left out: it is not in the data.
template <typename Options>
std::shared_ptr<const arrow::KeyValueMetadata> Provenance(std::string_view generator,
                                                          const Options& options) {
  std::string command = "generate " + std::string(generator);
  for (const auto& flag : Options::Flags()) {
    if (flag.key != "out") command += " --" + flag.key + " " + flag.get(options);
  }
  return arrow::key_value_metadata({"coden.generator"}, {command});
}

}  // namespace coden::generate
