// Columns that stand in the names of folders instead of in the files: day=2024-01-05/.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <arrow/compute/expression.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/read/parquet_source.h"

namespace coden {

class PartitionKeys {
 public:
  /// Find the keys in the names of `files`. A key is int64, date32, timestamp[us] or
  /// utf8, whichever comes first of those that all its values can be read as.
  static arrow::Result<PartitionKeys> Of(const std::vector<ParquetSource::File>& files);

  /// Append a column for every key that `schema` has no column for.
  arrow::Result<std::shared_ptr<arrow::Schema>> AddTo(
      std::shared_ptr<arrow::Schema> schema) const;

  /// Say what the folders of `file` tell about columns that the file, whose schema is
  /// `own`, does not have itself.
  arrow::Result<arrow::compute::Expression> ValuesOf(const ParquetSource::File& file,
                                                     const arrow::Schema& own) const;

 private:
  std::map<std::string, std::shared_ptr<arrow::DataType>> types_;
};

}  // namespace coden
