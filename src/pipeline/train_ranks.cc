// How several processes come to train on one run (docs/distributed_training.md). Rank 0
// decides, recovers and commits as if it were alone; the others follow it and read.
//
// Nothing that they read changes under them: rank 0 commits the next time after an epoch,
// in which all have taken part, and what it commits then are files of the training.

#include "pipeline/train_ranks_internal.h"

#include "coden/base/error.h"
#include "coden/store/hasher.h"

namespace coden {

namespace {

// What rank 0 sends first. The checksum of a manifest covers those of all files it names.
struct Call {
  std::string manifest;  // empty: nothing is trained
  std::string inputs;    // fingerprint of settings and input files
};

arrow::Status SendText(RankGroup& ranks, std::string_view text, int to) {
  const std::uint64_t size[] = {text.size()};
  ARROW_RETURN_NOT_OK(ranks.Send(std::as_bytes(std::span(size)), to));
  return ranks.Send(std::as_bytes(std::span(text)), to);
}

arrow::Result<std::string> ReceiveText(RankGroup& ranks, int from) {
  std::uint64_t size[] = {0};
  ARROW_RETURN_NOT_OK(ranks.Receive(std::as_writable_bytes(std::span(size)), from));
  std::string text(size[0], '\0');
  ARROW_RETURN_NOT_OK(ranks.Receive(std::as_writable_bytes(std::span(text)), from));
  return text;
}

// Which manifest it is, to the byte.
arrow::Result<std::string> NameOf(const RunStore& store, int number) {
  const std::string name = ManifestName(number);
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(name));
  return name + " " + HashOf(text.data(), text.size());
}

arrow::Status SendAll(RankGroup& ranks, const Call& call, const std::string& saved) {
  for (int rank = 1; rank < ranks.size(); ++rank) {
    ARROW_RETURN_NOT_OK(SendText(ranks, call.manifest, rank));
    if (call.manifest.empty()) continue;
    ARROW_RETURN_NOT_OK(SendText(ranks, call.inputs, rank));
    ARROW_RETURN_NOT_OK(SendText(ranks, saved, rank));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status CallRanks(RankGroup& ranks, const RunStore& store, int number,
                        const Fingerprints& prints, const std::string& saved) {
  ARROW_ASSIGN_OR_RAISE(std::string manifest, NameOf(store, number));
  return SendAll(ranks, {std::move(manifest), prints.train}, saved);
}

arrow::Status DismissRanks(RankGroup& ranks) { return SendAll(ranks, {}, {}); }

arrow::Result<Manifest> AssistTraining(const Settings& settings,
                                       const RunRequest& request,
                                       const RunContext& context) {
  RankGroup& ranks = *request.ranks;
  Call call;
  ARROW_ASSIGN_OR_RAISE(call.manifest, ReceiveText(ranks, 0));
  if (call.manifest.empty()) return Manifest{};
  ARROW_ASSIGN_OR_RAISE(call.inputs, ReceiveText(ranks, 0));
  TrainMemory memory;
  ARROW_ASSIGN_OR_RAISE(memory.saved, ReceiveText(ranks, 0));
  memory.ranks = &ranks;

  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(auto loaded, LoadManifest(*store));
  std::string found = "no manifest";
  if (loaded) {
    ARROW_ASSIGN_OR_RAISE(found, NameOf(*store, loaded->number));
  }
  Manifest manifest = std::move(loaded).value_or(Manifest{});
  if (found != call.manifest) {
    return UsageError("rank ", ranks.rank(), " finds another run than rank 0 in '",
                      store->Show(),
                      "'; `run.directory` must be the same folder for all ",
                      "ranks: ", found, " in place of ", call.manifest);
  }
  ARROW_ASSIGN_OR_RAISE(const Fingerprints prints,
                        ComputeFingerprints(settings, manifest, /*known_first=*/true));
  if (prints.train != call.inputs) {
    return UsageError("rank ", ranks.rank(), " has other settings or input files than ",
                      "rank 0; give all ranks the same pipeline file and inputs");
  }
  ARROW_RETURN_NOT_OK(request.train(settings, *store, memory, context).status());
  return manifest;
}

}  // namespace coden
