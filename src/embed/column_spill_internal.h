#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/io/file.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/pipeline/operator.h"

namespace coden {

/// The numbers of a slice of columns of every snapshot, kept on disk from the pass that
/// embeds them to the last one: bare float32, row after row, without anything else. The
/// rows are those that every pass over the log emits, in the same order, so their place
/// says which they are.
///
/// The file is removed with the object. Not thread-safe.
class ColumnSpill {
 public:
  /// Create the file at `path`, in place of one that is there.
  static arrow::Result<std::unique_ptr<ColumnSpill>> Create(std::string path, int width);
  ~ColumnSpill();
  ColumnSpill(const ColumnSpill&) = delete;
  ColumnSpill& operator=(const ColumnSpill&) = delete;

  int width() const { return width_; }

  /// Append whole rows.
  arrow::Status Write(std::span<const float> numbers);

  /// End the writing; from here on rows are read, from the first.
  arrow::Status Rewind();

  /// Read the next rows. Fewer than `numbers` has room for are an error.
  arrow::Status Read(std::span<float> numbers);

  /// Check that every row was read.
  arrow::Status ExpectEnd() const;

 private:
  ColumnSpill(std::string path, int width) : path_(std::move(path)), width_(width) {}
  arrow::Status Failed(const char* action, const arrow::Status& status) const;

  std::string path_;
  int width_;
  std::int64_t written_ = 0;  // bytes
  std::int64_t read_ = 0;     // bytes
  std::shared_ptr<arrow::io::FileOutputStream> output_;
  std::shared_ptr<arrow::io::ReadableFile> input_;
};

/// The stage that ends every pass but the last: put the embeddings aside in `spill`.
class ColumnSpiller : public Operator {
 public:
  explicit ColumnSpiller(ColumnSpill& spill) : spill_(spill) {}

  std::string_view name() const override { return "spill"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  ColumnSpill& spill_;
};

/// The stage of the last pass that makes rows whole: the spilled columns, slice by slice,
/// and then the row's own. Holds one batch of whole rows.
class ColumnJoiner : public Operator {
 public:
  /// The spills must be rewound and outlive the stage.
  explicit ColumnJoiner(std::span<const std::unique_ptr<ColumnSpill>> spills)
      : spills_(spills) {}

  std::string_view name() const override { return "join"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  std::span<const std::unique_ptr<ColumnSpill>> spills_;
  std::vector<float> slice_;
};

}  // namespace coden
