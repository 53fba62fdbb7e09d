#include "train/chunk_loader_internal.h"

#include <algorithm>
#include <utility>

namespace coden {

ChunkLoader::ChunkLoader(const ModelView& view, std::int64_t num_snapshots,
                         std::vector<Chunk> chunks, std::size_t num_buffers)
    : view_(view),
      num_snapshots_(num_snapshots),
      chunks_(std::move(chunks)),
      buffers_(std::min(num_buffers, std::max<std::size_t>(chunks_.size(), 1))),
      free_(buffers_.size(), true),
      thread_([this] { Load(); }) {}

ChunkLoader::~ChunkLoader() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ChunkLoader::Load() {
  for (std::size_t number = 0; number < chunks_.size(); ++number) {
    const std::size_t buffer = number % buffers_.size();
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || free_[buffer]; });
      if (stopped_) return;
      free_[buffer] = false;
    }
    arrow::Status status;
    try {
      status = Gather(chunks_[number], buffers_[buffer]);
    } catch (const std::exception&) {
      status = arrow::Status::OutOfMemory("no memory for the histories of a mini-batch");
    }
    const bool loaded = status.ok();
    {
      const std::lock_guard lock(mutex_);
      // Moved, because a copy takes memory, and nothing may be thrown here.
      status_ = std::move(status);
      ++num_loaded_;
    }
    changed_.notify_all();
    if (!loaded) return;
  }
}

arrow::Status ChunkLoader::Gather(Chunk chunk, std::vector<float>& out) const {
  const std::int64_t numbers = view_.num_channels() * num_snapshots_;
  out.resize(chunk.size() * static_cast<std::size_t>(numbers));
  float* to = out.data();
  for (const std::int64_t node : chunk) {
    ARROW_RETURN_NOT_OK(view_.Read(node, num_snapshots_, to));
    to += numbers;
  }
  return arrow::Status::OK();
}

arrow::Result<float*> ChunkLoader::Take(std::size_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return num_loaded_ > number || !status_.ok(); });
  ARROW_RETURN_NOT_OK(status_);
  return buffers_[number % buffers_.size()].data();
}

void ChunkLoader::GiveBack(std::size_t number) {
  {
    const std::lock_guard lock(mutex_);
    free_[number % buffers_.size()] = true;
  }
  changed_.notify_all();
}

}  // namespace coden
