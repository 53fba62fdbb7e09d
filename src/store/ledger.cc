#include "store/ledger_internal.h"

namespace coden {

void Ledger::Replace(const std::vector<FileRecord>& files) {
  Entries next;
  const std::scoped_lock lock(mutex_);
  for (const FileRecord& file : files) {
    // What waits in the stage is not yet what has its name.
    const std::string& name = file.staged.empty() ? file.path : file.staged;
    const auto before = entries_.find(name);
    const bool checked = before != entries_.end() && before->second.checked &&
                         before->second.record.xxh3 == file.xxh3;
    next[name] = {file, checked};
  }
  entries_ = std::move(next);
}

std::optional<FileRecord> Ledger::Unchecked(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end() || entry->second.checked) return std::nullopt;
  return entry->second.record;
}

void Ledger::MarkChecked(std::string_view name, const FileRecord& record) {
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry != entries_.end() && entry->second.record.xxh3 == record.xxh3)
    entry->second.checked = true;
}

}  // namespace coden
