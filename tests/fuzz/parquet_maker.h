#pragma once

#include <memory>
#include <string>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include "bytes.h"
#include "check.h"

namespace coden::fuzz {

/// Write a table as a Parquet file in one of the ways that files come in. Nothing where
/// Parquet has no such column.
inline std::optional<std::string> MakeParquet(const arrow::Table& table, Bytes& bytes) {
  parquet::WriterProperties::Builder file;
  if (bytes.Flag()) file.enable_page_checksum();
  if (bytes.Flag()) file.disable_dictionary();
  if (bytes.Flag()) file.disable_statistics();
  if (bytes.Flag()) file.data_page_version(parquet::ParquetDataPageVersion::V2);
  if (bytes.Flag()) file.compression(parquet::Compression::SNAPPY);
  if (bytes.Flag()) file.version(parquet::ParquetVersion::PARQUET_1_0);
  if (bytes.Flag()) file.data_pagesize(16)->write_batch_size(2);
  parquet::ArrowWriterProperties::Builder columns;
  if (bytes.Flag()) columns.store_schema();
  if (bytes.Flag()) columns.enable_deprecated_int96_timestamps();
  const std::int64_t row_group_rows = 1 + bytes.Below(20);
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const arrow::Status status =
      parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink,
                                 row_group_rows, file.build(), columns.build());
  if (!status.ok()) return std::nullopt;
  return sink->Finish().ValueOrDie()->ToString();
}

/// What Parquet itself finds in a file.
inline std::shared_ptr<arrow::Table> ReadBack(const std::string& file) {
  const auto reader =
      parquet::arrow::OpenFile(
          std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(file)),
          arrow::default_memory_pool())
          .ValueOrDie();
  return reader->ReadTable().ValueOrDie();
}

}  // namespace coden::fuzz
