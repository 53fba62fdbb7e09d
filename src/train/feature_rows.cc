#include "train/feature_rows_internal.h"

#include <algorithm>
#include <cmath>

#include "coden/base/error.h"
#include "coden/state/committed_run.h"

namespace coden {

namespace {

constexpr double kConstantColumn = 1e-6;

class FeatureFiller {
 public:
  FeatureFiller(CommittedRun& run, TrainingInput* input)
      : run_(run), input_(*input), rows_(input->data.features) {}

  arrow::Status Fill() {
    const ColumnRange columns = run_.inputs.columns;
    rows_.width = columns.size();
    rows_.versions =
        run_.inputs.features.has_updates() ? input_.data.num_predictions() : 1;
    rows_.values.assign(
        static_cast<std::size_t>(input_.data.num_nodes * rows_.versions * rows_.width),
        0.0f);
    ARROW_RETURN_NOT_OK(FindNodes());
    NodeIdMap& nodes = *run_.inputs.nodes;
    ARROW_RETURN_NOT_OK(run_.inputs.features.ForEach(
        nodes,
        [&](NodeId node, std::span<const float> vector) { Set(node, 0, vector); }));
    ARROW_ASSIGN_OR_RAISE(auto updates, run_.inputs.features.OpenUpdates(nodes));
    for (std::int64_t version = 0; version < rows_.versions && !updates.done();
         ++version) {
      ARROW_RETURN_NOT_OK(
          updates.AdvanceTo(input_.data.predictions[version].time, nodes,
                            [&](NodeId node, std::span<const float> vector) {
                              Set(node, version, vector);
                            }));
    }
    Standardise();
    return arrow::Status::OK();
  }

 private:
  arrow::Status FindNodes() {
    const NodeIdMap& nodes = *run_.inputs.nodes;
    std::vector<NodeId> found;
    ARROW_RETURN_NOT_OK(nodes.Find(*input_.node_ids, &found));
    place_.assign(static_cast<std::size_t>(nodes.size()), -1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] != kNoNode) place_[found[i]] = static_cast<std::int64_t>(i);
    }
    return arrow::Status::OK();
  }

  // From `version` on the node has this vector.
  void Set(NodeId node, std::int64_t version, std::span<const float> vector) {
    if (node >= static_cast<NodeId>(place_.size()) || place_[node] < 0) return;
    const auto slice =
        vector.subspan(run_.inputs.columns.begin, run_.inputs.columns.size());
    for (std::int64_t v = version; v < rows_.versions; ++v)
      std::copy(slice.begin(), slice.end(), Row(place_[node], v));
  }

  float* Row(std::int64_t node, std::int64_t version) {
    return rows_.values.data() + (node * rows_.versions + version) * rows_.width;
  }

  void Standardise() {
    const std::int64_t num_predictions = input_.data.num_predictions();
    std::vector<std::int64_t> known;
    for (std::int64_t node = 0; node < input_.data.num_nodes; ++node) {
      if (input_.data.present[node * num_predictions] != 0) known.push_back(node);
    }
    const double count = std::max(static_cast<double>(known.size()), 1.0);
    for (std::int64_t i = 0; i < rows_.width; ++i) {
      double sum = 0.0, squares = 0.0;
      for (const std::int64_t node : known) sum += Row(node, 0)[i];
      const double mean = sum / count;
      for (const std::int64_t node : known) {
        const double difference = Row(node, 0)[i] - mean;
        squares += difference * difference;
      }
      const double deviation = std::sqrt(squares / count);
      // A column that is constant then has no scale; rounding leaves a little of one.
      const bool constant = deviation <= kConstantColumn * std::abs(mean);
      input_.feature_mean.push_back(static_cast<float>(mean));
      input_.feature_deviation.push_back(constant ? 1.0f : static_cast<float>(deviation));
    }
    for (std::size_t at = 0; at < rows_.values.size(); ++at) {
      const std::size_t i = at % static_cast<std::size_t>(rows_.width);
      rows_.values[at] =
          (rows_.values[at] - input_.feature_mean[i]) / input_.feature_deviation[i];
    }
  }

  CommittedRun& run_;
  TrainingInput& input_;
  NodeFeatureRows& rows_;
  std::vector<std::int64_t> place_;  // from node of the graph to node of the data, or -1
};

}  // namespace

arrow::Status FillFeatures(const Settings& settings, const RunStore& store,
                           TrainingInput* input) {
  ARROW_ASSIGN_OR_RAISE(CommittedRun run, CommittedRun::Open(settings, store));
  if (run.inputs.columns.size() == 0) {
    return UsageError(
        "`train.inputs` asks for features, but the run has none: set `input.features` "
        "or take it out");
  }
  return FeatureFiller(run, input).Fill();
}

}  // namespace coden
