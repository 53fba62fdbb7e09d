#include "coden/store/run_store.h"

#include <algorithm>

#include <arrow/buffer.h>
#include <arrow/filesystem/filesystem.h>
#include <arrow/io/interfaces.h>
#include <arrow/io/memory.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/store/filesystem.h"
#include "coden/store/hasher.h"
#include "coden/store/run_layout.h"
#include "store/hashing_file_internal.h"
#include "store/ledger_internal.h"
#include "store/run_store_internal.h"

namespace coden {

namespace {

// A file up to this size is read once, compared and handed over from memory; a longer one
// is read for its checksum first.
constexpr std::int64_t kHeldBytes = 8 << 20;

// The first `size` bytes; an error names the file, which Arrow does not.
arrow::Result<std::shared_ptr<arrow::Buffer>> ReadBytes(arrow::io::RandomAccessFile& file,
                                                        std::int64_t size,
                                                        const std::string& shown) {
  auto bytes = file.ReadAt(0, size);
  if (bytes.ok()) return bytes;
  return bytes.status().WithMessage("cannot read '", shown,
                                    "': ", bytes.status().message());
}

arrow::Result<std::string> WholeText(arrow::io::RandomAccessFile& file,
                                     const std::string& shown) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t size, file.GetSize());
  ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadBytes(file, size, shown));
  return bytes->ToString();
}

}  // namespace

RunStore::RunStore(std::string directory,
                   std::shared_ptr<arrow::fs::FileSystem> filesystem, std::string base)
    : directory_(std::move(directory)),
      filesystem_(std::move(filesystem)),
      base_(std::move(base)),
      ledger_(std::make_unique<Ledger>()) {
  while (base_.size() > 1 && base_.ends_with('/')) base_.pop_back();
}

RunStore::~RunStore() = default;

arrow::Result<std::shared_ptr<RunStore>> RunStore::Open(const std::string& directory) {
  ARROW_ASSIGN_OR_RAISE(Location location, OpenLocation(directory));
  return location.local
             ? MakeLocalRunStore(directory, location.filesystem, location.path)
             : MakeObjectRunStore(directory, location.filesystem, location.path);
}

std::string RunStore::Show(std::string_view name) const {
  // The parameters of a URI say how to get there, not where it is.
  std::string text = MaskCredentials(directory_);
  if (text.find("://") != std::string::npos)
    text.resize(std::min(text.size(), text.find('?')));
  if (name.empty()) return text;
  if (!text.ends_with('/')) text += '/';
  return text += name;
}

std::string RunStore::Inside(std::string_view name) const {
  if (name.empty()) return base_;
  std::string path = base_;
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

arrow::Result<std::optional<std::int64_t>> RunStore::Size(std::string_view name) const {
  ARROW_ASSIGN_OR_RAISE(const auto info, filesystem_->GetFileInfo(Inside(name)));
  if (!info.IsFile()) return std::nullopt;
  return info.size();
}

arrow::Status RunStore::CheckInside(std::string_view) const {
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> RunStore::OpenUnchecked(
    std::string_view name) const {
  ARROW_RETURN_NOT_OK(CheckInside(name));
  auto file = filesystem_->OpenInputFile(Inside(name));
  // Arrow names a file that it cannot open, but not one that it cannot look at.
  if (!file.ok() && file.status().message().find(Inside(name)) == std::string::npos) {
    return file.status().WithMessage("cannot open '", Show(name),
                                     "': ", file.status().message());
  }
  return file;
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> RunStore::OpenChecked(
    std::string_view name, const FileRecord& record) const {
  auto opened = OpenUnchecked(name);
  if (FaultOf(opened.status())) return opened.status();
  if (!opened.ok()) {
    return WithFault(opened.status(), Fault::kCorruption,
                     "cannot read '" + Show(record.path) + "': ");
  }
  std::shared_ptr<arrow::io::RandomAccessFile> file = *std::move(opened);
  ARROW_ASSIGN_OR_RAISE(const std::int64_t size, file->GetSize());
  const auto differs = [&](const auto& found, const auto& expected, const char* unit) {
    return CorruptionError("'", Show(record.path),
                           "' is not what was written, or is just being replaced; try "
                           "again, and rebuild it with --force where that does not "
                           "help: ",
                           unit, found, " in place of ", expected);
  };
  if (size != record.size) return differs(size, record.size, "size ");
  std::string found;
  if (size <= kHeldBytes) {
    ARROW_ASSIGN_OR_RAISE(auto bytes, ReadBytes(*file, size, Show(record.path)));
    found = HashOf(bytes->data(), static_cast<std::size_t>(bytes->size()));
    file = std::make_shared<arrow::io::BufferReader>(std::move(bytes));
  } else {
    ARROW_ASSIGN_OR_RAISE(found, HashFile(*file));
  }
  if (found != record.xxh3) return differs(found, record.xxh3, "xxh3 ");
  ledger_->MarkChecked(name, record);
  return file;
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> RunStore::OpenInput(
    std::string_view name) const {
  const auto record = ledger_->Unchecked(name);
  return record ? OpenChecked(name, *record) : OpenUnchecked(name);
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> RunStore::OpenInput(
    const FileRecord& record) const {
  ARROW_ASSIGN_OR_RAISE(const std::string place, Locate(record));
  auto file = OpenChecked(place, record);
  // It may be moved between the look and the opening.
  if (!file.ok() && place != record.path) file = OpenChecked(record.path, record);
  return file;
}

void RunStore::Expect(const std::vector<FileRecord>& files) const {
  ledger_->Replace(files);
}

arrow::Result<std::string> RunStore::ReadText(std::string_view name) const {
  ARROW_ASSIGN_OR_RAISE(const auto file, OpenInput(name));
  return WholeText(*file, Show(name));
}

arrow::Result<std::string> RunStore::ReadText(const FileRecord& record) const {
  ARROW_ASSIGN_OR_RAISE(const auto file, OpenInput(record));
  return WholeText(*file, Show(record.path));
}

arrow::Result<std::vector<std::string>> RunStore::List(std::string_view folder) const {
  arrow::fs::FileSelector selector;
  selector.base_dir = Inside(folder);
  selector.recursive = true;
  selector.allow_not_found = true;
  ARROW_ASSIGN_OR_RAISE(const auto infos, filesystem_->GetFileInfo(selector));
  const std::size_t prefix = Inside({}).size() + (base_.ends_with('/') ? 0 : 1);
  std::vector<std::string> names;
  for (const auto& info : infos) {
    if (info.IsFile()) names.push_back(info.path().substr(prefix));
  }
  std::sort(names.begin(), names.end());
  return names;
}

arrow::Result<FileRecord> RunStore::StageText(std::string_view name,
                                              std::string_view text) {
  FileRecord record;
  record.path = name;
  record.staged = StageName(name);
  record.size = static_cast<std::int64_t>(text.size());
  ARROW_ASSIGN_OR_RAISE(const auto file, Create(record.staged));
  ARROW_RETURN_NOT_OK(file->Write(text.data(), record.size));
  ARROW_RETURN_NOT_OK(file->Close());
  record.xxh3 = file->Digest();
  return record;
}

arrow::Result<FileRecord> RunStore::StageCopy(const FileRecord& record,
                                              std::string_view name) {
  ARROW_ASSIGN_OR_RAISE(const std::string place, Locate(record));
  FileRecord copy = record;
  copy.path = name;
  copy.staged = StageName(name);
  ARROW_RETURN_NOT_OK(Copy(place, copy.staged));
  return copy;
}

arrow::Status RunStore::WriteText(std::string_view name, std::string_view text) {
  ARROW_ASSIGN_OR_RAISE(const FileRecord record, StageText(name, text));
  return Move(record.staged, record.path);
}

arrow::Status RunStore::Restage(FileRecord* record) {
  std::string name = StageName(record->path);
  if (name == record->staged) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(Move(record->staged, name));
  record->staged = std::move(name);
  return arrow::Status::OK();
}

arrow::Result<std::string> RunStore::Locate(const FileRecord& record) const {
  if (!record.staged.empty() && record.staged != record.path) {
    ARROW_ASSIGN_OR_RAISE(const auto size, Size(record.staged));
    if (size) return record.staged;
  }
  return record.path;
}

std::string RunStore::StageName(std::string_view name) const {
  if (!local() && own_stage_.empty() && name.starts_with(RunLayout::kSnapshots))
    return std::string(name);
  std::string flat(name);
  std::replace(flat.begin(), flat.end(), '/', '~');
  return StageFolder() + "/" + flat;
}

std::string RunStore::StageFolder() const {
  if (!own_stage_.empty()) return own_stage_;
  return std::string(RunLayout::kStage) + "/" + std::to_string(stage_number_);
}

}  // namespace coden
