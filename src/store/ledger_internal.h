#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coden/store/file_record.h"

namespace coden {

/// What the newest manifest that this process has seen says of each file, by the name
/// where the manifest leaves it. Threads may share it.
class Ledger {
 public:
  /// Forget the manifest before. A file that was found to be right stays so while its
  /// record does not change.
  void Replace(const std::vector<FileRecord>& files);

  /// The record of a file that has not been compared with it yet.
  std::optional<FileRecord> Unchecked(std::string_view name) const;

  /// Note that the file of this name is what `record` says.
  void MarkChecked(std::string_view name, const FileRecord& record);

 private:
  struct Entry {
    FileRecord record;
    bool checked = false;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  mutable std::mutex mutex_;
  Entries entries_;
};

}  // namespace coden
