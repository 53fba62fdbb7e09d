#include "train/node_split_internal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <arrow/array.h>
#include <xxhash.h>

#include "base/random_internal.h"
#include "coden/base/error.h"
#include "coden/read/labels.h"

namespace coden {

namespace {

// Streams that nothing else draws from: the part of a node must follow neither from its
// fold nor from features or logs that were generated with the same seed.
constexpr std::uint64_t kPartStream = 0x70617274u;
constexpr std::uint64_t kFoldStream = 0x666f6c64u;

// The first of `order` train, the last test; nodes that are not in it do neither.
std::vector<Part> Cut(std::span<const std::int64_t> order, std::size_t all_nodes,
                      const SplitShares& shares) {
  const auto num_nodes = static_cast<std::int64_t>(order.size());
  const auto rounded = [num_nodes](double share) {
    return std::min<std::int64_t>(num_nodes,
                                  std::llround(share * static_cast<double>(num_nodes)));
  };
  const std::int64_t train_end = rounded(shares.train);
  const std::int64_t validate_end =
      std::min(num_nodes, train_end + rounded(shares.validate));
  std::vector<Part> split(all_nodes, Part::kUnused);
  for (std::int64_t i = 0; i < num_nodes; ++i) {
    split[order[i]] = i < train_end      ? Part::kTrain
                      : i < validate_end ? Part::kValidate
                                         : Part::kTest;
  }
  return split;
}

std::vector<std::int64_t> InOrder(std::size_t num_nodes) {
  std::vector<std::int64_t> order(num_nodes);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

}  // namespace

std::vector<std::uint64_t> NodeKeys(const arrow::Array& node_ids) {
  std::vector<std::uint64_t> keys;
  keys.reserve(static_cast<std::size_t>(node_ids.length()));
  for (std::int64_t i = 0; i < node_ids.length(); ++i) {
    if (node_ids.type_id() == arrow::Type::STRING) {
      const auto id = static_cast<const arrow::StringArray&>(node_ids).GetView(i);
      keys.push_back(XXH3_64bits(id.data(), id.size()));
    } else {
      const std::int64_t id = static_cast<const arrow::Int64Array&>(node_ids).Value(i);
      keys.push_back(static_cast<std::uint64_t>(id));
    }
  }
  return keys;
}

std::vector<Part> SplitNodes(std::span<const std::uint64_t> keys,
                             const SplitShares& shares, std::uint64_t seed) {
  std::vector<Part> split;
  split.reserve(keys.size());
  for (const std::uint64_t key : keys) {
    const double uniform = Random(seed, kPartStream, key).Uniform();
    split.push_back(uniform < shares.train                     ? Part::kTrain
                    : uniform < shares.train + shares.validate ? Part::kValidate
                                                               : Part::kTest);
  }
  return split;
}

std::vector<Part> SplitByTime(std::span<const EventTime> first_events,
                              const SplitShares& shares) {
  std::vector<std::int64_t> order = InOrder(first_events.size());
  std::erase_if(order,
                [&](std::int64_t node) { return first_events[node] == kNeverSeen; });
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return first_events[a] < first_events[b];
  });
  return Cut(order, first_events.size(), shares);
}

arrow::Result<std::vector<Part>> ReadSplit(const InputOptions& input,
                                           const arrow::Array& node_ids) {
  ARROW_ASSIGN_OR_RAISE(const Labels named, ReadSplitRows(input));
  ARROW_RETURN_NOT_OK(CheckSplitValues(named, input.split));
  if (!named.nodes->id_type()->Equals(node_ids.type())) {
    return InputError("'", input.split, "' and the labels must name nodes by one type: ",
                      named.nodes->id_type()->ToString(), ", ",
                      node_ids.type()->ToString());
  }
  const auto& names = static_cast<const arrow::StringArray&>(*named.classes);
  std::vector<Part> parts;
  for (std::int64_t i = 0; i < names.length(); ++i) {
    const std::string_view name = names.GetView(i);
    if (name == "train") {
      parts.push_back(Part::kTrain);
    } else if (name == "validate") {
      parts.push_back(Part::kValidate);
    } else {
      parts.push_back(Part::kTest);
    }
  }
  const std::vector<std::int32_t> of_named = named.At(0);
  std::vector<NodeId> found;
  ARROW_RETURN_NOT_OK(named.nodes->Find(node_ids, &found));
  std::vector<Part> split;
  split.reserve(found.size());
  for (const NodeId node : found)
    split.push_back(node == kNoNode ? Part::kUnused : parts[of_named[node]]);
  return split;
}

arrow::Result<std::vector<Part>> SplitLabelled(const Settings& settings,
                                               const arrow::Array& node_ids,
                                               std::span<const EventTime> first_events,
                                               std::uint64_t seed) {
  switch (settings.train.split_by) {
    case SplitKind::kFile:
      return ReadSplit(settings.input, node_ids);
    case SplitKind::kTime:
      return SplitByTime(first_events, settings.train.split);
    case SplitKind::kSeed:
      break;
  }
  return SplitNodes(NodeKeys(node_ids), settings.train.split, seed);
}

std::vector<std::int64_t> NodesOf(std::span<const Part> split, Part part) {
  std::vector<std::int64_t> nodes;
  for (std::size_t node = 0; node < split.size(); ++node) {
    if (split[node] == part) nodes.push_back(static_cast<std::int64_t>(node));
  }
  return nodes;
}

std::vector<int> FoldsOf(std::span<const Part> split, std::span<const std::uint64_t> keys,
                         int num_folds, std::uint64_t seed) {
  std::vector<int> folds(split.size(), -1);
  for (const std::int64_t node : NodesOf(split, Part::kTrain)) {
    Random random(seed, kFoldStream, keys[node]);
    folds[node] = static_cast<int>(random.Below(static_cast<std::uint64_t>(num_folds)));
  }
  return folds;
}

}  // namespace coden
