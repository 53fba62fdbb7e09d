#include "read/column_guess_internal.h"

#include <algorithm>
#include <cctype>

namespace coden {

namespace {

constexpr std::string_view kSource[] = {
    "src", "source", "from", "user_id", "user", "sender", "fromnodeid", "source_id", "u"};
constexpr std::string_view kTarget[] = {"dst",       "target", "to",       "destination",
                                        "item_id",   "item",   "receiver", "tonodeid",
                                        "target_id", "v",      "i"};
constexpr std::string_view kTime[] = {"time", "timestamp", "ts", "date", "datetime", "t"};
constexpr std::string_view kOp[] = {"op"};
constexpr std::string_view kNode[] = {"node",   "node_id", "nodeid", "id",
                                      "vertex", "user_id", "user",   "name"};
constexpr std::string_view kVector[] = {"x",         "feature",    "features",
                                        "embedding", "embeddings", "vector"};
constexpr std::string_view kLabel[] = {"label", "class", "y", "labels", "category"};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

}  // namespace

std::span<const std::string_view> UsualNames(ColumnRole role) {
  switch (role) {
    case ColumnRole::kSource:
      return kSource;
    case ColumnRole::kTarget:
      return kTarget;
    case ColumnRole::kTime:
      return kTime;
    case ColumnRole::kOp:
      return kOp;
    case ColumnRole::kNode:
      return kNode;
    case ColumnRole::kVector:
      return kVector;
    case ColumnRole::kLabel:
      return kLabel;
  }
  return {};
}

int GuessColumn(std::span<const std::string> names, ColumnRole role) {
  for (const std::string_view usual : UsualNames(role)) {
    for (std::size_t column = 0; column < names.size(); ++column) {
      if (Lower(names[column]) == usual) return static_cast<int>(column);
    }
  }
  return kNoColumn;
}

}  // namespace coden
