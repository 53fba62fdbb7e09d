#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/status.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "plan/chunk_size_internal.h"
#include "train/chunk_loader_internal.h"
#include "train/model_view_internal.h"

namespace coden {

using Nodes = std::span<const std::int64_t>;

/// Which of the processes that work together this one is.
struct RankShare {
  int rank = 0;
  int size = 1;
};

/// What a rank has of a mini-batch.
struct DealtBatch {
  Nodes nodes;
  std::size_t first_chunk = 0;  ///< among those of the batch
};

/// Cut `nodes` into batches of `batch`, and deal each in whole chunks of `chunk_nodes`: a
/// rank gets consecutive ones, and as many as any other, or one more. The chunks, and so
/// the results, are the same for any number of ranks.
std::vector<DealtBatch> DealBatches(Nodes nodes, std::size_t batch,
                                    std::size_t chunk_nodes, RankShare share);

/// A pass over nodes: cut into mini-batches, and these into chunks that a loader gathers
/// while others are worked on.
class ChunkPlan {
 public:
  /// Take `nodes`, in their order, in batches of `batch`; chunks have the first
  /// `num_snapshots`. All must outlive the plan. Of each batch only what `share` has is
  /// gathered and worked on.
  ChunkPlan(const ModelView& view, Nodes nodes, std::size_t batch,
            std::int64_t num_snapshots, int num_threads, RankShare share = {});

  struct Batch {
    std::size_t end = 0;          ///< behind its last chunk, counted in chunks
    std::size_t first_chunk = 0;  ///< see DealtBatch
  };
  std::span<const Batch> batches() const { return batches_; }
  std::int64_t num_snapshots() const { return loader_->num_snapshots(); }
  /// The first chunk that is not done.
  std::size_t next() const { return next_; }

  /// Call `visit(nodes, gathered, number)` for the chunks up to `end`, in parallel and in
  /// any order; numbers count from next(). What a visit throws, TBB hands on to the
  /// caller.
  template <typename Visit>
  arrow::Status ForEachChunk(tbb::task_arena& arena, std::size_t end, const Visit& visit);

 private:
  std::vector<Batch> batches_;
  std::unique_ptr<ChunkLoader> loader_;
  std::size_t next_ = 0;
};

template <typename Visit>
arrow::Status ChunkPlan::ForEachChunk(tbb::task_arena& arena, std::size_t end,
                                      const Visit& visit) {
  // Gives a chunk back, also where its work throws: others wait for the buffer.
  struct Held {
    ChunkLoader& loader;
    std::size_t number;
    ~Held() { loader.GiveBack(number); }
  };
  const std::size_t begin = next_;
  next_ = end;
  std::atomic<std::size_t> next = begin;
  std::vector<arrow::Status> failures(end - begin);
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(begin, end, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t task = range.begin(); task < range.end(); ++task) {
            // The loader wants chunks taken in their order; tasks come in any.
            const std::size_t chunk = next++;
            const auto gathered = loader_->Take(chunk);
            if (!gathered.ok()) {
              failures[chunk - begin] = gathered.status();
              continue;
            }
            const Held held{*loader_, chunk};
            visit(loader_->chunks()[chunk], *gathered, chunk - begin);
          }
        },
        tbb::simple_partitioner());
  });
  for (const arrow::Status& failure : failures) ARROW_RETURN_NOT_OK(failure);
  return arrow::Status::OK();
}

}  // namespace coden
