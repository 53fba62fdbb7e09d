// The history of a graph: what the first pass over the log leaves for everybody after it.
//
//     changes-000000.parquet   snapshot, source, target, present: the net changes of
//     changes-000040.parquet   snapshots 0 to 39, and from 40 on
//     graph-000039.parquet     source, target: all edges at snapshot 39
//
// A row says that an edge is present from its snapshot on, or no longer. What cancels
// between two snapshots has no row. An undirected edge stands once, lower end first. Rows
// are sorted by snapshot, source and target, so a graph is followed by a sequential
// merge, and an edge's last row up to a snapshot says whether it is there (docs/files.md
// has the query). Nodes are numbers: row numbers of state/nodes.parquet.
//
// The changes alone tell everything. Where they have grown long against the graph, by
// edges that come and go, a whole graph is written beside them: opening in the middle
// then reads that graph and at most as many changes again.

#include "coden/state/history.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "coden/store/run_layout.h"
#include "state/damaged_internal.h"

namespace coden {

namespace {

// Rows in one batch; bounds the memory of writing.
constexpr std::size_t kBatchRows = 1 << 18;
// A whole graph is worth a file from this many changes on.
constexpr std::int64_t kFewChanges = 1 << 16;

std::shared_ptr<arrow::Schema> GraphSchema() {
  return arrow::schema({arrow::field("source", arrow::int32(), /*nullable=*/false),
                        arrow::field("target", arrow::int32(), /*nullable=*/false)});
}

ParquetFileOptions FileOptions() {
  ParquetFileOptions options;
  // Sorted numbers hardly need compression beside their encoding, and it takes longer.
  options.compression = SnapshotCompression::kNone;
  return options;
}

template <typename Get>
std::shared_ptr<arrow::Array> Int32s(std::span<const EdgeChange> changes,
                                     const Get& get) {
  std::vector<std::int32_t> values;
  values.reserve(changes.size());
  for (const EdgeChange change : changes) values.push_back(get(change));
  return std::make_shared<arrow::Int32Array>(
      static_cast<std::int64_t>(changes.size()),
      arrow::Buffer::FromVector(std::move(values)));
}

// The number in a file's name behind `prefix`; nothing where it is another file.
std::optional<int> NumberIn(std::string_view name, std::string_view prefix) {
  constexpr std::string_view kSuffix = ".parquet";
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string_view digits =
      name.substr(prefix.size(), name.size() - prefix.size() - kSuffix.size());
  int number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0)
    return std::nullopt;
  return number;
}

// Files of a history by the number in their names.
struct HistoryFiles {
  std::map<int, FileRecord> changes;
  std::map<int, FileRecord> graphs;

  HistoryFiles(std::string_view folder, const std::vector<FileRecord>& files) {
    const std::string inside = std::string(folder) + "/";
    for (const FileRecord& file : files) {
      if (const auto number = NumberIn(file.path, inside + "changes-"))
        changes.emplace(*number, file);
      if (const auto number = NumberIn(file.path, inside + "graph-"))
        graphs.emplace(*number, file);
    }
  }

  std::int64_t RowsAfter(int snapshot) const {
    std::int64_t rows = 0;
    for (auto file = changes.upper_bound(snapshot); file != changes.end(); ++file)
      rows += file->second.rows;
    return rows;
  }
};

}  // namespace

std::shared_ptr<arrow::Schema> HistorySchema() {
  return arrow::schema({arrow::field("snapshot", arrow::int32(), /*nullable=*/false),
                        arrow::field("source", arrow::int32(), /*nullable=*/false),
                        arrow::field("target", arrow::int32(), /*nullable=*/false),
                        arrow::field("present", arrow::boolean(), /*nullable=*/false)});
}

arrow::Result<std::unique_ptr<HistoryWriter>> HistoryWriter::Make(
    RunStore& store, std::string folder, const std::vector<FileRecord>& earlier) {
  const HistoryFiles files(folder, earlier);
  std::unique_ptr<HistoryWriter> writer(new HistoryWriter(store, std::move(folder)));
  writer->rows_since_graph_ =
      files.RowsAfter(files.graphs.empty() ? -1 : files.graphs.rbegin()->first);
  return writer;
}

arrow::Status HistoryWriter::Write(int snapshot, std::span<const EdgeChange> changes) {
  if (file_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(file_, ParquetFileWriter::Stage(
                                     store_, RunLayout::HistoryChanges(folder_, snapshot),
                                     HistorySchema(), FileOptions()));
  }
  last_snapshot_ = snapshot;
  rows_since_graph_ += static_cast<std::int64_t>(changes.size());
  for (; !changes.empty();
       changes = changes.subspan(std::min(kBatchRows, changes.size()))) {
    const auto part = changes.first(std::min(kBatchRows, changes.size()));
    const auto rows = static_cast<std::int64_t>(part.size());
    std::vector<std::uint8_t> bits((part.size() + 7) / 8, 0);
    for (std::size_t i = 0; i < part.size(); ++i)
      bits[i / 8] |= static_cast<std::uint8_t>(part[i].present() << (i % 8));
    ARROW_RETURN_NOT_OK(file_->Write(*arrow::RecordBatch::Make(
        HistorySchema(), rows,
        {Int32s(part, [&](EdgeChange) { return snapshot; }),
         Int32s(part, [](EdgeChange change) { return change.src(); }),
         Int32s(part, [](EdgeChange change) { return change.dst(); }),
         std::make_shared<arrow::BooleanArray>(
             rows, arrow::Buffer::FromVector(std::move(bits)))})));
  }
  return arrow::Status::OK();
}

bool HistoryWriter::WantsGraph(std::int64_t num_edges) const {
  return rows_since_graph_ > std::max(kFewChanges, 2 * num_edges);
}

arrow::Status HistoryWriter::WriteGraph(std::span<const EdgeChange> edges) {
  ARROW_RETURN_NOT_OK(CloseFile());
  ARROW_ASSIGN_OR_RAISE(
      const auto file,
      ParquetFileWriter::Stage(store_, RunLayout::HistoryGraph(folder_, last_snapshot_),
                               GraphSchema(), FileOptions()));
  for (; !edges.empty(); edges = edges.subspan(std::min(kBatchRows, edges.size()))) {
    const auto part = edges.first(std::min(kBatchRows, edges.size()));
    ARROW_RETURN_NOT_OK(file->Write(*arrow::RecordBatch::Make(
        GraphSchema(), static_cast<std::int64_t>(part.size()),
        {Int32s(part, [](EdgeChange edge) { return edge.src(); }),
         Int32s(part, [](EdgeChange edge) { return edge.dst(); })})));
  }
  ARROW_ASSIGN_OR_RAISE(closed_.emplace_back(), file->Close());
  rows_since_graph_ = 0;
  return arrow::Status::OK();
}

arrow::Result<std::vector<FileRecord>> HistoryWriter::Close() {
  ARROW_RETURN_NOT_OK(CloseFile());
  return std::move(closed_);
}

arrow::Status HistoryWriter::CloseFile() {
  if (file_ == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(closed_.emplace_back(), file_->Close());
  file_.reset();
  return arrow::Status::OK();
}

class History::Reader {
 public:
  Reader(const RunStore& store, std::string_view folder,
         const std::vector<FileRecord>& files, NodeId num_nodes)
      : store_(store), files_(folder, files), num_nodes_(num_nodes) {}

  std::int64_t num_changes() const { return files_.RowsAfter(-1); }

  arrow::Result<std::vector<EdgeChange>> Edges(int num_snapshots, bool directed) {
    NetChanges edges;
    auto whole = files_.graphs.upper_bound(num_snapshots - 1);
    if (whole != files_.graphs.begin()) {
      --whole;
      ARROW_RETURN_NOT_OK(ReadGraph(whole->second, edges));
      done_ = whole->first;
      next_file_ = whole->first + 1;
    }
    ARROW_RETURN_NOT_OK(CollectTo(num_snapshots - 1, edges));
    ARROW_ASSIGN_OR_RAISE(auto net, Net(edges));
    ARROW_RETURN_NOT_OK(CheckNames(net, directed));
    return net;
  }

  arrow::Status Load(int num_snapshots, SnapshotGraph& graph) {
    graph.Grow(num_nodes_);
    ARROW_ASSIGN_OR_RAISE(const auto edges, Edges(num_snapshots, graph.directed()));
    ARROW_RETURN_NOT_OK(Apply(edges, graph));
    graph.Settle();
    return arrow::Status::OK();
  }

  arrow::Status AdvanceTo(int snapshot, SnapshotGraph& graph) {
    graph.Grow(num_nodes_);
    ARROW_ASSIGN_OR_RAISE(const auto changes, ReadTo(snapshot));
    ARROW_RETURN_NOT_OK(CheckNames(changes, graph.directed()));
    return Apply(changes, graph);
  }

 private:
  // An undirected edge has one name: under two it would come twice.
  arrow::Status CheckNames(std::span<const EdgeChange> changes, bool directed) const {
    const bool named = directed || std::ranges::all_of(changes, [](EdgeChange change) {
                         return change.src() <= change.dst();
                       });
    return named ? arrow::Status::OK() : Damaged(store_, open_name_);
  }

  // Of changes that contradict the graph, say which file was read last.
  arrow::Status Apply(std::span<const EdgeChange> changes, SnapshotGraph& graph) const {
    arrow::Status status = graph.Apply(changes);
    if (status.ok()) return status;
    return WithFault(status, Fault::kCorruption, "'" + store_.Show(open_name_) + "': ");
  }

  // The net changes of the snapshots up to `snapshot` that were not read yet.
  arrow::Result<std::vector<EdgeChange>> ReadTo(int snapshot) {
    // Those of one snapshot are sorted and net as they are.
    if (snapshot == done_ + 1) {
      std::vector<EdgeChange> changes;
      ARROW_RETURN_NOT_OK(
          ReadRows(snapshot, [&](EdgeChange change) { changes.push_back(change); }));
      return changes;
    }
    NetChanges changes;
    ARROW_RETURN_NOT_OK(CollectTo(snapshot, changes));
    return Net(changes);
  }

  // An edge that came twice would stand twice where none has gone.
  arrow::Result<std::vector<EdgeChange>> Net(NetChanges& collected) const {
    std::vector<EdgeChange> changes = collected.Take();
    const auto twice = std::ranges::adjacent_find(
        changes, [](EdgeChange a, EdgeChange b) { return a.SameEdge(b); });
    if (twice != changes.end()) return Damaged(store_, open_name_);
    return changes;
  }

  arrow::Status CollectTo(int snapshot, NetChanges& changes) {
    return ReadRows(snapshot, [&](EdgeChange change) {
      changes.Add(change.src(), change.dst(), change.present());
    });
  }

  // Whether nodes are nodes: they lead into memory.
  bool Fits(NodeId src, NodeId dst) const {
    return std::min(src, dst) >= 0 && std::max(src, dst) < num_nodes_;
  }

  arrow::Status ReadGraph(const FileRecord& file, NetChanges& edges) {
    open_name_ = file.path;
    return VisitParquetFile(
        store_, file, {}, [&](const arrow::Table& table) -> arrow::Status {
          if (!table.schema()->Equals(*GraphSchema(), /*check_metadata=*/false))
            return Damaged(store_, file.path);
          ARROW_ASSIGN_OR_RAISE(const auto batch, table.CombineChunksToBatch());
          const auto& src = static_cast<const arrow::Int32Array&>(*batch->column(0));
          const auto& dst = static_cast<const arrow::Int32Array&>(*batch->column(1));
          for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
            if (!Fits(src.Value(row), dst.Value(row))) return Damaged(store_, file.path);
            edges.Add(src.Value(row), dst.Value(row), /*present=*/true);
          }
          return arrow::Status::OK();
        });
  }

  // Call `take` for the rows of snapshots after the last one that was read, up to
  // `snapshot`.
  template <typename Take>
  arrow::Status ReadRows(int snapshot, const Take& take) {
    while (true) {
      if (batch_ == nullptr || row_ == batch_->num_rows()) {
        ARROW_ASSIGN_OR_RAISE(const bool more, NextBatch(snapshot));
        if (!more) break;
        continue;
      }
      const auto* snapshots =
          static_cast<const arrow::Int32Array&>(*batch_->column(0)).raw_values();
      const auto* src =
          static_cast<const arrow::Int32Array&>(*batch_->column(1)).raw_values();
      const auto* dst =
          static_cast<const arrow::Int32Array&>(*batch_->column(2)).raw_values();
      const auto& present = static_cast<const arrow::BooleanArray&>(*batch_->column(3));
      for (; row_ < batch_->num_rows() && snapshots[row_] <= snapshot; ++row_) {
        const EdgeChange change(src[row_], dst[row_], present.Value(row_));
        const Place place{snapshots[row_], change};
        if (snapshots[row_] <= done_ || !Fits(src[row_], dst[row_]) || !(last_ < place))
          return Damaged(store_, open_name_);
        last_ = place;
        take(change);
      }
      if (row_ < batch_->num_rows()) break;
    }
    done_ = snapshot;
    return arrow::Status::OK();
  }

  // Have rows that may be of snapshots up to `snapshot`; false where there are no more.
  arrow::Result<bool> NextBatch(int snapshot) {
    while (true) {
      if (groups_ == nullptr) {
        const auto file = files_.changes.lower_bound(next_file_);
        if (file == files_.changes.end() || file->first > snapshot) return false;
        next_file_ = file->first + 1;
        open_name_ = file->second.path;
        ARROW_ASSIGN_OR_RAISE(groups_, ParquetRowGroups::Open(store_, file->second));
      }
      ARROW_ASSIGN_OR_RAISE(const auto table, groups_->Next());
      if (table == nullptr) {
        groups_.reset();
        batch_.reset();
        continue;
      }
      if (!table->schema()->Equals(*HistorySchema(), /*check_metadata=*/false))
        return Damaged(store_, open_name_);
      ARROW_ASSIGN_OR_RAISE(batch_, table->CombineChunksToBatch());
      row_ = 0;
      return true;
    }
  }

  // Where a row stands: rows rise by snapshot and edge.
  struct Place {
    int snapshot;
    EdgeChange change;
    bool operator<(const Place& other) const {
      return snapshot < other.snapshot ||
             (snapshot == other.snapshot && change < other.change &&
              !change.SameEdge(other.change));
    }
  };

  const RunStore& store_;
  HistoryFiles files_;
  NodeId num_nodes_;
  int done_ = -1;      // the last snapshot that was read
  int next_file_ = 0;  // of the changes, the least number of the next one
  std::unique_ptr<ParquetRowGroups> groups_;
  std::string open_name_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::int64_t row_ = 0;
  Place last_{-1, {}};
};

History::History(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

arrow::Result<History> History::Open(const RunStore& store, std::string_view folder,
                                     const std::vector<FileRecord>& files,
                                     NodeId num_nodes) {
  return History(std::make_unique<Reader>(store, folder, files, num_nodes));
}

arrow::Status History::Load(int num_snapshots, SnapshotGraph& graph) {
  return reader_->Load(num_snapshots, graph);
}

arrow::Status History::AdvanceTo(int snapshot, SnapshotGraph& graph) {
  return reader_->AdvanceTo(snapshot, graph);
}

arrow::Result<std::vector<EdgeChange>> History::Edges(int num_snapshots, bool directed) {
  return reader_->Edges(num_snapshots, directed);
}

std::int64_t History::num_changes() const { return reader_->num_changes(); }

}  // namespace coden
