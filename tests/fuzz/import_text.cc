// Any text as an edge list, a file of JODIE or a data set of TGL, with any options. Every
// line of the text is a row of the log, is dropped and counted, or is none (comment,
// header, empty); and what was written is a log that `coden validate` takes.

#include <algorithm>
#include <filesystem>

#include <arrow/table.h>

#include "bytes.h"
#include "check.h"
#include "coden/import/edge_list.h"
#include "coden/import/jodie.h"
#include "coden/import/tgl.h"
#include "coden/read/validation.h"
#include "coden/store/parquet_file.h"
#include "scratch.h"

namespace coden::fuzz {

namespace {

enum class Format { kEdges, kJodie, kTgl };

std::string_view Trim(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

/// Count the lines that are rows, and the empty ones between them.
std::int64_t CountLines(std::string_view text, std::string_view comments, bool header) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::int64_t rows = 0;
  std::int64_t count = 0;
  std::int64_t waiting = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end == text.npos ? text.size() : end + 1));
    if (line.empty()) {
      ++waiting;
    } else if (comments.find(line.front()) == std::string_view::npos) {
      if (rows > 0) count += waiting;
      waiting = 0;
      if (header) {
        header = false;
        continue;
      }
      ++rows;
      ++count;
    }
  }
  return count;
}

void SetShared(Bytes& bytes, ImportOptions* options) {
  options->ids =
      bytes.Pick(std::array{ImportIds::kAuto, ImportIds::kInteger, ImportIds::kString});
  options->on_error = bytes.Flag() ? OnRowError::kSkip : OnRowError::kStop;
  options->sort = bytes.Flag();
  constexpr std::array kScales = {1000.0, 1.0, 0.001, 1e-300, 1e18};
  if (bytes.Below(4) == 0) options->time_scale = bytes.Pick(kScales);
}

EdgeListOptions MakeEdgeListOptions(Bytes& bytes) {
  EdgeListOptions options;
  SetShared(bytes, &options);
  constexpr std::array kDelimiters = {'\0', ',', '\t', ';', ' ', '|', '1', '#', '\\'};
  constexpr std::array<std::string_view, 8> kColumns = {"auto", "1",   "2",    "3",
                                                        "src",  "row", "none", "4"};
  options.delimiter = bytes.Pick(kDelimiters);
  options.header =
      bytes.Pick(std::array{HeaderRow::kAuto, HeaderRow::kYes, HeaderRow::kNo});
  if (bytes.Below(4) == 0) options.comments = bytes.Flag() ? "" : "#";
  if (bytes.Below(4) == 0) {
    options.src = bytes.Pick(kColumns);
    options.dst = bytes.Pick(kColumns);
    options.time = bytes.Pick(kColumns);
    options.op = bytes.Pick(kColumns);
  }
  if (bytes.Below(4) == 0) options.label = bytes.Pick(kColumns);
  return options;
}

class Target {
 public:
  void Run(Bytes& bytes) {
    std::filesystem::remove_all(out_);
    const auto format =
        bytes.Pick(std::array{Format::kEdges, Format::kJodie, Format::kTgl});
    std::string comments;  // of edge lists alone
    std::string text;
    const RunContext context{&progress_};
    const auto import = [&]() -> arrow::Result<ImportSummary> {
      if (format == Format::kEdges) {
        EdgeListOptions options = MakeEdgeListOptions(bytes);
        comments = options.comments;
        text = bytes.Rest();
        Place(text, &options);
        return ImportEdgeList(options, context);
      }
      if (format == Format::kJodie) {
        JodieOptions options;
        SetShared(bytes, &options);
        if (bytes.Flag()) options.edge_features = EdgeFeatures::kAsUpdates;
        text = bytes.Rest();
        Place(text, &options);
        return ImportJodie(options, context);
      }
      TglOptions options;
      SetShared(bytes, &options);
      text = bytes.Rest();
      Place(text, &options);
      return ImportTgl(options, context);
    };
    const auto summary = import();
    if (!summary.ok()) {
      FUZZ_CHECK(IsPlain(summary.status(), Fault::kInput) ||
                     IsPlain(summary.status(), Fault::kUsage),
                 summary.status().ToString());
      FUZZ_CHECK(!std::filesystem::exists(out_ + "/edges.parquet"),
                 "a log that was refused is there");
      return;
    }
    // Whether there is a header is not asked here.
    const std::int64_t said = summary->num_rows + summary->num_dropped;
    const std::int64_t without = CountLines(text, comments, /*header=*/false);
    const std::int64_t with = CountLines(text, comments, /*header=*/true);
    FUZZ_CHECK(said == without || said == with,
               std::to_string(summary->num_rows) + " rows and " +
                   std::to_string(summary->num_dropped) + " dropped of " +
                   std::to_string(without) + " lines, or " + std::to_string(with));
    CheckLog(*summary);
  }

 private:
  void Place(const std::string& text, ImportOptions* options) {
    options->file = scratch_.Write("text", text);
    options->out = out_;
  }

  void CheckLog(const ImportSummary& summary) const {
    const auto edges = ReadParquetFile(out_ + "/edges.parquet");
    FUZZ_CHECK(edges.ok(), edges.status().ToString());
    FUZZ_CHECK((*edges)->num_rows() == summary.num_rows, "the log has other rows");
    Settings settings;
    settings.input.edges = out_ + "/edges.parquet";
    settings.input.random_features =
        summary.feature_width > 0 ? summary.feature_width : 1;
    settings.graph.lenient = true;
    if (summary.has_op) settings.graph.events = EventMode::kSigned;
    for (const FileRecord& file : summary.files) {
      if (file.path.ends_with("/labels.parquet")) settings.input.labels = file.path;
      if (file.path.ends_with("/feature_updates.parquet")) {
        settings.input.feature_updates = file.path;
      }
    }
    SilentProgress progress;
    const auto problems = ValidateInputs(settings, {&progress});
    FUZZ_CHECK(problems.ok(), problems.status().ToString());
    for (const InputProblem& problem : *problems) {
      FUZZ_CHECK(!problem.fatal, problem.input + ", column " + problem.column + ", row " +
                                     std::to_string(problem.first_row) + ": " +
                                     problem.rule);
    }
  }

  Scratch scratch_;
  std::string out_ = scratch_ / "out";
  SilentProgress progress_;
};

}  // namespace

}  // namespace coden::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static coden::fuzz::Target target;
  coden::fuzz::Bytes bytes(data, size);
  target.Run(bytes);
  return 0;
}
