#include "coden/store/parquet_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>

#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr int kWidth = 3;

std::shared_ptr<arrow::DataType> VectorType() {
  return arrow::list(arrow::field("element", arrow::float32(), /*nullable=*/false));
}

// A whole number, a vector, a word and a real number per row, all random by seed.
std::shared_ptr<arrow::RecordBatch> RandomBatch(int rows, std::uint32_t seed) {
  std::mt19937 random(seed);
  arrow::Int64Builder nodes;
  arrow::FloatBuilder numbers;
  arrow::StringBuilder names;
  arrow::DoubleBuilder scores;
  std::vector<std::int32_t> offsets = {0};
  for (int row = 0; row < rows; ++row) {
    EXPECT_TRUE(nodes.Append(static_cast<std::int64_t>(random()) * 1000).ok());
    for (int column = 0; column < kWidth; ++column) {
      EXPECT_TRUE(numbers.Append(static_cast<float>(random()) * 1e-9f).ok());
    }
    offsets.push_back((row + 1) * kWidth);
    EXPECT_TRUE(names.Append("name " + std::to_string(random() % 1000)).ok());
    EXPECT_TRUE(scores.Append(static_cast<double>(random()) / 7).ok());
  }
  const auto vectors = std::make_shared<arrow::ListArray>(
      VectorType(), rows, arrow::Buffer::FromVector(offsets),
      numbers.Finish().ValueOrDie());
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("node", arrow::int64(), /*nullable=*/false),
                     arrow::field("embedding", VectorType(), /*nullable=*/false),
                     arrow::field("name", arrow::utf8()),
                     arrow::field("score", arrow::float64())}),
      rows,
      {nodes.Finish().ValueOrDie(), vectors, names.Finish().ValueOrDie(),
       scores.Finish().ValueOrDie()});
}

std::shared_ptr<arrow::Table> TableFrom(const arrow::RecordBatchVector& batches) {
  return arrow::Table::FromRecordBatches(batches).ValueOrDie();
}

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::shared_ptr<parquet::FileMetaData> FooterOf(const std::string& path) {
  return parquet::ParquetFileReader::OpenFile(path)->metadata();
}

void ExpectCorruption(const arrow::Status& status, const std::string& path) {
  EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
  EXPECT_TRUE(status.message().starts_with("cannot read '" + path + "': "))
      << status.message();
}

class ParquetFileTest : public ::testing::Test {
 protected:
  FileRecord Write(const arrow::RecordBatch& batch,
                   const ParquetFileOptions& options = {}) {
    auto record = WriteParquetFile(path_, stage_, batch, options);
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    return record.ok() ? *record : FileRecord{};
  }

  TempDir folder_;
  std::string path_ = folder_ / "run/out.parquet";
  std::string stage_ = folder_ / "run/stage/out.parquet";
};

TEST_F(ParquetFileTest, AppearsOnlyAfterClose) {
  const auto first = RandomBatch(10, 1), second = RandomBatch(20, 2);
  auto writer = ParquetFileWriter::Open(path_, stage_, first->schema()).ValueOrDie();
  EXPECT_TRUE(std::filesystem::exists(stage_));
  CODEN_EXPECT_OK(writer->Write(*first));
  CODEN_EXPECT_OK(writer->Write(*second));
  EXPECT_FALSE(std::filesystem::exists(path_));
  const FileRecord record = writer->Close().ValueOrDie();
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(stage_));
  EXPECT_EQ(record.path, path_);
  EXPECT_EQ(record.rows, 30);
  writer.reset();
  EXPECT_TRUE(ReadParquetFile(path_).ValueOrDie()->Equals(*TableFrom({first, second})));
}

TEST_F(ParquetFileTest, LeavesNothingWithoutClose) {
  const auto batch = RandomBatch(10, 1);
  auto writer = ParquetFileWriter::Open(path_, stage_, batch->schema()).ValueOrDie();
  CODEN_EXPECT_OK(writer->Write(*batch));
  writer.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(stage_));
}

TEST_F(ParquetFileTest, LeavesTheOldFileWithoutClose) {
  const auto old = RandomBatch(10, 1);
  Write(*old);
  auto writer = ParquetFileWriter::Open(path_, stage_, old->schema()).ValueOrDie();
  CODEN_EXPECT_OK(writer->Write(*RandomBatch(10, 2)));
  writer.reset();
  EXPECT_TRUE(ReadParquetFile(path_).ValueOrDie()->Equals(*TableFrom({old})));
}

TEST_F(ParquetFileTest, LeavesNothingStagedWhereTheRenameFails) {
  std::filesystem::create_directories(path_ + "/taken");
  const auto record = WriteParquetFile(path_, stage_, *RandomBatch(10, 1));
  EXPECT_TRUE(record.status().IsIOError()) << record.status().ToString();
  EXPECT_FALSE(std::filesystem::exists(stage_));
}

TEST_F(ParquetFileTest, ReplacesTheLeftoverOfAKilledRun) {
  folder_.Write("run/stage/out.parquet", std::string(100'000, 'x'));
  const auto batch = RandomBatch(10, 1);
  const FileRecord record = Write(*batch);
  EXPECT_EQ(record.size, static_cast<std::int64_t>(BytesOf(path_).size()));
  EXPECT_TRUE(ReadParquetFile(path_).ValueOrDie()->Equals(*TableFrom({batch})));
}

TEST_F(ParquetFileTest, TheRecordIsWhatIsOnDisk) {
  for (const int rows : {0, 1, 5000}) {
    SCOPED_TRACE(rows);
    const FileRecord record = Write(*RandomBatch(rows, 3));
    const std::string bytes = BytesOf(path_);
    char digits[17];
    std::snprintf(
        digits, sizeof(digits), "%016llx",
        static_cast<unsigned long long>(XXH3_64bits(bytes.data(), bytes.size())));
    EXPECT_EQ(record.xxh3, digits);
    EXPECT_EQ(record.size, static_cast<std::int64_t>(bytes.size()));
    EXPECT_EQ(record.rows, rows);
    EXPECT_EQ(FooterOf(path_)->num_rows(), rows);
  }
}

TEST_F(ParquetFileTest, EqualBatchesGiveEqualBytes) {
  const FileRecord first = Write(*RandomBatch(3000, 4));
  const std::string bytes = BytesOf(path_);
  const FileRecord second = Write(*RandomBatch(3000, 4));
  EXPECT_EQ(second.xxh3, first.xxh3);
  EXPECT_EQ(BytesOf(path_), bytes);
  EXPECT_NE(Write(*RandomBatch(3000, 5)).xxh3, first.xxh3);
}

TEST_F(ParquetFileTest, RowGroupsAreFullHoweverRowsAreCut) {
  ParquetFileOptions options;
  options.row_group_rows = 40;
  const auto batch = RandomBatch(130, 7);
  for (const std::vector<int>& cuts : std::vector<std::vector<int>>{
           {0, 130}, {0, 40, 80, 130}, {0, 7, 7, 39, 41, 125, 130}}) {
    SCOPED_TRACE(cuts.size());
    auto writer =
        ParquetFileWriter::Open(path_, stage_, batch->schema(), options).ValueOrDie();
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      const auto part = batch->Slice(cuts[i - 1], cuts[i] - cuts[i - 1]);
      ASSERT_TRUE(writer->Write(*part).ok());
    }
    EXPECT_EQ(writer->Close().ValueOrDie().rows, 130);
    const auto footer = FooterOf(path_);
    ASSERT_EQ(footer->num_row_groups(), 4);
    for (int group = 0; group < 4; ++group) {
      EXPECT_EQ(footer->RowGroup(group)->num_rows(), group < 3 ? 40 : 10);
    }
    EXPECT_TRUE(ReadParquetFile(path_).ValueOrDie()->Equals(*TableFrom({batch})));
  }
}

TEST_F(ParquetFileTest, TheFooterSaysHowItIsWritten) {
  ParquetFileOptions options;
  options.row_group_rows = 40;
  options.metadata = arrow::key_value_metadata({{"coden.run_id", "r1"}, {"other", "ü"}});
  Write(*RandomBatch(100, 6), options);
  const auto footer = FooterOf(path_);
  EXPECT_EQ(footer->num_row_groups(), 3);
  EXPECT_EQ(footer->key_value_metadata()->Get("coden.run_id").ValueOrDie(), "r1");
  EXPECT_EQ(footer->key_value_metadata()->Get("other").ValueOrDie(), "ü");
  for (int column = 0; column < footer->num_columns(); ++column) {
    const auto chunk = footer->RowGroup(0)->ColumnChunk(column);
    const std::string name = chunk->path_in_schema()->ToDotString();
    SCOPED_TRACE(name);
    EXPECT_EQ(chunk->compression(), parquet::Compression::ZSTD);
    const auto& encodings = chunk->encodings();
    const bool split = std::find(encodings.begin(), encodings.end(),
                                 parquet::Encoding::BYTE_STREAM_SPLIT) != encodings.end();
    EXPECT_EQ(split, name == "embedding.list.element" || name == "score");
    EXPECT_EQ(chunk->has_dictionary_page(), name == "name");
  }
}

TEST_F(ParquetFileTest, TheCompressionIsTheOneAskedFor) {
  const auto batch = RandomBatch(100, 7);
  const std::pair<SnapshotCompression, parquet::Compression::type> cases[] = {
      {SnapshotCompression::kZstd, parquet::Compression::ZSTD},
      {SnapshotCompression::kSnappy, parquet::Compression::SNAPPY},
      {SnapshotCompression::kNone, parquet::Compression::UNCOMPRESSED}};
  for (const auto& [compression, expected] : cases) {
    SCOPED_TRACE(static_cast<int>(compression));
    ParquetFileOptions options;
    options.compression = compression;
    Write(*batch, options);
    EXPECT_EQ(FooterOf(path_)->RowGroup(0)->ColumnChunk(1)->compression(), expected);
    EXPECT_TRUE(ReadParquetFile(path_).ValueOrDie()->Equals(*TableFrom({batch})));
  }
}

TEST_F(ParquetFileTest, ReadsSomeColumns) {
  const auto batch = RandomBatch(50, 8);
  Write(*batch);
  const auto whole = TableFrom({batch});
  const auto part = ReadParquetFile(path_, {"embedding", "node"}).ValueOrDie();
  EXPECT_EQ(part->schema()->field_names(),
            (std::vector<std::string>{"node", "embedding"}));
  EXPECT_TRUE(part->Equals(*whole->SelectColumns({0, 1}).ValueOrDie()));
  const auto list = ReadParquetFile(path_, {"embedding"}).ValueOrDie();
  EXPECT_TRUE(list->Equals(*whole->SelectColumns({1}).ValueOrDie()));
  EXPECT_TRUE(ReadParquetFile(path_).ValueOrDie()->Equals(*whole));
}

TEST_F(ParquetFileTest, IsVisitedARowGroupAtATime) {
  const auto store = RunStore::Open(path_ + "-run").ValueOrDie();
  ASSERT_TRUE(store->Prepare().ok());
  ParquetFileOptions options;
  options.row_group_rows = 20;
  const auto batch = RandomBatch(50, 8);
  FileRecord record = StageParquetFile(*store, "x.parquet", *batch, options).ValueOrDie();
  std::vector<std::shared_ptr<arrow::Table>> groups;
  const auto keep = [&](const arrow::Table& group) {
    groups.push_back(group.Slice(0));
    return arrow::Status::OK();
  };
  ASSERT_TRUE(VisitParquetFile(*store, record, {"node"}, keep).ok());
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups.front()->num_rows(), 20);
  const auto whole = TableFrom({batch})->SelectColumns({0}).ValueOrDie();
  EXPECT_TRUE(arrow::ConcatenateTables(groups).ValueOrDie()->Equals(*whole));

  const auto stop = [](const arrow::Table&) { return arrow::Status::Cancelled("stop"); };
  EXPECT_TRUE(VisitParquetFile(*store, record, {}, stop).IsCancelled());
  const arrow::Status missing = VisitParquetFile(*store, record, {"none"}, keep);
  EXPECT_EQ(FaultOf(missing), Fault::kCorruption);
  EXPECT_NE(missing.message().find("there is no column 'none'"), std::string::npos);
  ++record.size;
  EXPECT_EQ(FaultOf(VisitParquetFile(*store, record, {}, keep)), Fault::kCorruption);
}

// Every column chunk of the file: where its bytes begin and end.
std::vector<std::pair<std::int64_t, std::int64_t>> ChunksOf(const std::string& path) {
  std::vector<std::pair<std::int64_t, std::int64_t>> chunks;
  const auto footer = FooterOf(path);
  const auto group = footer->RowGroup(0);
  for (int column = 0; column < group->num_columns(); ++column) {
    const auto chunk = group->ColumnChunk(column);
    const std::int64_t begin = chunk->has_dictionary_page()
                                   ? chunk->dictionary_page_offset()
                                   : chunk->data_page_offset();
    chunks.emplace_back(begin, begin + chunk->total_compressed_size());
  }
  return chunks;
}

std::string Flipped(std::string bytes, std::int64_t place, std::int64_t bit) {
  bytes[place] = static_cast<char>(bytes[place] ^ (1 << bit));
  return bytes;
}

// Numbers have one page of data per chunk, and no page header is longer than this.
constexpr std::int64_t kLongestHeader = 200;

TEST_F(ParquetFileTest, AFlippedBitOfTheDataIsCorruption) {
  for (const auto compression :
       {SnapshotCompression::kZstd, SnapshotCompression::kNone}) {
    SCOPED_TRACE(static_cast<int>(compression));
    const auto numbers = RandomBatch(2000, 9)->SelectColumns({0, 1, 3}).ValueOrDie();
    ParquetFileOptions options;
    options.compression = compression;
    Write(*numbers, options);
    const std::string bytes = BytesOf(path_);
    const auto chunks = ChunksOf(path_);
    std::mt19937 random(10);
    for (int sample = 0; sample < 120; ++sample) {
      const auto [begin, end] = chunks[sample % chunks.size()];
      ASSERT_GT(end - begin, 2 * kLongestHeader);
      const std::int64_t place =
          begin + kLongestHeader +
          static_cast<std::int64_t>(random() % (end - begin - kLongestHeader));
      SCOPED_TRACE(place);
      folder_.Write("run/out.parquet", Flipped(bytes, place, random() % 8));
      ExpectCorruption(ReadParquetFile(path_).status(), path_);
    }
  }
}

// The checksum of a page does not cover its header, where some bytes mean nothing to a
// reader: whatever is read must be what was written.
TEST_F(ParquetFileTest, AFlippedBitOfAPageHeaderNeverChangesValues) {
  const auto batch = RandomBatch(300, 11);
  Write(*batch);
  const auto whole = TableFrom({batch});
  const std::string bytes = BytesOf(path_);
  int refused = 0;
  for (const auto& [begin, end] : ChunksOf(path_)) {
    for (std::int64_t flip = 0; flip < 8 * std::min<std::int64_t>(80, end - begin);
         ++flip) {
      SCOPED_TRACE(begin * 8 + flip);
      folder_.Write("run/out.parquet", Flipped(bytes, begin + flip / 8, flip % 8));
      const auto table = ReadParquetFile(path_);
      if (table.ok()) {
        EXPECT_TRUE((*table)->Equals(*whole));
      } else {
        ++refused;
        ExpectCorruption(table.status(), path_);
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST_F(ParquetFileTest, AMissingOrCutFileIsCorruption) {
  ExpectCorruption(ReadParquetFile(path_).status(), path_);
  const FileRecord record = Write(*RandomBatch(300, 13));
  const std::string bytes = BytesOf(path_);
  for (std::int64_t size = 0; size < record.size; size += record.size / 20) {
    SCOPED_TRACE(size);
    folder_.Write("run/out.parquet", bytes.substr(0, static_cast<std::size_t>(size)));
    ExpectCorruption(ReadParquetFile(path_).status(), path_);
  }
}

}  // namespace
}  // namespace coden
