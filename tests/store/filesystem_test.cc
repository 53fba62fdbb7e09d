#include "coden/store/filesystem.h"

#include <filesystem>

#include <arrow/filesystem/filesystem.h>
#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

// The S3 client must be shut down before the process ends.
class Closing : public ::testing::Environment {
 public:
  void TearDown() override {
    CloseFilesystems();
    CloseFilesystems();
  }
};
[[maybe_unused]] const auto* const kClosing =
    ::testing::AddGlobalTestEnvironment(new Closing);

TEST(OpenLocation, TakesLocalPathsAndFileUris) {
  TempDir folder;
  for (const std::string& path : {folder.path(), "file://" + folder.path()}) {
    SCOPED_TRACE(path);
    const Location location = OpenLocation(path).ValueOrDie();
    EXPECT_TRUE(location.local);
    EXPECT_EQ(location.path, folder.path());
    EXPECT_TRUE(location.filesystem->GetFileInfo(location.path)->IsDirectory());
  }
}

TEST(OpenLocation, TakesAPathRelativeToTheWorkingDirectory) {
  const Location location = OpenLocation("some/edges.parquet").ValueOrDie();
  EXPECT_EQ(location.path, std::filesystem::absolute("some/edges.parquet"));
}

TEST(OpenLocation, LoadsS3WhenItIsNeeded) {
  const auto location =
      OpenLocation("s3://key:secret@lake/log?endpoint_override=127.0.0.1:1&scheme=http");
  ASSERT_TRUE(location.ok()) << location.status();
  EXPECT_EQ(location->filesystem->type_name(), "s3");
  EXPECT_EQ(location->path, "lake/log");
  EXPECT_FALSE(location->local);
}

TEST(OpenLocation, RefusesWhatItDoesNotKnowWithoutTellingSecrets) {
  const auto unknown = OpenLocation("lake://me:secret@house/log").status();
  EXPECT_EQ(FaultOf(unknown), Fault::kUsage);
  EXPECT_EQ(unknown.message(),
            "cannot open 'lake://***@house/log': the Arrow library here has no storage "
            "called `lake`; a URI begins with file, s3, gs, abfs or hdfs");
  for (const std::string uri : {"s3://key:secret%zz@lake/log",
                                "s3://key:secret@lake/log?secret_key=secret&x=1"}) {
    const auto status = OpenLocation(uri).status();
    EXPECT_EQ(FaultOf(status), Fault::kUsage) << status;
    EXPECT_EQ(status.message().find("secret@"), std::string::npos) << status;
    EXPECT_EQ(status.message().find("=secret"), std::string::npos) << status;
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace coden
