#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/base/types.h"
#include "coden/settings/input_options.h"
#include "coden/settings/settings.h"
#include "coden/settings/train_options.h"

namespace coden {

enum class Part : std::uint8_t { kTrain, kValidate, kTest, kUnused };

/// What identifies each node in every run: an integer id itself, or the xxh3 hash of a
/// string.
std::vector<std::uint64_t> NodeKeys(const arrow::Array& node_ids);

/// Divide nodes at random. The part of a node depends on its key, the shares and the seed
/// alone, never on the other nodes: the same node has the same part in a longer log. The
/// parts therefore have the shares only approximately, and a part of a small set may be
/// empty.
std::vector<Part> SplitNodes(std::span<const std::uint64_t> keys,
                             const SplitShares& shares, std::uint64_t seed);

/// The first event of a node that has none.
inline constexpr EventTime kNeverSeen = INT64_MAX;

/// Divide nodes by their first event: the earliest train, the latest test, those without
/// one are kUnused. Of nodes with the same time the earlier number comes first.
std::vector<Part> SplitByTime(std::span<const EventTime> first_events,
                              const SplitShares& shares);

/// Read `input.split`, a file of nodes and their part. Nodes that it does not name are
/// kUnused; names that are no node of `node_ids` are ignored.
arrow::Result<std::vector<Part>> ReadSplit(const InputOptions& input,
                                           const arrow::Array& node_ids);

/// Divide the labelled nodes as `train.split_by` says.
arrow::Result<std::vector<Part>> SplitLabelled(const Settings& settings,
                                               const arrow::Array& node_ids,
                                               std::span<const EventTime> first_events,
                                               std::uint64_t seed);

/// Return the nodes of `part` in ascending order.
std::vector<std::int64_t> NodesOf(std::span<const Part> split, Part part);

/// Divide the training nodes into `num_folds` at random; -1 for all others. The fold of a
/// node depends on its key and the seed alone.
std::vector<int> FoldsOf(std::span<const Part> split, std::span<const std::uint64_t> keys,
                         int num_folds, std::uint64_t seed);

}  // namespace coden
