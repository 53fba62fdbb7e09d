#include "coden/train/rank_environment.h"

#include <charconv>
#include <string_view>

#include "coden/base/error.h"
#include "coden/base/printable.h"

namespace coden {

namespace {

using Lookup = std::function<const char*(const char*)>;

// Scripts clear a variable by making it empty.
std::string_view ValueOf(const Lookup& lookup, const char* name) {
  const char* value = lookup(name);
  return value == nullptr ? std::string_view() : value;
}

arrow::Result<int> NumberOf(const Lookup& lookup, const char* name, int least, int most) {
  const std::string_view text = ValueOf(lookup, name);
  if (text.empty()) {
    return UsageError("WORLD_SIZE asks for training with several processes, but ", name,
                      " is not set; start them with torchrun, or unset WORLD_SIZE");
  }
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < least || number > most) {
    return UsageError("the environment variable ", name, " must be a number from ", least,
                      " to ", most, "; start the processes with torchrun, or unset ",
                      "WORLD_SIZE: '", Printable(std::string(text)), "'");
  }
  return number;
}

}  // namespace

arrow::Result<std::optional<RankEnvironment>> ReadRankEnvironment(const Lookup& lookup) {
  constexpr int kMostRanks = 4096;
  if (ValueOf(lookup, "WORLD_SIZE").empty()) return std::nullopt;
  RankEnvironment found;
  ARROW_ASSIGN_OR_RAISE(found.size, NumberOf(lookup, "WORLD_SIZE", 1, kMostRanks));
  if (found.size == 1) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(found.rank, NumberOf(lookup, "RANK", 0, found.size - 1));
  ARROW_ASSIGN_OR_RAISE(const int port, NumberOf(lookup, "MASTER_PORT", 1, 65535));
  found.port = static_cast<std::uint16_t>(port);
  found.address = ValueOf(lookup, "MASTER_ADDR");
  if (found.address.empty()) {
    return UsageError(
        "WORLD_SIZE asks for training with several processes, but MASTER_ADDR is not "
        "set; start them with torchrun, or unset WORLD_SIZE");
  }
  found.launcher_store = ValueOf(lookup, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  const std::string_view attempt = ValueOf(lookup, "TORCHELASTIC_RESTART_COUNT");
  if (!attempt.empty()) found.attempt = attempt;
  return found;
}

}  // namespace coden
