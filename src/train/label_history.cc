#include "train/label_history_internal.h"

#include <algorithm>
#include <cmath>

#include "coden/base/printable.h"
#include "settings/label_columns_internal.h"
#include "train/scratch_folder_internal.h"

namespace coden {

namespace {

// How fast the evidence saturates: where 1/10 of a label's mass has come, it is halfway.
constexpr float kEvidenceScale = 10.0f;

// Less than this is what the solver leaves over, of either sign, and has no shares.
constexpr float kLeastMass = 1e-6f;

}  // namespace

LabelEmbedderOptions LabelColumns(const Settings& settings, int num_classes,
                                  const RunContext& context) {
  const LabelColumnShape shape = ResolveLabelColumns(settings);
  LabelEmbedderOptions options;
  options.embed = settings.embed;
  options.graph = settings.graph;
  options.alphas = shape.alphas;
  options.windows = shape.windows;
  options.num_folds = shape.folds;
  options.num_classes = num_classes;
  options.stop = context.stop;
  return options;
}

std::vector<LabelSeed> LabelSeeds(std::span<const LabelFact> facts,
                                  std::span<const NodeId> nodes,
                                  std::span<const int> folds) {
  std::vector<LabelSeed> seeds;
  seeds.reserve(facts.size());
  for (const LabelFact& fact : facts) {
    if (folds[fact.node] < 0 || nodes[fact.node] == kNoNode) continue;
    seeds.push_back({nodes[fact.node], folds[fact.node], fact.label, fact.from});
  }
  return seeds;
}

void ReadLabelRow(std::span<const float> values, int num_classes, float* out) {
  for (; !values.empty(); values = values.subspan(num_classes)) {
    const auto classes = values.first(num_classes);
    float sum = 0.0f;
    for (const float value : classes) sum += std::max(value, 0.0f);
    const float scale = 1.0f / std::max(sum, kLeastMass);
    for (const float value : classes) *out++ = std::max(value, 0.0f) * scale;
    for (const float value : classes)
      *out++ = std::log1p(kEvidenceScale * std::max(value, 0.0f));
  }
}

arrow::Result<std::shared_ptr<const NodeHistory>> MakeLabelHistory(
    const Settings& settings, const RunStore& store, const TrainingInput& input,
    std::span<const int> folds, const RunContext& context) {
  ARROW_ASSIGN_OR_RAISE(CommittedRun run, CommittedRun::Open(settings, store));
  std::vector<NodeId> nodes;
  ARROW_RETURN_NOT_OK(run.inputs.nodes->Find(*input.node_ids, &nodes));
  const TrainingData& data = input.data;
  LabelEmbedderOptions options = LabelColumns(settings, data.num_classes, context);
  ARROW_ASSIGN_OR_RAISE(
      const std::shared_ptr<NodeHistory> history,
      NodeHistory::Make(
          {data.num_nodes, ResolveLabelColumns(settings).NumChannels(data.num_classes),
           data.num_snapshots},
          input.needs.held_snapshots, ScratchFolder(store)));
  std::unique_ptr<LabelEmbedder> labels;
  std::vector<float> rows;
  std::int64_t num_taken = 0;
  options.after_snapshot = [&](const SchedulePoint&) {
    rows.resize(nodes.size() * static_cast<std::size_t>(labels->width()));
    labels->CopyRows(nodes, rows.data());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto width = static_cast<std::size_t>(labels->width());
      ReadLabelRow({rows.data() + i * width, width}, data.num_classes,
                   history->Row(static_cast<std::int64_t>(i)));
    }
    context.progress->Advance(++num_taken);
    return history->EndSnapshot();
  };
  ARROW_ASSIGN_OR_RAISE(auto graphs, run.Graphs(settings, store, options.windows));
  ARROW_ASSIGN_OR_RAISE(
      labels,
      LabelEmbedder::Make(options, input.snapshots, LabelSeeds(input.facts, nodes, folds),
                          run.inputs.Times(), std::move(graphs)));
  context.progress->Begin("label columns", "snapshots", data.num_snapshots);
  ARROW_RETURN_NOT_OK(labels->Run());
  context.progress->End(
      CountOf(data.num_snapshots, "snapshots of ") +
      CountOf(static_cast<std::int64_t>(options.windows.size() * options.alphas.size()) *
                  options.num_folds * options.num_classes,
              "columns"));
  return history;
}

}  // namespace coden
