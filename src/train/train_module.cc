#include "coden/train/train_module.h"

namespace coden {

extern "C" [[gnu::visibility("default")]] const TrainModule coden_train_module = {
    Train, Predict, JoinRanks};

}  // namespace coden
