#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/filesystem/type_fwd.h>
#include <arrow/io/type_fwd.h>
#include <arrow/result.h>

#include "coden/store/file_record.h"

namespace coden {

class HashingFile;
class Ledger;

/// The files of one run: a local folder, or a place in an object store. Names are
/// relative to it (RunLayout). What is written is on disk, or in the store, when the call
/// that ends it returns.
class RunStore {
 public:
  /// Open `directory`, a path or a URI, which need not exist.
  static arrow::Result<std::shared_ptr<RunStore>> Open(const std::string& directory);
  virtual ~RunStore();

  /// Whether it is a local folder: only there a file can be renamed, and the run be
  /// locked.
  virtual bool local() const = 0;

  /// A name as users know it, for messages; the directory without a name. Has no
  /// credentials.
  std::string Show(std::string_view name = {}) const;

  /// The size of a file; nothing where there is none.
  arrow::Result<std::optional<std::int64_t>> Size(std::string_view name) const;
  /// Open a file. One that a manifest names (see Expect) is compared with size and
  /// checksum when it is first opened; a corruption error where it differs.
  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenInput(
      std::string_view name) const;
  /// The same for a file that a manifest names, also while its commit is being finished.
  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenInput(
      const FileRecord& record) const;
  /// Open a file as it is, for whoever compares it.
  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenUnchecked(
      std::string_view name) const;
  /// Let `files` be what the newest manifest says, for OpenInput.
  void Expect(const std::vector<FileRecord>& files) const;
  arrow::Result<std::string> ReadText(std::string_view name) const;
  arrow::Result<std::string> ReadText(const FileRecord& record) const;
  /// The names of all files below `folder`, sorted; none where there is no such folder.
  virtual arrow::Result<std::vector<std::string>> List(std::string_view folder) const;

  /// Have the place ready for writing.
  virtual arrow::Status Prepare() = 0;
  /// Start a file, in the place of one that is there, with the folders it needs.
  virtual arrow::Result<std::shared_ptr<HashingFile>> Create(std::string_view name) = 0;
  /// Give a file another name, in the place of the one that has it.
  virtual arrow::Status Move(std::string_view from, std::string_view to) = 0;
  /// Give a file a second name, which must be new. Files are never changed in place, so
  /// the two need not be apart on disk.
  virtual arrow::Status Copy(std::string_view from, std::string_view to) = 0;
  /// Remove a file, and folders it leaves empty; nothing happens where there is none.
  virtual arrow::Status Remove(std::string_view name) = 0;
  /// Write a small file whose name must be new. Returns false where it is taken: of two
  /// local writers one gets it. An object store has no such promise.
  virtual arrow::Result<bool> CreateNew(std::string_view name, std::string_view text) = 0;
  /// Make what was put into the stage survive a crash.
  virtual arrow::Status SyncStage() = 0;
  /// The path of a local file; `local()` must hold.
  virtual std::string LocalPath(std::string_view name) const = 0;

  /// Write a small file and put it in its place whole.
  arrow::Status WriteText(std::string_view name, std::string_view text);
  /// Write a small file into the stage, to be committed as `name`.
  arrow::Result<FileRecord> StageText(std::string_view name, std::string_view text);

  /// Put a copy of a committed file into the stage, to be committed as `name`.
  arrow::Result<FileRecord> StageCopy(const FileRecord& record, std::string_view name);

  /// Have a file that was staged for an earlier commit wait for the next one.
  arrow::Status Restage(FileRecord* record);

  /// Where the file that a manifest calls `record.path` is now: a commit that was
  /// interrupted has not moved it yet.
  arrow::Result<std::string> Locate(const FileRecord& record) const;

  /// Files that are staged from now on belong to the commit of manifest `number`. No two
  /// commits share a name in the stage, so that a manifest never finds a later file where
  /// it left its own.
  void StageFor(int number) { stage_number_ = number; }

  /// Files that are staged from now on go into `folder`, which is nobody else's; where
  /// it is empty, into the stage of the next commit again. Not while another thread
  /// stages.
  void StageInto(std::string folder) { own_stage_ = std::move(folder); }

  /// The name under which `name` waits to be committed. Snapshots, whose names are never
  /// given twice, are written to their place in an object store, where moving is copying.
  std::string StageName(std::string_view name) const;

 protected:
  RunStore(std::string directory, std::shared_ptr<arrow::fs::FileSystem> filesystem,
           std::string base);

  /// An error where `name` is not a file of this run but leads elsewhere.
  virtual arrow::Status CheckInside(std::string_view name) const;

  std::string Inside(std::string_view name) const;
  std::string StageFolder() const;
  arrow::fs::FileSystem& filesystem() const { return *filesystem_; }

 private:
  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenChecked(
      std::string_view name, const FileRecord& record) const;

  std::string directory_;
  std::shared_ptr<arrow::fs::FileSystem> filesystem_;
  std::string base_;
  std::atomic<int> stage_number_ = 1;
  std::string own_stage_;
  std::unique_ptr<Ledger> ledger_;  // never null
};

}  // namespace coden
