#include "train/temporal_model_internal.h"

#include "train/diagonal_ssm_internal.h"

namespace coden {

std::shared_ptr<TemporalModel> MakeTemporalModel(const TrainOptions& options,
                                                 std::int64_t num_channels) {
  switch (options.model) {
    case ModelKind::kCoden:
      return std::make_shared<DiagonalSsm>(num_channels, options.states);
    case ModelKind::kCodenR:
      return MakeGatedAverage(num_channels, options.gate);
    case ModelKind::kCodenA:
      return MakeOwnAttention(num_channels, options.states);
    case ModelKind::kCodenS:
      break;
  }
  return MakeCurrentSnapshot();
}

}  // namespace coden
