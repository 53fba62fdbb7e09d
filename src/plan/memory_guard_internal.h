#pragma once

#include <cstdint>
#include <functional>

#include "coden/base/operator.h"
#include "coden/settings/settings.h"

namespace coden {

/// Hand batches on, and stop before the stages behind need more memory than there may be:
/// what the first pass over a log takes is known only while it reads.
class MemoryGuard final : public Operator {
 public:
  /// The most that the stages behind may allocate for this many rows more.
  using Growth = std::function<std::int64_t(std::int64_t rows)>;

  MemoryGuard(const Settings& settings, std::int64_t num_rows, Growth growth)
      : settings_(settings), num_rows_(num_rows), growth_(std::move(growth)) {}

  std::string_view name() const override { return "memory"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit&) override { return arrow::Status::OK(); }

 private:
  const Settings& settings_;
  std::int64_t num_rows_;
  Growth growth_;
  std::int64_t rows_ = 0;
};

}  // namespace coden
