// What is wrong or odd about the labels and the split of a training, found before the
// long work.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/settings/settings.h"

namespace coden {

struct CheckedLabels {
  std::shared_ptr<const NodeIdMap> nodes;  ///< those that have a label
  std::vector<std::string> warnings;       ///< the training keeps them
  std::vector<std::string> notes;
};

/// Read the labels, and the split where `train.split_by` asks for one, and refuse what a
/// training would refuse. Warns of labels that look like amounts and of
/// `train.label_windows` that do not fit the log.
arrow::Result<CheckedLabels> CheckLabels(const Settings& settings);

}  // namespace coden
