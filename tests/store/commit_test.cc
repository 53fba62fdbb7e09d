// Commits, and what the next process makes of one that was interrupted.

#include "coden/store/commit.h"

#include <algorithm>
#include <set>

#include "coden/store/run_layout.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using Names = std::vector<std::string>;

class CommitTest : public ::testing::Test {
 protected:
  // Stage files with these texts and say what the manifest would be that has them.
  Manifest Stage(const std::vector<std::pair<std::string, std::string>>& texts) {
    PartRecord part;
    part.name = kEmbedPart;
    for (const auto& [name, text] : texts)
      part.files.push_back(store_->StageText(name, text).ValueOrDie());
    return {manifest_.number + 1, {part}};
  }

  void CommitFiles(const std::vector<std::pair<std::string, std::string>>& texts) {
    CODEN_EXPECT_OK(Commit(*store_, Stage(texts), &manifest_));
  }

  // What a process does that ends as soon as its manifest is published.
  void PublishAlone(const Manifest& next) {
    EXPECT_TRUE(
        store_->CreateNew(ManifestName(next.number), ManifestText(next)).ValueOrDie());
  }

  // A new process: it knows what is on disk and nothing else.
  void ComeBack() {
    store_ = StoreAt(directory_);
    manifest_ = LoadManifest(*store_).ValueOrDie().value_or(Manifest{});
    CODEN_EXPECT_OK(Recover(*store_, &manifest_));
  }

  std::string Text(std::string_view name) const {
    return store_->ReadText(name).ValueOr("missing");
  }
  // All files but the manifests and the lock.
  Names Files() const {
    Names names = store_->List({}).ValueOrDie();
    std::erase_if(
        names, [](const std::string& name) { return ManifestNumber(name).has_value(); });
    return names;
  }
  std::vector<std::string> Problems() const {
    std::vector<std::string> problems;
    for (const auto& file : VerifyFiles(*store_, manifest_).ValueOrDie()) {
      if (!file.problem.empty()) problems.push_back(file.path + " " + file.problem);
    }
    return problems;
  }

  TempDir folder_;
  const std::string directory_ = folder_.path() + "/run";
  std::shared_ptr<RunStore> store_ = StoreAt(directory_);
  Manifest manifest_;
};

TEST_F(CommitTest, StagedFilesComeToTheirPlaces) {
  const Manifest next =
      Stage({{"schedule.parquet", "one"}, {"state/progress.json", "{}"}});
  EXPECT_EQ(Text("schedule.parquet"), "missing");
  CODEN_EXPECT_OK(Commit(*store_, next, &manifest_));
  EXPECT_EQ(manifest_.number, 1);
  EXPECT_EQ(Files(), (Names{"schedule.parquet", "state/progress.json"}));
  for (const FileRecord& file : manifest_.parts.at(0).files) EXPECT_EQ(file.staged, "");
  EXPECT_TRUE(Problems().empty());
  // The manifest on disk still says where the files were staged.
  const Manifest loaded = *LoadManifest(*store_).ValueOrDie();
  EXPECT_EQ(loaded.parts.at(0).files.at(0).staged, next.parts[0].files[0].staged);
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/_coden/stage"));
}

TEST_F(CommitTest, FilesThatOnlyTheOldManifestNamedAreRemoved) {
  CommitFiles({{"schedule.parquet", "one"},
               {"state/columns-0.parquet", "a"},
               {"snapshots/snapshot=000000/part-0.parquet", "s"}});
  CommitFiles({{"schedule.parquet", "two"}, {"state/columns-8.parquet", "b"}});
  EXPECT_EQ(Files(), (Names{"schedule.parquet", "state/columns-8.parquet"}));
  EXPECT_EQ(Text("schedule.parquet"), "two");
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/snapshots/snapshot=000000"));
}

TEST_F(CommitTest, AFileThatStaysIsNotWrittenAgain) {
  CommitFiles({{"snapshots/snapshot=000000/part-0.parquet", "s"}});
  const std::string path = directory_ + "/snapshots/snapshot=000000/part-0.parquet";
  const auto written = std::filesystem::last_write_time(path);
  Manifest next = manifest_;
  next.parts[0].ReplaceFile(store_->StageText("schedule.parquet", "one").ValueOrDie());
  CODEN_EXPECT_OK(Commit(*store_, next, &manifest_));
  EXPECT_EQ(std::filesystem::last_write_time(path), written);
  EXPECT_EQ(Files().size(), 2u);
}

TEST_F(CommitTest, AProcessThatEndsAfterPublishingIsFinishedByTheNext) {
  CommitFiles({{"schedule.parquet", "one"}, {"state/window.parquet", "w"}});
  const Manifest next = Stage({{"schedule.parquet", "two"},
                               {"state/nodes.parquet", "g"},
                               {"state/progress.json", "{}"}});
  // It may end before any file is moved, or after some of them.
  for (std::size_t moved = 0; moved <= 3; ++moved) {
    SCOPED_TRACE(moved);
    const std::string copy = folder_.path() + "/copy-" + std::to_string(moved);
    std::filesystem::copy(directory_, copy, std::filesystem::copy_options::recursive);
    store_ = StoreAt(copy);
    PublishAlone(next);
    for (std::size_t i = 0; i < moved; ++i) {
      const FileRecord& file = next.parts[0].files[i];
      CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
    }
    // A reader finds every file of the new manifest already now.
    manifest_ = *LoadManifest(*store_).ValueOrDie();
    EXPECT_TRUE(Problems().empty());
    CODEN_EXPECT_OK(CheckFiles(*store_, manifest_.parts.at(0)));
    CODEN_EXPECT_OK(Recover(*store_, &manifest_));
    EXPECT_EQ(manifest_.number, 2);
    EXPECT_EQ(Files(),
              (Names{"schedule.parquet", "state/nodes.parquet", "state/progress.json"}));
    EXPECT_EQ(Text("schedule.parquet"), "two");
    EXPECT_TRUE(Problems().empty());
  }
}

TEST_F(CommitTest, AStageThatWasNeverPublishedIsRemoved) {
  CommitFiles({{"schedule.parquet", "one"}});
  Stage({{"schedule.parquet", "never"}, {"state/nodes.parquet", "never"}});
  ComeBack();
  EXPECT_EQ(Files(), Names{"schedule.parquet"});
  EXPECT_EQ(Text("schedule.parquet"), "one");
  EXPECT_TRUE(Problems().empty());
}

// A manifest keeps the names of its stage. A later file under such a name would be taken
// for the committed one.
TEST_F(CommitTest, NoLaterStageShadowsACommittedFile) {
  CommitFiles({{"schedule.parquet", "one"}});
  Stage({{"schedule.parquet", "never"}});
  Manifest loaded = *LoadManifest(*store_).ValueOrDie();
  EXPECT_EQ(store_->Locate(loaded.parts.at(0).files.at(0)).ValueOrDie(),
            "schedule.parquet");
  ComeBack();
  EXPECT_EQ(Text("schedule.parquet"), "one");
  // Nor does the stage of the process that came back.
  Stage({{"schedule.parquet", "never"}});
  loaded = *LoadManifest(*store_).ValueOrDie();
  EXPECT_EQ(store_->Locate(loaded.parts.at(0).files.at(0)).ValueOrDie(),
            "schedule.parquet");
  EXPECT_TRUE(Problems().empty());
}

TEST_F(CommitTest, NoTwoCommitsShareAName) {
  std::set<std::string> names;
  for (int commit = 0; commit < 5; ++commit) {
    if (commit == 3) ComeBack();
    EXPECT_TRUE(names.insert(store_->StageName("schedule.parquet")).second);
    CommitFiles({{"schedule.parquet", std::to_string(commit)}});
  }
}

TEST_F(CommitTest, FilesOfTheUserStay) {
  CommitFiles({{"schedule.parquet", "one"},
               {"model/config.json", "{}"},
               {"snapshots/snapshot=000000/part-0.parquet", "s"}});
  const Names foreign = {"_coden/lock",
                         "_coden/settings.ini",
                         "model/my.onnx",
                         "notes.txt",
                         "report.html",
                         "snapshots/_delta_log/00000000000000000000.json",
                         "snapshots/notes.txt",
                         "snapshots/snapshot=000000/part-1.parquet",
                         "snapshots/snapshot=000001/part-0.parquet.crc",
                         "state/own/nodes.parquet",
                         "trainings/mine/model/config.json"};
  for (const std::string& name : foreign) folder_.Write("run/" + name, "x");
  folder_.Write("run/_coden/stage/columns-0.f32", "left by a killed process");
  folder_.Write("run/_coden/stage/9/schedule.parquet", "left by a killed process");
  ComeBack();
  Names expected = foreign;
  expected.insert(expected.end(), {"schedule.parquet", "model/config.json",
                                   "snapshots/snapshot=000000/part-0.parquet"});
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(Files(), expected);
  // Nor does a commit remove them that leaves nothing of the run.
  CommitFiles({});
  ComeBack();
  EXPECT_EQ(Files(), foreign);
}

TEST_F(CommitTest, WhatAnInterruptedCommitHasLeftIsRemoved) {
  const std::vector<std::pair<std::string, std::string>> before = {
      {"schedule.parquet", "one"},
      {"work.parquet", "w"},
      {"snapshots/snapshot=000000/part-0.parquet", "s"}};
  CommitFiles(before);
  PublishAlone(Stage({{"schedule.parquet", "two"}}));
  ComeBack();
  EXPECT_EQ(Files(), Names{"schedule.parquet"});
  EXPECT_EQ(Text("schedule.parquet"), "two");
}

TEST_F(CommitTest, AFileThatTookThePlaceOfOneOfTheRunStays) {
  CommitFiles({{"schedule.parquet", "one"}, {"forecast.parquet", "of the run"}});
  CommitFiles({{"schedule.parquet", "two"}});
  // The manifest before has named it, but not these bytes.
  folder_.Write("run/forecast.parquet", "of the user");
  store_ = StoreAt(directory_);
  manifest_ = *LoadManifest(*store_).ValueOrDie();
  const arrow::Status status = Recover(*store_, &manifest_);
  EXPECT_EQ(FaultOf(status), Fault::kUsage);
  EXPECT_EQ(status.message(),
            "'" + directory_ +
                "/forecast.parquet' is not a file of this run, but has the name of one; "
                "move it to another folder, or choose another `run.directory`");
  EXPECT_EQ(Text("forecast.parquet"), "of the user");
}

TEST_F(CommitTest, ARebuildSetsSuchAFileAside) {
  CommitFiles({{"schedule.parquet", "one"}, {"forecast.parquet", "of the run"}});
  EXPECT_EQ(SetChangedFilesAside(*store_, manifest_.AllFiles()).ValueOrDie(), "");
  folder_.Write("run/forecast.parquet", "of the user");
  EXPECT_EQ(SetChangedFilesAside(*store_, manifest_.AllFiles()).ValueOrDie(),
            "unnamed-1");
  EXPECT_EQ(Files(), (Names{"schedule.parquet", "unnamed-1/forecast.parquet"}));
  EXPECT_EQ(Text("unnamed-1/forecast.parquet"), "of the user");
  // One that is missing is none of the user's.
  EXPECT_EQ(SetChangedFilesAside(*store_, manifest_.AllFiles()).ValueOrDie(), "");
  CommitFiles({{"schedule.parquet", "two"}});
  EXPECT_EQ(Files(), (Names{"schedule.parquet", "unnamed-1/forecast.parquet"}));
}

TEST_F(CommitTest, NoFileOfTheUserIsReplaced) {
  CommitFiles({{"schedule.parquet", "one"}});
  folder_.Write("run/trainings/coden-1/metrics.parquet", "of the user");
  folder_.Write("run/metrics.parquet", "of the user");
  for (const std::string name :
       {"metrics.parquet", "trainings/coden-1/metrics.parquet"}) {
    const arrow::Status status = Commit(*store_, Stage({{name, "new"}}), &manifest_);
    EXPECT_EQ(FaultOf(status), Fault::kUsage);
    EXPECT_EQ(manifest_.number, 1);
    EXPECT_EQ(Text(name), "of the user");
  }
  EXPECT_EQ(LoadManifest(*store_).ValueOrDie()->number, 1);
}

// Where such a run is made anew, its files make room.
TEST_F(CommitTest, FilesOfARunWithoutAReadableManifestAreSetAside) {
  const Names named = {"metrics.parquet",
                       "schedule.parquet",
                       "snapshots/snapshot=000007/part-0.parquet",
                       "state/columns-0.parquet",
                       "state/history/changes-000000.parquet",
                       "state/labels-w0-a1-columns.parquet",
                       "work.parquet"};
  const Names others = {"model/my.onnx", "snapshots/_delta_log/0.json",
                        "snapshots/snapshot=x/part-0.parquet",
                        "trainings/coden-1/metrics.parquet"};
  for (const Names* names : {&named, &others}) {
    for (const std::string& name : *names) folder_.Write("run/" + name, "x");
  }
  EXPECT_EQ(UnnamedOutputs(*store_, {}).ValueOrDie(), named);
  EXPECT_EQ(SetUnnamedOutputsAside(*store_, {}).ValueOrDie(), "unnamed-1");
  Names expected = others;
  for (const std::string& name : named) expected.push_back("unnamed-1/" + name);
  EXPECT_EQ(Files(), expected);
  EXPECT_EQ(SetUnnamedOutputsAside(*store_, {}).ValueOrDie(), "");
  // Nothing is put over what an earlier rebuild has kept.
  folder_.Write("run/metrics.parquet", "y");
  EXPECT_EQ(SetUnnamedOutputsAside(*store_, {}).ValueOrDie(), "unnamed-2");
  EXPECT_EQ(Text("unnamed-1/metrics.parquet"), "x");
  EXPECT_EQ(Text("unnamed-2/metrics.parquet"), "y");
}

// An earlier training is kept in the commit that puts another one in its place. It is the
// same file under another name, whatever moment the process ends at.
TEST_F(CommitTest, AKeptTrainingIsWholeWhereverTheCommitEnds) {
  CommitFiles({{"metrics.parquet", "old"}, {"forecast.parquet", "old forecast"}});
  Manifest next = Stage({{"metrics.parquet", "new"}});
  PartRecord kept;
  kept.name = "coden-1";
  for (const FileRecord& file : manifest_.AllFiles()) {
    kept.files.push_back(
        store_->StageCopy(file, RunLayout::OfTraining("coden-1", file.path))
            .ValueOrDie());
  }
  next.trainings.push_back(kept);
  const auto records = next.AllFiles();
  for (std::size_t moved = 0; moved <= records.size(); ++moved) {
    SCOPED_TRACE(moved);
    const std::string copy = folder_.path() + "/copy-" + std::to_string(moved);
    std::filesystem::copy(directory_, copy, std::filesystem::copy_options::recursive);
    store_ = StoreAt(copy);
    PublishAlone(next);
    for (std::size_t i = 0; i < moved; ++i)
      CODEN_EXPECT_OK(store_->Move(records[i].staged, records[i].path));
    manifest_ = *LoadManifest(*store_).ValueOrDie();
    EXPECT_TRUE(Problems().empty());
    CODEN_EXPECT_OK(Recover(*store_, &manifest_));
    EXPECT_EQ(Files(), (Names{"metrics.parquet", "trainings/coden-1/forecast.parquet",
                              "trainings/coden-1/metrics.parquet"}));
    EXPECT_EQ(Text("metrics.parquet"), "new");
    EXPECT_EQ(Text("trainings/coden-1/metrics.parquet"), "old");
    ASSERT_EQ(manifest_.trainings.size(), 1u);
    EXPECT_EQ(manifest_.trainings[0].name, "coden-1");
    EXPECT_EQ(manifest_.FindFile("trainings/coden-1/metrics.parquet"), nullptr);
    EXPECT_TRUE(Problems().empty());
  }
}

TEST_F(CommitTest, ManifestsThatNewerOnesReplacedAreRemoved) {
  for (int commit = 0; commit < 4; ++commit) CommitFiles({{"schedule.parquet", "x"}});
  // A process that ends right after publishing has removed none.
  folder_.Write("run/" + ManifestName(1), ManifestText({}));
  folder_.Write("run/" + ManifestName(2), ManifestText({}));
  ComeBack();
  EXPECT_EQ(store_->List(RunLayout::kCommits).ValueOrDie(),
            (Names{ManifestName(3), ManifestName(4)}));
}

TEST_F(CommitTest, TheSecondOfTwoWritersIsRefused) {
  CommitFiles({{"schedule.parquet", "one"}});
  const auto other = StoreAt(directory_);
  Manifest stale = *LoadManifest(*other).ValueOrDie();
  CommitFiles({{"schedule.parquet", "two"}});
  const Manifest before = stale;
  const arrow::Status status = Commit(*other, {0, {}}, &stale);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "another process is writing to '" + directory_ +
                                  "'; wait for it: it published '" +
                                  (directory_ + "/_coden/manifest-000002.json") +
                                  "' first");
  EXPECT_EQ(stale.number, before.number);
  EXPECT_EQ(Text("schedule.parquet"), "two");
}

TEST_F(CommitTest, VerifyingFindsEveryDamage) {
  const std::string text(5'000'000, 't');  // more than one read
  CommitFiles({{"schedule.parquet", "one"}, {"state/nodes.parquet", text}});
  EXPECT_TRUE(Problems().empty());
  const auto files = VerifyFiles(*store_, manifest_).ValueOrDie();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].path, "state/nodes.parquet");
  EXPECT_EQ(files[1].size, 5'000'000);

  for (const std::size_t place : {std::size_t{0}, text.size() / 2, text.size() - 1}) {
    std::string flipped = text;
    flipped[place] ^= 1;
    folder_.Write("run/state/nodes.parquet", flipped);
    ASSERT_EQ(Problems().size(), 1u) << place;
    EXPECT_TRUE(Problems()[0].starts_with("state/nodes.parquet has the checksum "));
    CODEN_EXPECT_OK(CheckFiles(*store_, manifest_.parts.at(0)));
  }
  folder_.Write("run/state/nodes.parquet", text + "t");
  EXPECT_EQ(Problems(),
            Names{"state/nodes.parquet has 5000001 bytes in place of 5000000"});
  arrow::Status status = CheckFiles(*store_, manifest_.parts.at(0));
  EXPECT_EQ(FaultOf(status), Fault::kCorruption);
  EXPECT_EQ(status.message(), "a file of the run has another size than was written: '" +
                                  (directory_ + "/state/nodes.parquet") +
                                  "': 5000001 in place of 5000000");
  std::filesystem::remove(directory_ + "/state/nodes.parquet");
  EXPECT_EQ(Problems(), Names{"state/nodes.parquet is missing"});
  status = CheckFiles(*store_, manifest_.parts.at(0));
  EXPECT_EQ(FaultOf(status), Fault::kCorruption);
  EXPECT_EQ(status.message(), "a file of the run is missing: '" +
                                  (directory_ + "/state/nodes.parquet") + "'");
}

}  // namespace
}  // namespace coden
