#include "coden/state/saved_columns.h"

#include <map>

#include <arrow/table.h>

#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "state/embedder_run.h"
#include "support/run_store.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using test::EmbedderRun;
using Slices = std::vector<ColumnRange>;

constexpr int kColumns = 36;

class SavedColumnsTest : public ::testing::Test {
 protected:
  void Place(const FileRecord& file) {
    CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  }

  // Embed up to `stop` in slices and save each, as a run of several passes does. Returns
  // what they emit afterwards, slice by slice.
  std::vector<std::vector<std::uint32_t>> Save(EmbedderRun& run, const Slices& slices,
                                               int stop) {
    progress_ = {};
    progress_.num_snapshots = stop;
    progress_.column_files = slices;
    std::vector<std::vector<std::uint32_t>> rest;
    for (const ColumnRange& slice : slices) {
      const auto embedder = run.Make(slice);
      run.Take(*embedder, stop);
      Place(StageColumns(*store_, *embedder, slice).ValueOrDie());
      const EngineMemory memory = embedder->engine().Memory();
      EngineMemory& all = progress_.engine;
      all.pushed = memory.pushed;
      all.bounds.insert(all.bounds.end(), memory.bounds.begin(), memory.bounds.end());
      all.in_double.insert(all.in_double.end(), memory.in_double.begin(),
                           memory.in_double.end());
      rest.push_back(run.TakeAllAfter(*embedder, stop));
      end_[slice.begin] = embedder->engine().Memory();
    }
    return rest;
  }

  std::unique_ptr<Embedder> Load(EmbedderRun& run, const ColumnRange& slice) {
    auto embedder = run.Make(slice, progress_.num_snapshots);
    CODEN_EXPECT_OK(LoadColumns(*store_, progress_, slice, *embedder));
    return embedder;
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_.path());
  RunProgress progress_;
  std::map<int, EngineMemory> end_;
};

TEST_F(SavedColumnsTest, AnEmbedderThatIsPutBackEmitsTheSameBits) {
  unsigned seed = 0;
  int in_double = 0, in_float = 0;
  for (const GraphOptions& graph : test::AllGraphs()) {
    for (const double epsilon : {1e-5, 3e-8, 1e-9}) {
      SCOPED_TRACE(::testing::Message() << graph.directed << graph.self_loops
                                        << " window " << graph.window << " " << epsilon);
      EmbedderRun run(graph, epsilon, kColumns, ++seed);
      const auto num_snapshots = static_cast<int>(run.schedule().size());
      const int stop = 1 + static_cast<int>(seed) % (num_snapshots - 1);
      const auto rest = Save(run, {{0, kColumns}}, stop);
      const auto embedder = Load(run, {0, kColumns});
      EXPECT_FALSE(rest[0].empty());
      EXPECT_EQ(run.TakeAllAfter(*embedder, stop), rest[0]);
      EXPECT_EQ(embedder->engine().Memory().bounds, end_[0].bounds);
      EXPECT_EQ(embedder->engine().Memory().in_double, end_[0].in_double);
      const int doubles = embedder->engine().num_double_columns();
      in_double += doubles;
      in_float += kColumns - doubles;
    }
  }
  EXPECT_GT(in_double, 0);
  EXPECT_GT(in_float, 0);
}

TEST_F(SavedColumnsTest, ColumnsMayBeCutInAnotherWay) {
  const Slices all = {{0, kColumns}};
  const Slices three = {{0, 16}, {16, 32}, {32, 36}};
  const Slices odd = {{0, 1}, {1, 17}, {17, 20}, {20, 36}};
  for (const double epsilon : {1e-5, 3e-8, 1e-9}) {
    EmbedderRun run({.events = EventMode::kToggle, .window = 30}, epsilon, kColumns, 9);
    const auto num_snapshots = static_cast<int>(run.schedule().size());
    const int stop = num_snapshots / 2;
    for (const Slices& loaded : {all, three, odd}) {
      const auto expected = Save(run, loaded, stop);
      const RunProgress progress = progress_;
      for (const Slices& saved : {all, three, odd}) {
        SCOPED_TRACE(::testing::Message() << epsilon << " " << saved.size() << " files, "
                                          << loaded.size() << " slices");
        Save(run, saved, stop);
        EXPECT_EQ(progress_.engine.bounds, progress.engine.bounds);
        EXPECT_EQ(progress_.engine.in_double, progress.engine.in_double);
        for (std::size_t i = 0; i < loaded.size(); ++i) {
          const auto embedder = Load(run, loaded[i]);
          EXPECT_EQ(run.TakeAllAfter(*embedder, stop), expected[i]);
        }
      }
    }
  }
}

TEST_F(SavedColumnsTest, AColumnHasThePrecisionItIsKeptIn) {
  EmbedderRun run({.events = EventMode::kToggle}, 3e-8, kColumns, 9);
  Save(run, {{0, kColumns}}, 3);
  const auto table = ReadParquetFile(*store_, RunLayout::Columns(0)).ValueOrDie();
  ASSERT_EQ(table->num_columns(), 1 + kColumns);
  int doubles = 0;
  for (int column = 0; column < kColumns; ++column) {
    const auto field = table->schema()->field(1 + column);
    EXPECT_EQ(field->name(), "c" + std::to_string(column));
    EXPECT_EQ(field->type()->id() == arrow::Type::DOUBLE,
              progress_.engine.in_double[column]);
    doubles += progress_.engine.in_double[column];
  }
  EXPECT_GT(doubles, 0);
  EXPECT_LT(doubles, kColumns);
}

TEST_F(SavedColumnsTest, FilesOfAnotherRunAreCorruption) {
  EmbedderRun run({.events = EventMode::kToggle}, 1e-5, kColumns, 9);
  Save(run, {{0, kColumns}}, 3);
  const auto load = [&] {
    const auto embedder = run.MakeAll(progress_.num_snapshots);
    return LoadColumns(*store_, progress_, {0, kColumns}, *embedder);
  };
  CODEN_EXPECT_OK(load());
  const std::string shown = "'" + store_->Show(RunLayout::Columns(0)) + "'";
  const auto expect_damaged = [&] {
    const arrow::Status status = load();
    EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
    EXPECT_NE(status.message().find(shown), std::string::npos) << status.ToString();
  };
  progress_.engine.in_double[4] = !progress_.engine.in_double[4];
  expect_damaged();
  progress_.engine.in_double[4] = !progress_.engine.in_double[4];
  // Nodes of a larger graph.
  EmbedderRun larger({.events = EventMode::kToggle}, 1e-5, kColumns, 9, 60);
  const auto other = larger.MakeAll();
  larger.TakeAllAfter(*other, 0);
  Place(StageColumns(*store_, *other, {0, kColumns}).ValueOrDie());
  expect_damaged();
  // Fewer rows than the graph has nodes with an arc.
  EmbedderRun smaller({.events = EventMode::kToggle}, 1e-5, kColumns, 9, 10);
  const auto few = smaller.MakeAll();
  smaller.Take(*few, 1);
  Place(StageColumns(*store_, *few, {0, kColumns}).ValueOrDie());
  expect_damaged();
  CODEN_EXPECT_OK(store_->Remove(RunLayout::Columns(0)));
  expect_damaged();
}

}  // namespace
}  // namespace coden
