// Tables of Delta Lake and Iceberg are refused wherever a path enters them. Tables that
// the real libraries have written are in tests/cli/test_lake_inputs.py.

#include "coden/read/parquet_source.h"
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
