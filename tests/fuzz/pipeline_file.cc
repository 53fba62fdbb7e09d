// Any text as a pipeline file. What is refused is a usage error that names the file; what
// is taken reads back as the same settings from the file that ToIni writes of it.

#include <cstdlib>

#include "check.h"
#include "cli/pipeline_file_internal.h"
#include "coden/settings/settings.h"
#include "scratch.h"

namespace coden::fuzz {

namespace {

arrow::Status Read(const Scratch& scratch, std::string_view text, Settings* settings) {
  SettingPlaces places;
  return ReadPipelineFile(scratch.Write("pipeline.ini", text), settings, &places);
}

}  // namespace

}  // namespace coden::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coden;
  static const fuzz::Scratch scratch;
  static const int variable = ::setenv("CODEN_FUZZ", "some words", /*replace=*/1);
  FUZZ_CHECK(variable == 0, "cannot set the variable");

  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Settings settings;
  const arrow::Status status = fuzz::Read(scratch, text, &settings);
  if (!status.ok()) {
    FUZZ_CHECK(fuzz::IsPlain(status, Fault::kUsage), status.ToString());
    FUZZ_CHECK(status.message().find("pipeline.ini") != std::string::npos,
               status.ToString());
    return 0;
  }
  const arrow::Status valid = Validate(settings);
  FUZZ_CHECK(valid.ok() || fuzz::IsPlain(valid, Fault::kUsage), valid.ToString());

  const std::string written = ToIni(settings);
  Settings again;
  FUZZ_OK(fuzz::Read(scratch, written, &again));
  FUZZ_CHECK(ToIni(again) == written, written + "became\n" + ToIni(again));
  FUZZ_CHECK(Validate(again).ok() == valid.ok(), "validity has changed");
  return 0;
}
