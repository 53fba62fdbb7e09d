#include <algorithm>
#include <vector>

#include "cli/command_internal.h"
#include "coden/base/error.h"
#include "coden/store/commit.h"

namespace coden {

namespace {

bool Sound(const VerifiedFile& file) { return file.problem.empty(); }

}  // namespace

arrow::Status VerifyCommand(const CommandLine& line, const RunContext& context,
                            std::string* output) {
  if (line.words.size() != 1) return UsageError("`verify` needs one run directory");
  ARROW_ASSIGN_OR_RAISE(const TableFormat format, FormatFrom(line));
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(line.words.front()));
  std::vector<VerifiedFile> files;
  for (bool stands = false; !stands;) {
    ARROW_ASSIGN_OR_RAISE(const Manifest manifest, LoadRun(*store));
    ARROW_ASSIGN_OR_RAISE(files, VerifyFiles(*store, manifest));
    // A run that is being written may have replaced files meanwhile.
    ARROW_ASSIGN_OR_RAISE(const int newest, NewestManifest(*store));
    stands = newest == manifest.number || std::all_of(files.begin(), files.end(), Sound);
  }

  ResultsTable table;
  table.title = "Files of the run";
  table.columns = {{"files", "files", ColumnType::kInteger},
                   {"bytes", "bytes", ColumnType::kInteger},
                   {"damaged", "damaged", ColumnType::kInteger}};
  std::int64_t bytes = 0;
  std::int64_t damaged = 0;
  std::string first;
  for (const VerifiedFile& file : files) {
    bytes += file.size;
    if (Sound(file)) continue;
    if (damaged++ == 0) first = "'" + store->Show(file.path) + "' " + file.problem;
    context.progress->Warn("damaged: '" + store->Show(file.path) + "' " + file.problem);
  }
  table.rows = {{static_cast<std::int64_t>(files.size()), bytes, damaged}};
  *output = Render(table, format);
  if (damaged == 0) return arrow::Status::OK();
  return CorruptionError(damaged, " of ", files.size(),
                         " files of the run are not what was written; rebuild it with "
                         "`coden run --force`; the first: ",
                         first);
}

}  // namespace coden
