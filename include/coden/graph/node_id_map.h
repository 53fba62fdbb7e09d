#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/base/types.h"

namespace coden {

/// Map the user's node ids (int64 or string, sparse, unordered) to dense indices in order
/// of first appearance, and back. Memory is proportional to the number of distinct ids.
class NodeIdMap {
 public:
  /// What IdType refuses, in words.
  static constexpr std::string_view kIdRule =
      "node ids must be whole numbers or strings; convert the column";

  /// Return the id type that columns of `type` are read as: int64 for integers and
  /// decimals, whose values must then be whole, utf8 for strings, and that of its values
  /// for a dictionary; an error for anything else.
  static arrow::Result<std::shared_ptr<arrow::DataType>> IdType(
      const arrow::DataType& type);

  /// Make an empty map for ids of `id_type`, which must be int64 or utf8.
  static arrow::Result<std::unique_ptr<NodeIdMap>> Make(
      const std::shared_ptr<arrow::DataType>& id_type);

  virtual ~NodeIdMap() = default;

  virtual const std::shared_ptr<arrow::DataType>& id_type() const = 0;
  virtual NodeId size() const = 0;

  /// Take no more ids: from now on nothing changes the map, so that all of its calls may
  /// come from several threads at once. Encoding a new id is then an error.
  virtual void Freeze() = 0;

  /// Write the index of every id to `out`, giving new ids the next free index. `ids` is
  /// of id_type() and has no nulls. Fails when there are more ids than NodeId can count.
  virtual arrow::Status Encode(const arrow::Array& ids, std::vector<NodeId>* out) = 0;

  /// Encode both ends of edges, row by row and `src` before `dst`, so that the numbering
  /// does not depend on how the rows were cut into arrays.
  virtual arrow::Status EncodeEdges(const arrow::Array& src, const arrow::Array& dst,
                                    std::vector<NodeId>* src_out,
                                    std::vector<NodeId>* dst_out) = 0;

  /// Like Encode, but unknown ids become kNoNode and the map does not change.
  virtual arrow::Status Find(const arrow::Array& ids, std::vector<NodeId>* out) const = 0;

  /// Return the ids of nodes [begin, end).
  virtual arrow::Result<std::shared_ptr<arrow::Array>> Ids(NodeId begin,
                                                           NodeId end) const = 0;

  /// Return the ids of `nodes`, in their order.
  virtual arrow::Result<std::shared_ptr<arrow::Array>> Take(
      const std::vector<NodeId>& nodes) const = 0;

  /// Return a well-mixed hash of one id, the same on every machine.
  virtual std::uint64_t Hash(NodeId node) const = 0;

  /// Bytes set aside for the map; of strings, also the letters that lie outside of them.
  virtual std::int64_t MemoryBytes() const = 0;

  /// Show one id in a message.
  virtual std::string Show(NodeId node) const = 0;
};

}  // namespace coden
