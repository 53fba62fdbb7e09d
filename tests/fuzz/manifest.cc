// The manifest of a run: any text in its place, also with the checksum put right, and a
// manifest made of bytes, which must read back as it was written, and be refused where
// one byte of its text is another.

#include <cmath>
#include <memory>

#include "bytes.h"
#include "check.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"
#include "coden/store/sealed_text.h"
#include "scratch.h"

namespace coden::fuzz {

namespace {

std::string Name(Bytes& bytes) {
  constexpr std::array<std::string_view, 8> kSteps = {
      "state", "snapshot=000001", "a.parquet", "_coden", "..", ".", "", "\\"};
  std::string name(bytes.Pick(kSteps));
  for (int steps = bytes.Below(3); steps > 0; --steps) {
    name += "/" + std::string(bytes.Pick(kSteps));
  }
  return bytes.Below(8) == 0 ? bytes.Text(12) : name;
}

double Seconds(Bytes& bytes) {
  const auto seconds = bytes.Bits<double>();
  return std::isfinite(seconds) ? seconds : 0.5;
}

PartRecord MakePart(Bytes& bytes) {
  constexpr std::array<std::string_view, 4> kNames = {kEmbedPart, kTrainPart,
                                                      kTrainingPart, kPredictPart};
  PartRecord part;
  part.name = bytes.Flag() ? std::string(bytes.Pick(kNames)) : bytes.Text(8);
  part.complete = bytes.Flag();
  part.version = bytes.Text(6);
  part.fingerprint = bytes.Text(16);
  part.parameters = bytes.Text(40);
  for (int i = bytes.Below(3); i > 0; --i) {
    part.figures.push_back(
        {bytes.Text(8), bytes.Text(8), bytes.Text(8), Seconds(bytes), bytes.Integer()});
    StageFigure& figure = part.figures.back();
    if (bytes.Flag()) figure.counts[bytes.Text(4)] = bytes.Integer();
    if (bytes.Flag()) figure.measures[bytes.Text(4)] = Seconds(bytes);
  }
  for (int i = bytes.Below(3); i > 0; --i) part.notes.push_back(bytes.Text(20));
  for (int i = bytes.Below(3); i > 0; --i) {
    part.inputs.push_back(
        {bytes.Text(8), bytes.Text(8), bytes.Integer(), bytes.Integer(), bytes.Text(16)});
  }
  for (int i = bytes.Below(4); i > 0; --i) {
    FileRecord file;
    file.path = Name(bytes);
    file.size = bytes.Integer();
    file.rows = bytes.Integer();
    file.xxh3 = bytes.Text(16);
    if (bytes.Flag()) file.staged = Name(bytes);
    part.files.push_back(std::move(file));
  }
  return part;
}

/// Whether a name stays inside the run.
bool IsInside(const std::string& name) {
  const std::string framed = "/" + name + "/";
  for (const char* const step : {"//", "/./", "/../"}) {
    if (framed.find(step) != std::string::npos) return false;
  }
  return name.find_first_of(std::string_view("\\\0", 2)) == std::string::npos;
}

bool NamesAreInside(const Manifest& manifest) {
  for (const PartRecord& part : manifest.parts) {
    for (const FileRecord& file : part.files) {
      if (!IsInside(file.path) || (!file.staged.empty() && !IsInside(file.staged))) {
        return false;
      }
    }
  }
  return true;
}

class Target {
 public:
  Target() : store_(RunStore::Open(scratch_.path()).ValueOrDie()) {}

  void Run(Bytes& bytes) {
    const int mode = bytes.Below(3);
    if (mode == 0) {
      CheckText(bytes.Flag() ? SealJson("{\n" + bytes.Rest()) : bytes.Rest());
      return;
    }
    Manifest manifest;
    manifest.number = 1;
    for (int i = bytes.Below(4); i > 0; --i) manifest.Replace(MakePart(bytes));
    const std::string text = ManifestText(manifest);
    const auto loaded = Load(text);
    FUZZ_CHECK(loaded.ok() == NamesAreInside(manifest),
               loaded.status().ToString() + text);
    if (!loaded.ok()) return;
    FUZZ_CHECK(ManifestText(**loaded) == text, "the manifest reads back as another one");
    if (mode == 2) CheckDamaged(text, bytes);
  }

 private:
  arrow::Result<std::optional<Manifest>> Load(const std::string& text) {
    scratch_.Write(ManifestName(1), text);
    auto loaded = LoadManifest(*store_);
    if (!loaded.ok()) {
      FUZZ_CHECK(IsPlain(loaded.status(), Fault::kCorruption),
                 loaded.status().ToString());
    } else {
      FUZZ_CHECK(loaded->has_value(), "there is no manifest");
    }
    return loaded;
  }

  void CheckText(const std::string& text) {
    const auto loaded = Load(text);
    if (!loaded.ok()) return;
    FUZZ_CHECK(NamesAreInside(**loaded), "a name leads out of the run");
    // Texts that are no UTF-8 are mended when they are written, once.
    const std::string written = ManifestText(**loaded);
    const auto again = Load(written);
    FUZZ_CHECK(again.ok(), again.status().ToString());
    FUZZ_CHECK(ManifestText(**again) == written,
               "the manifest reads back as another one");
  }

  void CheckDamaged(const std::string& text, Bytes& bytes) {
    std::string damaged = text;
    const auto place = bytes.Bits<std::uint16_t>() % text.size();
    damaged[place] = static_cast<char>(damaged[place] ^ (1 + bytes.Below(255)));
    FUZZ_CHECK(!Load(damaged).ok(), "a damaged manifest was believed");
  }

  Scratch scratch_;
  std::shared_ptr<RunStore> store_;
};

}  // namespace

}  // namespace coden::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static coden::fuzz::Target target;
  coden::fuzz::Bytes bytes(data, size);
  target.Run(bytes);
  return 0;
}
