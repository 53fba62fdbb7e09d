// One open-addressing hash table from id to index, and the ids in index order. The hash
// mixes all bits (splitmix64's finaliser, xxh3 for strings), so ids that share their low
// bits, as shifted or strided ids do, still spread over the table.
//
// Small whole numbers, which most logs have, are looked up in an array instead: four
// bytes an id, where a slot of the hash table takes 24. The array reaches at most eight
// times as far as there are ids, whatever they are.

#include "coden/graph/node_id_map.h"

#include <tsl/robin_map.h>
#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <string_view>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>

#include "coden/base/error.h"

namespace coden {

namespace {

struct Int64Ids {
  using Key = std::int64_t;
  using Array = arrow::Int64Array;
  using Builder = arrow::Int64Builder;

  struct Hash {
    std::size_t operator()(Key key) const {
      auto bits = static_cast<std::uint64_t>(key);
      bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
      bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
      return bits ^ (bits >> 31);
    }
  };

  static std::shared_ptr<arrow::DataType> type() { return arrow::int64(); }
  static Key Get(const Array& array, std::int64_t row) { return array.Value(row); }
  static std::string Show(Key key) { return std::to_string(key); }
  Key Keep(Key key) { return ids.emplace_back(key); }

  // The index of a small id, kNoNode where the hash table has to be asked.
  NodeId Near(Key key) const {
    const auto place = static_cast<std::uint64_t>(key);
    return place < near.size() ? near[place] : kNoNode;
  }

  // Let Near find `key`; false where it is too large for that.
  bool KeepNear(Key key, NodeId index) {
    const auto place = static_cast<std::uint64_t>(key);
    const std::size_t reach = 8 * (ids.size() + 8192);
    if (place >= reach) return false;
    if (place >= near.size()) {
      near.resize(std::min(reach, std::max(2 * near.size(), place + 1)), kNoNode);
    }
    near[place] = index;
    return true;
  }

  std::int64_t MemoryBytes() const {
    return static_cast<std::int64_t>(ids.capacity() * sizeof(Key) +
                                     near.capacity() * sizeof(NodeId));
  }

  std::vector<Key> ids;
  std::vector<NodeId> near;  // by id
};

struct StringIds {
  using Key = std::string_view;
  using Array = arrow::StringArray;
  using Builder = arrow::StringBuilder;

  struct Hash {
    std::size_t operator()(Key key) const { return XXH3_64bits(key.data(), key.size()); }
  };

  static std::shared_ptr<arrow::DataType> type() { return arrow::utf8(); }
  static Key Get(const Array& array, std::int64_t row) { return array.GetView(row); }
  static std::string Show(Key key) { return "'" + std::string(key) + "'"; }
  Key Keep(Key key) {
    const std::string& kept = ids.emplace_back(key);
    if (kept.capacity() > std::string().capacity())
      outside += static_cast<std::int64_t>(kept.capacity()) + 1;
    return kept;
  }
  static NodeId Near(Key) { return kNoNode; }
  static bool KeepNear(Key, NodeId) { return false; }
  std::int64_t MemoryBytes() const {
    return static_cast<std::int64_t>(ids.size() * sizeof(std::string)) + outside;
  }

  std::deque<std::string>
      ids;  // a deque never moves its strings, so views of them stay valid
  std::int64_t outside = 0;  // letters that do not lie in their string
};

template <typename Store>
class HashNodeIdMap : public NodeIdMap {
 public:
  using Array = typename Store::Array;
  using Key = typename Store::Key;

  const std::shared_ptr<arrow::DataType>& id_type() const override { return type_; }
  NodeId size() const override { return static_cast<NodeId>(store_.ids.size()); }
  void Freeze() override { frozen_ = true; }

  arrow::Status Encode(const arrow::Array& ids, std::vector<NodeId>* out) override {
    const auto& array = static_cast<const Array&>(ids);
    ARROW_RETURN_NOT_OK(CheckRoom(array.length()));
    out->resize(array.length());
    for (std::int64_t row = 0; row < array.length(); ++row) {
      (*out)[row] = IndexOf(Store::Get(array, row));
      if ((*out)[row] == kNoNode) return InputChanged();
    }
    return arrow::Status::OK();
  }

  arrow::Status EncodeEdges(const arrow::Array& src, const arrow::Array& dst,
                            std::vector<NodeId>* src_out,
                            std::vector<NodeId>* dst_out) override {
    const auto& sources = static_cast<const Array&>(src);
    const auto& targets = static_cast<const Array&>(dst);
    ARROW_RETURN_NOT_OK(CheckRoom(2 * sources.length()));
    src_out->resize(sources.length());
    dst_out->resize(sources.length());
    for (std::int64_t row = 0; row < sources.length(); ++row) {
      (*src_out)[row] = IndexOf(Store::Get(sources, row));
      (*dst_out)[row] = IndexOf(Store::Get(targets, row));
      if ((*src_out)[row] == kNoNode || (*dst_out)[row] == kNoNode) return InputChanged();
    }
    return arrow::Status::OK();
  }

  arrow::Status Find(const arrow::Array& ids, std::vector<NodeId>* out) const override {
    const auto& array = static_cast<const Array&>(ids);
    out->resize(array.length());
    for (std::int64_t row = 0; row < array.length(); ++row) {
      const Key key = Store::Get(array, row);
      (*out)[row] = store_.Near(key);
      if ((*out)[row] != kNoNode) continue;
      const auto found = index_.find(key);
      if (found != index_.end()) (*out)[row] = found->second;
    }
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Ids(NodeId begin,
                                                   NodeId end) const override {
    std::vector<NodeId> nodes(end - begin);
    std::iota(nodes.begin(), nodes.end(), begin);
    return Take(nodes);
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Take(
      const std::vector<NodeId>& nodes) const override {
    typename Store::Builder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<std::int64_t>(nodes.size())));
    for (const NodeId node : nodes) {
      ARROW_RETURN_NOT_OK(builder.Append(store_.ids[node]));
    }
    return builder.Finish();
  }

  std::uint64_t Hash(NodeId node) const override {
    return typename Store::Hash()(store_.ids[node]);
  }

  std::int64_t MemoryBytes() const override {
    const auto slots = static_cast<std::int64_t>(index_.bucket_count());
    return store_.MemoryBytes() + slots * kSlotBytes;
  }

  std::string Show(NodeId node) const override { return Store::Show(store_.ids[node]); }

 private:
  // A bucket of the table: key and index, and how far it is from its place.
  static constexpr std::int64_t kSlotBytes = sizeof(std::pair<Key, NodeId>) + 8;

  // kNoNode for a new id of a frozen map.
  NodeId IndexOf(Key key) {
    const NodeId near = store_.Near(key);
    return near != kNoNode ? near : IndexByHash(key);
  }

  NodeId IndexByHash(Key key) {
    const auto found = index_.find(key);
    if (found != index_.end()) {
      // The array may reach further than when this id came.
      if (!frozen_) store_.KeepNear(key, found->second);
      return found->second;
    }
    if (frozen_) return kNoNode;
    const NodeId index = size();
    const Key kept = store_.Keep(key);
    if (!store_.KeepNear(kept, index)) index_.emplace(kept, index);
    return index;
  }

  arrow::Status CheckRoom(std::int64_t more) const {
    if (std::numeric_limits<NodeId>::max() - more < size()) {
      return ResourceError("there are more than 2^31 distinct node ids; split the graph");
    }
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::DataType> type_ = Store::type();
  tsl::robin_map<Key, NodeId, typename Store::Hash> index_;
  Store store_;
  bool frozen_ = false;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::DataType>> NodeIdMap::IdType(
    const arrow::DataType& type) {
  if (arrow::is_integer(type.id()) || arrow::is_decimal(type.id())) return arrow::int64();
  if (type.id() == arrow::Type::DICTIONARY) {
    return IdType(*static_cast<const arrow::DictionaryType&>(type).value_type());
  }
  if (arrow::is_string(type.id()) || type.id() == arrow::Type::STRING_VIEW) {
    return arrow::utf8();
  }
  return InputError(kIdRule, ": ", type.ToString());
}

arrow::Result<std::unique_ptr<NodeIdMap>> NodeIdMap::Make(
    const std::shared_ptr<arrow::DataType>& id_type) {
  if (id_type->id() == arrow::Type::INT64)
    return std::make_unique<HashNodeIdMap<Int64Ids>>();
  return std::make_unique<HashNodeIdMap<StringIds>>();
}

}  // namespace coden
