// Tables of Delta Lake and Iceberg are refused wherever a path enters them. Tables that
// the real libraries have written are in tests/cli/test_lake_inputs.py.

#include <chrono>

#include <arrow/filesystem/mockfs.h>

#include "coden/read/parquet_source.h"
#include "read/lake_table_internal.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

void ExpectTable(const std::string& path, const std::string& table,
                 const std::string& kind) {
  SCOPED_TRACE(path);
  ExpectInputErrorWith(ParquetSource::Open(path), "cannot read '" + path +
                                                      "' as plain files: '" + table +
                                                      "' is " + kind + " table, ");
}

void ExpectRead(const std::string& path) {
  SCOPED_TRACE(path);
  CODEN_EXPECT_OK(ParquetSource::Open(path).status());
}

TEST(LakeTable, ADeltaTableIsRefusedWhereverThePathEntersIt) {
  TempDir folder;
  const std::string table = std::filesystem::canonical(folder.path()) / "lake/table";
  WriteIntegers(folder / "lake/table/day=1/hour=2/a.parquet", {{"a", "[1]"}});
  WriteIntegers(folder / "lake/plain/b.parquet", {{"a", "[1]"}});
  WriteIntegers(folder / "lake/c.parquet", {{"a", "[1]"}});
  folder.Write("lake/table/_delta_log/00000000000000000000.json", "{}");
  const std::string lake = std::filesystem::path(table).parent_path();
  std::filesystem::create_directory_symlink(table + "/day=1", lake + "/link");
  for (const char* path :
       {"", "/table", "/table/day=1", "/table/day=1/hour=2",
        "/table/day=1/hour=2/a.parquet", "/table/*/*/*.parquet", "/*/*/*/*.parquet",
        "/table/day=*/hour=2/a.parquet", "/link", "/plain/../table/day=1"}) {
    ExpectTable(lake + path, table, "a Delta");
  }
  // What is beside the table is none of it.
  for (const char* path : {"/plain", "/plain/b.parquet", "/*.parquet", "/c.parquet"})
    ExpectRead(lake + path);
  // Without any data file it is still a table.
  folder.Write("empty/_delta_log/00000000000000000000.json", "{}");
  const std::string empty = std::filesystem::canonical(folder.path()) / "empty";
  ExpectTable(empty, empty, "a Delta");
}

TEST(LakeTable, AnIcebergTableIsRefusedWhereverThePathEntersIt) {
  for (const char* metadata : {"00002-5d3b1c0e-9f3a-4c7e-8d55-2b1f0a6c9e11.metadata.json",
                               "v12.metadata.json", "v1.gz.metadata.json"}) {
    SCOPED_TRACE(metadata);
    TempDir folder;
    const std::string table = std::filesystem::canonical(folder.path()) / "house/table";
    WriteIntegers(folder / "house/table/data/day=1/a.parquet", {{"a", "[1]"}});
    WriteIntegers(folder / "house/plain/b.parquet", {{"a", "[1]"}});
    folder.Write(std::string("house/table/metadata/") + metadata, "{}");
    const std::string house = std::filesystem::path(table).parent_path();
    for (const char* path : {"", "/table", "/table/data", "/table/data/",
                             "/table/data/day=1", "/table/data/day=1/a.parquet",
                             "/table/data/*/*.parquet", "/t*/data/*/*.parquet"})
      ExpectTable(house + path, table, "an Iceberg");
    ExpectRead(house + "/plain");
  }
}

//   logs/a.parquet     -> lake/table/ab/a.parquet
//   logs/b.parquet     a file
//   more/day=1/        -> lake/table/ab/
TEST(LakeTable, LinksToFilesOfATableAreRefused) {
  TempDir folder;
  const std::string top = std::filesystem::canonical(folder.path());
  const std::string table = top + "/lake/table";
  WriteIntegers(folder / "lake/table/ab/a.parquet", {{"a", "[1]"}});
  WriteIntegers(folder / "lake/plain/c.parquet", {{"a", "[1]"}});
  folder.Write("lake/table/_delta_log/00000000000000000000.json", "{}");
  WriteIntegers(folder / "logs/b.parquet", {{"a", "[1]"}});
  std::filesystem::create_directories(folder / "more");
  std::filesystem::create_symlink(table + "/ab/a.parquet", top + "/logs/a.parquet");
  std::filesystem::create_directory_symlink(table + "/ab", top + "/more/day=1");
  for (const char* path : {"/logs", "/logs/", "/logs/*.parquet", "/logs/a.parquet",
                           "/more", "/more/*/*.parquet", "/more/day=1"}) {
    ExpectTable(top + path, table, "a Delta");
  }
  ExpectRead(top + "/logs/b*");
  // Links to other places are read.
  std::filesystem::create_directories(folder / "links");
  std::filesystem::create_symlink(top + "/lake/plain/c.parquet",
                                  top + "/links/c.parquet");
  std::filesystem::create_directory_symlink(top + "/lake/plain", top + "/links/plain");
  ExpectRead(top + "/links");
}

// Random prefixes of Delta and the hashes of Iceberg's object-storage layout have no form
// that tells them from other folders.
TEST(LakeTable, ATableInAStoreIsFoundFromAnyDepth) {
  const auto store = std::make_shared<arrow::fs::internal::MockFileSystem>(
      arrow::fs::TimePoint(std::chrono::seconds(1)));
  const Location bucket{store, {}, /*local=*/false};
  const auto create = [&](const std::string& path) {
    CODEN_EXPECT_OK(store->CreateFile(path, "x"));
  };
  create("lake/delta/_delta_log/00000000000000000000.json");
  create("lake/delta/aB/part-0.parquet");
  create("lake/house/iceberg/metadata/v3.metadata.json");
  create("lake/house/iceberg/data/1101/0100/1011/00111010-0.parquet");
  create("lake/plain/day=1/a.parquet");
  const auto check = [&](const std::string& path) {
    return CheckNoTableAbove(bucket, path, "s3://" + path);
  };
  for (const char* path :
       {"lake/delta/aB", "lake/delta/aB/", "lake/delta/aB/part-0.parquet"})
    ExpectInputErrorWith(check(path), "'s3://lake/delta' is a Delta table, ");
  for (const char* path : {"lake/house/iceberg/data", "lake/house/iceberg/data/1101/0100",
                           "lake/house/iceberg/data/1101/0100/1011/00111010-0.parquet"})
    ExpectInputErrorWith(check(path), "'s3://lake/house/iceberg' is an Iceberg table, ");
  for (const char* path : {"lake", "lake/plain", "lake/plain/day=1/a.parquet"})
    CODEN_EXPECT_OK(check(path));
  // A bucket may be a table as a whole; how far up is looked is bounded.
  create("all/_delta_log/00000000000000000000.json");
  std::string deep = "all";
  for (int i = 0; i < 24; ++i) deep += "/f";
  ExpectInputErrorWith(check(deep), "'s3://all' is a Delta table, ");
  CODEN_EXPECT_OK(check(deep + "/f"));
}

TEST(LakeTable, OtherMetadataIsNoTable) {
  TempDir folder;
  WriteIntegers(folder / "data/a.parquet", {{"a", "[1]"}});
  for (const char* name : {"edges.metadata.json", "v1.json", "version.metadata.json",
                           "3.metadata.json", "v.metadata.json"}) {
    folder.Write(std::string("metadata/") + name, "{}");
  }
  folder.Write("v1.metadata.json", "{}");
  for (const char* path : {"", "/data", "/data/a.parquet"})
    ExpectRead(folder.path() + path);
}

}  // namespace
}  // namespace coden
