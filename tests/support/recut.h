#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "coden/base/operator.h"

namespace coden {

/// A stage that passes every row on and cuts the batches anew, at random by seed: single
/// rows, empty batches, long runs. No stage's output may notice it.
class Recut : public Operator {
 public:
  explicit Recut(std::uint32_t seed) : random_(seed) {}

  std::string_view name() const override { return "recut"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }

  arrow::Status Push(BatchPtr batch, const Emit& emit) override {
    for (std::int64_t row = 0; row < batch->num_rows();) {
      std::int64_t length = 0;
      switch (random_() % 3) {
        case 0:
          break;
        case 1:
          length = 1;
          break;
        default:
          length =
              1 + static_cast<std::int64_t>(random_() % (random_() % 8 == 0 ? 50 : 3));
      }
      length = std::min(length, batch->num_rows() - row);
      ARROW_RETURN_NOT_OK(emit(batch->Slice(row, length)));
      row += length;
    }
    return emit(batch->Slice(0, 0));
  }

  arrow::Status Finish(const Emit&) override { return arrow::Status::OK(); }

 private:
  std::mt19937 random_;
};

}  // namespace coden
