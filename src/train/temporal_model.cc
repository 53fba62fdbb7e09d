#include "train/temporal_model_internal.h"

#include "train/diagonal_ssm_internal.h"
#include "train/trainer_internal.h"

namespace coden {

std::shared_ptr<TemporalModel> MakeTemporalModel(const TrainOptions& options,
                                                 const TemporalShape& shape) {
  switch (options.model) {
    case ModelKind::kCoden:
      return std::make_shared<DiagonalSsm>(shape, options.states);
    case ModelKind::kCodenS:
      break;
  }
  return MakeCurrentSnapshot(shape);
}

bool ReadsHistory(ModelKind model) { return model != ModelKind::kCodenS; }

}  // namespace coden
