// Both kinds of store: a local folder, and an object store with Arrow's filesystem in
// memory in its place.

#include "coden/store/run_store.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <arrow/filesystem/mockfs.h>

#include "coden/base/error.h"
#include "coden/store/commit.h"
#include "coden/store/hasher.h"
#include "coden/store/run_layout.h"
#include "store/hashing_file_internal.h"
#include "store/run_store_internal.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using arrow::fs::internal::MockFileSystem;
using Names = std::vector<std::string>;

// Folders are only names in an object store.
class ObjectFileSystem : public MockFileSystem {
 public:
  ObjectFileSystem() : MockFileSystem(std::chrono::system_clock::now()) {}

  using MockFileSystem::OpenOutputStream;
  arrow::Result<std::shared_ptr<arrow::io::OutputStream>> OpenOutputStream(
      const std::string& path,
      const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) override {
    ARROW_RETURN_NOT_OK(MakeFolderOf(path));
    return MockFileSystem::OpenOutputStream(path, metadata);
  }
  arrow::Status CopyFile(const std::string& src, const std::string& dest) override {
    ARROW_RETURN_NOT_OK(MakeFolderOf(dest));
    return MockFileSystem::CopyFile(src, dest);
  }

 private:
  arrow::Status MakeFolderOf(const std::string& path) {
    return CreateDir(path.substr(0, path.rfind('/')), /*recursive=*/true);
  }
};

constexpr char kUri[] = "s3://key:secret@bucket/runs/a?region=here&token=secret";

class RunStoreTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      store_ = StoreAt(folder_ / "runs/a");
      return;
    }
    auto objects = std::make_shared<ObjectFileSystem>();
    CODEN_EXPECT_OK(objects->CreateDir("bucket", true));
    store_ = MakeObjectRunStore(kUri, objects, "bucket/runs/a");
    CODEN_EXPECT_OK(store_->Prepare());
  }

  void Write(const std::string& name, const std::string& text) {
    const auto file = store_->Create(name).ValueOrDie();
    CODEN_EXPECT_OK(file->Write(text.data(), static_cast<std::int64_t>(text.size())));
    CODEN_EXPECT_OK(file->Close());
    EXPECT_EQ(file->Digest(), HashOf(text.data(), text.size()));
  }
  std::string Text(std::string_view name) const {
    return store_->ReadText(name).ValueOr("missing");
  }
  Names List(std::string_view folder = {}) const {
    return store_->List(folder).ValueOrDie();
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, RunStoreTest, ::testing::Bool(), [](const auto& store) {
  return store.param ? "Local" : "Object";
});

TEST_P(RunStoreTest, FilesAreWrittenReadAndListed) {
  EXPECT_EQ(store_->local(), GetParam());
  EXPECT_EQ(List(), Names{});
  EXPECT_EQ(List("state"), Names{});
  Write("state/b", "two");
  Write("state/a/deep", "");
  Write("top", "three\n");
  EXPECT_EQ(List(), (Names{"state/a/deep", "state/b", "top"}));
  EXPECT_EQ(List("state"), (Names{"state/a/deep", "state/b"}));
  EXPECT_EQ(Text("state/b"), "two");
  EXPECT_EQ(store_->Size("state/b").ValueOrDie(), 3);
  EXPECT_EQ(store_->Size("state/a/deep").ValueOrDie(), 0);
  EXPECT_EQ(store_->Size("state").ValueOrDie(), std::nullopt) << "a folder is no file";
  EXPECT_EQ(store_->Size("none").ValueOrDie(), std::nullopt);
  EXPECT_FALSE(store_->ReadText("none").ok());
  Write("state/b", "in its place");
  EXPECT_EQ(Text("state/b"), "in its place");
  EXPECT_EQ(store_->OpenInput("state/b").ValueOrDie()->GetSize().ValueOrDie(), 12);
}

TEST_P(RunStoreTest, AMovedFileTakesThePlaceOfTheOneThere) {
  Write("_coden/stage/1/x", "new");
  Write("state/x", "old");
  CODEN_EXPECT_OK(store_->Move("_coden/stage/1/x", "state/x"));
  EXPECT_EQ(List(), Names{"state/x"});
  EXPECT_EQ(Text("state/x"), "new");
  CODEN_EXPECT_OK(store_->Move("state/x", "other/folder/x"));
  EXPECT_EQ(List(), Names{"other/folder/x"});
  EXPECT_FALSE(store_->Move("none", "state/x").ok());
}

TEST_P(RunStoreTest, RemovingWhatIsNotThereIsNoError) {
  Write("state/x", "x");
  Write("state/y", "y");
  CODEN_EXPECT_OK(store_->Remove("state/x"));
  CODEN_EXPECT_OK(store_->Remove("state/x"));
  CODEN_EXPECT_OK(store_->Remove("none/at/all"));
  EXPECT_EQ(List(), Names{"state/y"});
}

TEST_P(RunStoreTest, ANewNameIsGivenOnce) {
  EXPECT_TRUE(store_->CreateNew("_coden/manifest-000001.json", "first").ValueOrDie());
  EXPECT_FALSE(store_->CreateNew("_coden/manifest-000001.json", "second").ValueOrDie());
  EXPECT_EQ(Text("_coden/manifest-000001.json"), "first");
  EXPECT_EQ(List(), Names{"_coden/manifest-000001.json"}) << "nothing stays in the stage";
}

TEST_P(RunStoreTest, SmallFilesAppearWhole) {
  CODEN_EXPECT_OK(store_->WriteText("_SUCCESS", ""));
  CODEN_EXPECT_OK(store_->WriteText("_coden/settings.ini", "a = b\n"));
  EXPECT_EQ(List(), (Names{"_SUCCESS", "_coden/settings.ini"}));
  EXPECT_EQ(Text("_coden/settings.ini"), "a = b\n");
}

TEST_P(RunStoreTest, AStagedFileIsLocatedUntilItIsMoved) {
  const FileRecord record = store_->StageText("state/progress.json", "{}").ValueOrDie();
  EXPECT_EQ(record.path, "state/progress.json");
  EXPECT_EQ(record.size, 2);
  EXPECT_EQ(record.xxh3, HashOf("{}", 2));
  EXPECT_TRUE(record.staged.starts_with(RunLayout::kStage));
  EXPECT_EQ(List(), Names{record.staged});
  EXPECT_EQ(store_->Locate(record).ValueOrDie(), record.staged);
  CODEN_EXPECT_OK(store_->SyncStage());
  CODEN_EXPECT_OK(store_->Move(record.staged, record.path));
  EXPECT_EQ(store_->Locate(record).ValueOrDie(), record.path);
}

TEST_P(RunStoreTest, AFileThatAManifestNamesIsComparedWhenItIsOpened) {
  Write("state/x", "right");
  const FileRecord record{"state/x", 5, 0, HashOf("right", 5)};
  const auto expect_damaged = [&](const std::string& part) {
    for (const auto& text : {store_->ReadText("state/x"), store_->ReadText(record)}) {
      ASSERT_FALSE(text.ok());
      EXPECT_EQ(FaultOf(text.status()), Fault::kCorruption);
      EXPECT_NE(text.status().message().find(store_->Show("state/x")), std::string::npos);
      EXPECT_NE(text.status().message().find(part), std::string::npos);
    }
  };
  store_->Expect({record});
  Write("state/x", "wrong");
  expect_damaged("xxh3 " + HashOf("wrong", 5) + " in place of " + record.xxh3);
  Write("state/x", "short");
  expect_damaged("in place of");
  Write("state/x", "longer");
  expect_damaged("size 6 in place of 5");
  EXPECT_TRUE(store_->OpenUnchecked("state/x").ok());
  Write("state/x", "right");
  EXPECT_EQ(Text("state/x"), "right");
  EXPECT_EQ(store_->ReadText(record).ValueOrDie(), "right");
  // The next manifest has another file of this name.
  store_->Expect({{"state/x", 5, 0, HashOf("wrong", 5)}});
  EXPECT_FALSE(store_->ReadText("state/x").ok());
  store_->Expect({});
  EXPECT_EQ(Text("state/x"), "right");
}

TEST_P(RunStoreTest, AStagedFileIsComparedWhereItWaits) {
  FileRecord record = store_->StageText("state/x", "new").ValueOrDie();
  Write("state/x", "old");
  store_->Expect({record});
  EXPECT_EQ(store_->ReadText(record).ValueOrDie(), "new");
  EXPECT_EQ(Text("state/x"), "old") << "is not the file of the manifest";
  Write(record.staged, "dew");
  EXPECT_FALSE(store_->ReadText(record).ok());
}

TEST_P(RunStoreTest, ALongFileIsComparedToo) {
  std::string text(20 << 20, 'x');
  Write("long", text);
  const FileRecord record{"long", 20 << 20, 0, HashOf(text.data(), text.size())};
  store_->Expect({record});
  EXPECT_EQ(Text("long"), text);
  text[text.size() / 2] = 'y';
  Write("long", text);
  EXPECT_FALSE(store_->ReadText(record).ok());
}

TEST_P(RunStoreTest, NamesInTheStageAreThoseOfOneCommit) {
  const std::string first = store_->StageName("state/nodes.parquet");
  EXPECT_NE(store_->StageName("state/nodes~parquet"), first);
  EXPECT_NE(store_->StageName("nodes.parquet"), first);
  store_->StageFor(2);
  EXPECT_NE(store_->StageName("state/nodes.parquet"), first);
  // Copying a snapshot within an object store would take as long as writing it.
  const std::string snapshot = RunLayout::Snapshot(3);
  EXPECT_EQ(store_->StageName(snapshot) == snapshot, !GetParam());
}

// In an object store a snapshot has its name before a manifest names it.
TEST_P(RunStoreTest, AnInterruptedEmbeddingLeavesTheSnapshotsThatItsScheduleNames) {
  PartRecord part;
  part.name = kEmbedPart;
  part.complete = false;
  part.files.push_back(store_->StageText(RunLayout::kPlan, "three rows").ValueOrDie());
  part.files.back().rows = 3;
  Manifest manifest;
  CODEN_EXPECT_OK(Commit(*store_, {0, {part}, {}}, &manifest));
  const std::string kept = "snapshots/_delta_log/0.json";
  Write(kept, "{}");
  Write(RunLayout::Snapshot(2), "not committed");
  if (GetParam()) {
    EXPECT_FALSE(Recover(*store_, &manifest).ok());
    EXPECT_EQ(Text(RunLayout::Snapshot(2)), "not committed");
    return;
  }
  CODEN_EXPECT_OK(Recover(*store_, &manifest));
  EXPECT_EQ(List("snapshots"), Names{kept});
  Write(RunLayout::Snapshot(3), "of the user");
  EXPECT_FALSE(Recover(*store_, &manifest).ok());
  EXPECT_EQ(Text(RunLayout::Snapshot(3)), "of the user");
}

TEST_P(RunStoreTest, ACopyInTheStageIsTheSameFile) {
  FileRecord record = store_->StageText("metrics.parquet", "old").ValueOrDie();
  CODEN_EXPECT_OK(store_->Move(record.staged, record.path));
  store_->StageFor(2);
  const FileRecord copy =
      store_->StageCopy(record, "trainings/coden-1/metrics.parquet").ValueOrDie();
  EXPECT_EQ(copy.path, "trainings/coden-1/metrics.parquet");
  EXPECT_EQ(copy.xxh3, record.xxh3);
  // Another file takes the place of the first one.
  record = store_->StageText("metrics.parquet", "new").ValueOrDie();
  CODEN_EXPECT_OK(store_->Move(record.staged, record.path));
  CODEN_EXPECT_OK(store_->Move(copy.staged, copy.path));
  EXPECT_EQ(Text("metrics.parquet"), "new");
  EXPECT_EQ(Text(copy.path), "old");
}

TEST_P(RunStoreTest, IsShownWithoutSecrets) {
  const std::string shown = GetParam() ? folder_ / "runs/a" : "s3://***@bucket/runs/a";
  EXPECT_EQ(store_->Show(), shown);
  EXPECT_EQ(store_->Show("state/x"), shown + "/state/x");
}

TEST(LocalRunStore, AFolderThatIsLeftEmptyGoes) {
  TempDir folder;
  const auto store = StoreAt(folder.path());
  const std::string snapshot = RunLayout::Snapshot(0);
  CODEN_EXPECT_OK(store->WriteText(snapshot, "x"));
  CODEN_EXPECT_OK(store->WriteText("model/config.json", "x"));
  CODEN_EXPECT_OK(store->WriteText("state/a/x", "x"));
  CODEN_EXPECT_OK(store->WriteText("state/y", "y"));
  CODEN_EXPECT_OK(store->Remove(snapshot));
  CODEN_EXPECT_OK(store->Remove("model/config.json"));
  CODEN_EXPECT_OK(store->Remove("state/a/x"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/snapshots"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/model"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/state/a"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/state/y"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/_coden/stage"));
  EXPECT_TRUE(std::filesystem::exists(folder.path()));
}

TEST(LocalRunStore, ADirectoryMayBeWrittenInSeveralWays) {
  TempDir folder;
  folder.Write("run/state/x", "x");
  for (const std::string path :
       {"/run", "/run/", "/run//", "//run", "/./run", "/a/../run"}) {
    SCOPED_TRACE(path);
    std::filesystem::create_directories(folder / "a/b");
    const auto store = RunStore::Open(folder.path() + path).ValueOrDie();
    EXPECT_EQ(store->List({}).ValueOrDie(), Names{"state/x"});
    EXPECT_EQ(store->List("state").ValueOrDie(), Names{"state/x"});
    EXPECT_EQ(store->ReadText("state/x").ValueOrDie(), "x");
  }
  const auto store = RunStore::Open("file://" + folder.path() + "/run").ValueOrDie();
  EXPECT_TRUE(store->local());
  EXPECT_EQ(store->LocalPath("state/x"), folder.path() + "/run/state/x");
}

TEST(LocalRunStore, NothingIsDoneThroughALink) {
  TempDir folder;
  folder.Write("elsewhere/x", "secret");
  folder.Write("run/state/own", "own");
  const auto store = StoreAt(folder / "run");
  std::filesystem::create_directory_symlink(folder / "elsewhere", folder / "run/linked");
  std::filesystem::create_symlink(folder / "elsewhere/x", folder / "run/state/x");
  for (const std::string name : {"linked/x", "state/x"}) {
    SCOPED_TRACE(name);
    const auto text = store->ReadText(name);
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(FaultOf(text.status()), Fault::kCorruption);
    EXPECT_NE(text.status().message().find("is a symbolic link"), std::string::npos);
    EXPECT_FALSE(store->Move(name, "state/moved").ok());
  }
  EXPECT_FALSE(store->WriteText("linked/new", "x").ok());
  EXPECT_FALSE(store->Move("state/own", "linked/x").ok());
  EXPECT_FALSE(store->Remove("linked/x").ok());
  CODEN_EXPECT_OK(store->Remove(store->StageName("linked/new")));
  EXPECT_EQ(store->List({}).ValueOrDie(), (Names{"linked", "state/own", "state/x"}));
  // A link to a file goes as such, and so does one that is replaced.
  CODEN_EXPECT_OK(store->Remove("state/x"));
  std::filesystem::create_symlink(folder / "elsewhere/x", folder / "run/state/x");
  CODEN_EXPECT_OK(store->WriteText("state/x", "new"));
  EXPECT_EQ(store->ReadText("state/x").ValueOrDie(), "new");
  std::ifstream kept(folder / "elsewhere/x");
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(kept), {}}), "secret");
}

TEST(LocalRunStore, AStageThatIsALinkIsRefused) {
  TempDir folder;
  folder.Write("elsewhere/x", "secret");
  for (const std::string name : {"_coden", "_coden/stage", "_coden/lock"}) {
    SCOPED_TRACE(name);
    const std::string run = folder / ("run-" + name);
    std::filesystem::create_directories(
        std::filesystem::path(run + "/" + name).parent_path());
    std::filesystem::create_symlink(folder / "elsewhere", run + "/" + name);
    const arrow::Status status = RunStore::Open(run).ValueOrDie()->Prepare();
    EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
  }
}

TEST(LocalRunStore, AFileIsNoRunDirectory) {
  TempDir folder;
  const std::string path = folder.Write("file", "x");
  const arrow::Status status = RunStore::Open(path).ValueOrDie()->Prepare();
  EXPECT_EQ(FaultOf(status), Fault::kUsage);
  EXPECT_EQ(status.message(), "`run.directory` is not a folder: '" + path + "'");
}

TEST(ObjectRunStore, TheBucketMustBeThere) {
  const auto store =
      MakeObjectRunStore(kUri, std::make_shared<ObjectFileSystem>(), "bucket/runs/a");
  const arrow::Status status = store->Prepare();
  EXPECT_EQ(FaultOf(status), Fault::kUsage);
  EXPECT_EQ(status.message(),
            "`run.directory` is in a bucket that does not exist: "
            "'s3://***@bucket/runs/a'; create it first");
}

}  // namespace
}  // namespace coden
