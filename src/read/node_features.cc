#include "coden/read/node_features.h"

#include <algorithm>
#include <cmath>

#include "base/random_internal.h"
#include "coden/base/error.h"
#include "read/input_schemas_internal.h"

namespace coden {

namespace {

constexpr float kNoRow = -1.0f;  // absolute values are never negative

float LargestOf(std::span<const float> vector) {
  float largest = 0.0f;
  for (const float value : vector) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

void RowHasher::Add(NodeId node, EventTime time, std::span<const float> vector) {
  hasher_.Update(&node, sizeof(node));
  hasher_.Update(&time, sizeof(time));
  hasher_.Update(vector.data(), vector.size_bytes());
}

arrow::Result<NodeFeatures> NodeFeatures::Open(const InputOptions& input,
                                               NodeIdMap& nodes,
                                               std::int64_t known_rows) {
  NodeFeatures features;
  RowHasher hasher;
  std::int64_t num_rows = 0;
  const auto note_known = [&] {
    if (num_rows == known_rows) features.known_hash_ = hasher.Digest();
  };
  note_known();
  features.input_ = input;
  features.width_ = input.random_features;
  if (!input.features.empty()) {
    ARROW_ASSIGN_OR_RAISE(
        const auto reader,
        FeatureReader::Open(input, FeatureFile::kFeatures, nodes.id_type()));
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto rows, reader->Next(nodes));
      if (!rows) break;
      features.width_ = rows->width;
      for (std::int64_t row = 0; row < rows->size(); ++row) {
        const NodeId node = rows->nodes[row];
        features.row_nodes_.push_back(node);
        if (node >= static_cast<NodeId>(features.largest_.size()))
          features.largest_.resize(node + 1, kNoRow);
        features.largest_[node] = LargestOf(rows->Row(row));
        hasher.Add(node, /*time=*/0, rows->Row(row));
        ++num_rows;
        note_known();
      }
    }
  } else if (input.random_features == 0) {
    return UsageError(kNoFeatures);
  }
  features.hash_ = hasher.Digest();
  if (features.has_updates()) {
    ARROW_ASSIGN_OR_RAISE(const auto reader,
                          FeatureReader::Open(input, FeatureFile::kUpdates,
                                              nodes.id_type(), features.width_));
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto rows, reader->Next(nodes));
      if (!rows) break;
      for (const NodeId node : rows->nodes) {
        if (node >= static_cast<NodeId>(features.update_rows_.size()))
          features.update_rows_.resize(node + 1, 0);
        ++features.update_rows_[node];
      }
    }
  }
  return features;
}

// A standard Gaussian vector drawn from the node's own id, so that it neither depends on
// the order of arrival nor knows anything of the graph.
std::vector<float> NodeFeatures::RandomVector(NodeId node, const NodeIdMap& nodes) const {
  Random random(input_.random_seed, /*stream=*/0, nodes.Hash(node));
  std::vector<float> vector(width_);
  for (float& value : vector) value = static_cast<float>(random.Normal());
  return vector;
}

float NodeFeatures::LargestEntry(NodeId node, const NodeIdMap& nodes) const {
  if (node < static_cast<NodeId>(largest_.size()) && largest_[node] != kNoRow)
    return largest_[node];
  return input_.random_features == 0 ? 0.0f : LargestOf(RandomVector(node, nodes));
}

arrow::Status NodeFeatures::ForEach(
    NodeIdMap& nodes,
    const std::function<void(NodeId, std::span<const float>)>& visit) const {
  if (input_.random_features > 0) {
    for (NodeId node = 0; node < nodes.size(); ++node)
      visit(node, RandomVector(node, nodes));
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(
      const auto reader,
      FeatureReader::Open(input_, FeatureFile::kFeatures, nodes.id_type()));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto rows, reader->Next(nodes));
    if (!rows) return arrow::Status::OK();
    for (std::int64_t row = 0; row < rows->size(); ++row) {
      visit(rows->nodes[row], rows->Row(row));
    }
  }
}

arrow::Result<NodeFeatures::Updates> NodeFeatures::OpenUpdates(
    const NodeIdMap& nodes) const {
  Updates updates;
  if (has_updates()) {
    ARROW_ASSIGN_OR_RAISE(
        updates.reader_,
        FeatureReader::Open(input_, FeatureFile::kUpdates, nodes.id_type(), width_));
  }
  return updates;
}

arrow::Status NodeFeatures::Updates::AdvanceTo(
    EventTime time, NodeIdMap& nodes,
    const std::function<void(NodeId, std::span<const float>)>& visit) {
  if (reader_ == nullptr) return arrow::Status::OK();
  while (true) {
    if (!rows_ || next_ == rows_->size()) {
      ARROW_ASSIGN_OR_RAISE(rows_, reader_->Next(nodes));
      next_ = 0;
      if (!rows_) {
        reader_.reset();
        return arrow::Status::OK();
      }
      continue;
    }
    if (rows_->times[next_] > time) return arrow::Status::OK();
    hasher_.Add(rows_->nodes[next_], rows_->times[next_], rows_->Row(next_));
    visit(rows_->nodes[next_], rows_->Row(next_));
    ++next_;
  }
}

std::string NodeFeatures::Updates::hash() const { return hasher_.Digest(); }

}  // namespace coden
