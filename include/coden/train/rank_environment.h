#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <arrow/result.h>

namespace coden {

/// What a launcher such as torchrun tells a process about the others it trains with.
struct RankEnvironment {
  int rank = 0;            ///< RANK
  int size = 1;            ///< WORLD_SIZE
  std::string address;     ///< MASTER_ADDR
  std::uint16_t port = 0;  ///< MASTER_PORT
  /// Whether the launcher keeps the store there; without one rank 0 does.
  bool launcher_store = false;  ///< TORCHELASTIC_USE_AGENT_STORE
  std::string attempt = "0";    ///< TORCHELASTIC_RESTART_COUNT
};

/// Read it from the variables that `lookup` knows (std::getenv). Nothing where WORLD_SIZE
/// is not set, or 1: this process trains alone, whatever the others say. A usage error
/// where a variable is missing or is no number.
arrow::Result<std::optional<RankEnvironment>> ReadRankEnvironment(
    const std::function<const char*(const char*)>& lookup);

}  // namespace coden
