#include "read/partition_keys_internal.h"

#include <algorithm>
#include <string_view>

#include <arrow/dataset/partition.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

namespace coden {

namespace {

using arrow::dataset::HivePartitioning;
using Key = arrow::dataset::KeyValuePartitioning::Key;

// The keys in the folders of a file's name, outermost first.
arrow::Result<std::vector<Key>> KeysOf(std::string_view name) {
  const arrow::dataset::HivePartitioningOptions options;
  std::vector<Key> keys;
  while (true) {
    const std::size_t end = name.find('/');
    if (end == std::string_view::npos) return keys;
    ARROW_ASSIGN_OR_RAISE(
        auto key, HivePartitioning::ParseKey(std::string(name.substr(0, end)), options));
    if (key) keys.push_back(*std::move(key));
    name.remove_prefix(end + 1);
  }
}

std::shared_ptr<arrow::DataType> TypeOf(const std::vector<std::string>& values) {
  for (const auto& type :
       {arrow::int64(), arrow::date32(), arrow::timestamp(arrow::TimeUnit::MICRO)}) {
    if (std::all_of(values.begin(), values.end(), [&](const std::string& value) {
          return arrow::Scalar::Parse(type, value).ok();
        })) {
      return type;
    }
  }
  return arrow::utf8();
}

}  // namespace

arrow::Result<PartitionKeys> PartitionKeys::Of(
    const std::vector<ParquetSource::File>& files) {
  std::map<std::string, std::vector<std::string>> values;
  for (const auto& file : files) {
    ARROW_ASSIGN_OR_RAISE(const auto file_keys, KeysOf(file.name));
    for (const Key& key : file_keys) {
      auto& known = values[key.name];
      if (key.value && (known.empty() || known.back() != *key.value)) {
        known.push_back(*key.value);
      }
    }
  }
  PartitionKeys keys;
  for (const auto& [name, known] : values) keys.types_.emplace(name, TypeOf(known));
  return keys;
}

arrow::Result<std::shared_ptr<arrow::Schema>> PartitionKeys::AddTo(
    std::shared_ptr<arrow::Schema> schema) const {
  for (const auto& [name, type] : types_) {
    if (schema->GetFieldIndex(name) >= 0) continue;
    ARROW_ASSIGN_OR_RAISE(
        schema, schema->AddField(schema->num_fields(), arrow::field(name, type)));
  }
  return schema;
}

arrow::Result<arrow::compute::Expression> PartitionKeys::ValuesOf(
    const ParquetSource::File& file, const arrow::Schema& own) const {
  std::vector<arrow::compute::Expression> values;
  ARROW_ASSIGN_OR_RAISE(const auto keys, KeysOf(file.name));
  for (const Key& key : keys) {
    if (own.GetFieldIndex(key.name) >= 0) continue;
    const auto column = arrow::compute::field_ref(key.name);
    if (!key.value) {
      values.push_back(arrow::compute::is_null(column));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const auto value,
                          arrow::Scalar::Parse(types_.at(key.name), *key.value));
    values.push_back(arrow::compute::equal(column, arrow::compute::literal(value)));
  }
  return arrow::compute::and_(values);
}

}  // namespace coden
