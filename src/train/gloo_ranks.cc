// Ranks that talk through Gloo, as LibTorch has it built in.
//
// They meet in c10d's store, which the launcher or rank 0 keeps; there they also show
// that they are alive (rank_watch.cc). Data go from rank to rank. A connection whose
// process has ended is closed by the system, so that whoever waits there fails at once,
// and the watch ends every other wait. No transfer has a time limit: how long a step
// takes is the user's business.
//
// The wheel has no headers of Gloo; the system's, which may be older, are only named by
// the header below. So nothing of Gloo itself may be used here, only c10d's classes.

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include <c10/util/Logging.h>
#include <torch/torch.h>
// The wheel is built with it, but does not say so to those who include its headers.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/train/rank_group.h"
#include "train/rank_watch_internal.h"

namespace coden {

namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kNoLimit = std::chrono::hours(24 * 365);
constexpr Milliseconds kPollInterval{20};

std::string Key(const char* what, int rank) {
  return std::string(what) + "/" + std::to_string(rank);
}

std::vector<std::string> Keys(const char* what, int size) {
  std::vector<std::string> keys;
  for (int rank = 0; rank < size; ++rank) keys.push_back(Key(what, rank));
  return keys;
}

std::vector<std::uint8_t> Bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

StorePtr OpenStore(const RankEnvironment& environment, bool serve,
                   Milliseconds patience) {
  c10d::TCPStoreOptions options;
  options.port = environment.port;
  options.isServer = serve;
  options.waitWorkers = false;
  options.timeout = patience;
  return c10::make_intrusive<c10d::PrefixStore>(
      "coden/" + environment.attempt,
      c10::make_intrusive<c10d::TCPStore>(environment.address, options));
}

// Ranks on one machine do not listen to the network, unless they are told where to.
bool OnOneMachine(const std::string& address) {
  return (address == "localhost" || address == "::1" || address.starts_with("127.")) &&
         std::getenv("GLOO_SOCKET_IFNAME") == nullptr;
}

class GlooRanks final : public RankGroup {
 public:
  explicit GlooRanks(const RankEnvironment& environment)
      : RankGroup(environment.rank, environment.size) {}

  ~GlooRanks() override {
    watch_.reset();
    if (left_ || store_ == nullptr) return;
    try {
      store_->set(Key("beat", rank()), Bytes(kFailedBeat));
    } catch (const std::exception&) {  // then they find out by themselves
    }
  }

  void Join(const RankEnvironment& environment, arrow::StopToken stop,
            Milliseconds patience) {
    const bool serves = rank() == 0 && !environment.launcher_store;
    store_ = OpenStore(environment, serves, patience);
    beats_ = OpenStore(environment, /*serve=*/false, patience);
    store_->set(Key("beat", rank()), Bytes("0"));
    store_->wait(Keys("beat", size()), patience);
    auto options = OnOneMachine(environment.address)
                       ? c10d::ProcessGroupGloo::Options::create(patience)
                       : c10d::ProcessGroupGloo::Options::create_default(patience);
    if (options->devices.empty()) {
      options->devices.push_back(
          c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    }
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store_, rank(), size(), options);
    group_->setTimeout(kNoLimit);
    watch_ = std::make_unique<RankWatch>(
        rank(), [this](const std::string& own) { return Exchange(own); }, std::move(stop),
        [this](const arrow::Status& reason) { End(reason); });
  }

  arrow::Status Send(std::span<const std::byte> bytes, int to) override {
    // from_blob takes no const pointer; the bytes are only read.
    std::vector<torch::Tensor> tensors = {
        AsTensor(const_cast<std::byte*>(bytes.data()), bytes.size())};
    return Transfer(bytes.size(), to, [&] { return group_->send(tensors, to, 0); });
  }

  arrow::Status Receive(std::span<std::byte> bytes, int from) override {
    std::vector<torch::Tensor> tensors = {AsTensor(bytes.data(), bytes.size())};
    return Transfer(bytes.size(), from, [&] { return group_->recv(tensors, from, 0); });
  }

  arrow::StopToken stop() const override { return stop_.token(); }

  // Rank 0 may keep the store, so it goes when the others have seen that all are here.
  arrow::Status Leave() override {
    ARROW_RETURN_NOT_OK(Meet("done"));
    try {
      store_->set(Key("gone", rank()), Bytes("1"));
    } catch (const std::exception&) {
      return LostRank(0, size());
    }
    if (rank() == 0) ARROW_RETURN_NOT_OK(Meet("gone"));
    left_ = true;
    return arrow::Status::OK();
  }

 private:
  static torch::Tensor AsTensor(std::byte* first, std::size_t size) {
    return torch::from_blob(first, {static_cast<std::int64_t>(size)}, torch::kUInt8);
  }

  template <typename Post>
  arrow::Status Transfer(std::size_t size, int other, const Post& post) {
    if (size == 0) return arrow::Status::OK();
    bool done = false;
    try {
      {
        const std::lock_guard lock(mutex_);
        ARROW_RETURN_NOT_OK(reason_);
        work_ = post();
      }
      done = work_->wait();
    } catch (const std::exception&) {  // Gloo says which address, we say which rank
    }
    const std::lock_guard lock(mutex_);
    work_.reset();
    if (done) return arrow::Status::OK();
    return reason_.ok() ? LostRank(other, this->size()) : reason_;
  }

  // From the thread of the watch.
  void End(const arrow::Status& reason) {
    const std::lock_guard lock(mutex_);
    reason_ = reason;
    stop_.RequestStop(reason);
    if (work_.defined()) work_->abort();
  }

  arrow::Result<std::vector<std::string>> Exchange(const std::string& own) {
    try {
      beats_->set(Key("beat", rank()), Bytes(own));
      std::vector<std::string> beats;
      for (const auto& beat : beats_->multiGet(Keys("beat", size())))
        beats.emplace_back(beat.begin(), beat.end());
      return beats;
    } catch (const std::exception&) {
      return LostRank(0, size());
    }
  }

  arrow::Status Meet(const char* where) {
    try {
      store_->set(Key(where, rank()), Bytes("1"));
      while (!store_->check(Keys(where, size()))) {
        std::this_thread::sleep_for(kPollInterval);
        const std::lock_guard lock(mutex_);
        ARROW_RETURN_NOT_OK(reason_);
      }
    } catch (const std::exception&) {
      return LostRank(0, size());
    }
    return arrow::Status::OK();
  }

  StorePtr store_;  // of the thread that trains
  StorePtr beats_;  // of the watch: a store has one call at a time
  c10::intrusive_ptr<c10d::Backend> group_;
  mutable arrow::StopSource stop_;
  bool left_ = false;

  std::mutex mutex_;
  arrow::Status reason_;  // why the group has ended
  c10::intrusive_ptr<c10d::Work> work_;
  std::unique_ptr<RankWatch> watch_;  // goes first
};

}  // namespace

arrow::Result<std::unique_ptr<RankGroup>> JoinRanks(const RankEnvironment& environment,
                                                    arrow::StopToken stop,
                                                    std::chrono::seconds patience) {
  // c10d tells every try to connect; our line says what came of it.
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = 3;
  auto ranks = std::make_unique<GlooRanks>(environment);
  try {
    ranks->Join(environment, std::move(stop), patience);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return UnavailableError(
        "the ", environment.size,
        " processes that WORLD_SIZE asks for could not meet at ",
        "MASTER_ADDR:MASTER_PORT within ", patience.count(),
        " s; start all of them, and see that the port is free there and can be reached: ",
        Printable(environment.address), ":", environment.port, ", rank ",
        environment.rank, ": ", Printable(what.substr(0, what.find('\n'))));
  }
  return ranks;
}

}  // namespace coden
