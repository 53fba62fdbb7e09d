#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "train/model_view_internal.h"

namespace coden {

/// Gather the histories of chunks of nodes ahead of those who train on them: one thread
/// fills a ring of buffers in the order of the chunks, while others work on those that
/// are filled. Memory is that of the ring, however many chunks there are.
class ChunkLoader {
 public:
  using Chunk = std::span<const std::int64_t>;

  /// Gather the first `num_snapshots` of every channel of `view` for all `chunks`, which
  /// must outlive the loader, as well as `view`. At most `num_buffers` chunks are held.
  ChunkLoader(const ModelView& view, std::int64_t num_snapshots,
              std::vector<Chunk> chunks, std::size_t num_buffers);
  ~ChunkLoader();

  std::int64_t num_snapshots() const { return num_snapshots_; }
  std::span<const Chunk> chunks() const { return chunks_; }

  /// Wait until chunk `number` is there and return it as [nodes, channels, snapshots].
  /// Chunks must be taken in their order, and each be given back: a buffer waits for the
  /// chunk that had it before.
  arrow::Result<float*> Take(std::size_t number);
  void GiveBack(std::size_t number);

 private:
  void Load();
  arrow::Status Gather(Chunk chunk, std::vector<float>& out) const;

  const ModelView& view_;
  const std::int64_t num_snapshots_;
  const std::vector<Chunk> chunks_;
  std::vector<std::vector<float>> buffers_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> free_;  // by buffer
  std::size_t num_loaded_ = 0;
  bool stopped_ = false;
  arrow::Status status_;
  std::thread thread_;
};

}  // namespace coden
