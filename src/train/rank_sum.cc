// Sums over ranks with the bits of a sum in one process.
//
// An all-reduce adds what every rank has summed before, so its rounding depends on how
// many there are. Here the sum goes along the ranks: rank r takes the sum of the chunks
// before its own, adds its chunks one by one and hands it on; the last rank has the
// total, which goes back the same way. As ranks have consecutive chunks this is the order
// in which one process adds. It costs what a reduction and a broadcast cost, two
// transfers of the gradient per rank: only the additions, which are few beside the work
// on a chunk, are no longer done in parallel. Pieces of it are on their way at the same
// time, so that more ranks do not take longer.

#include "train/rank_sum_internal.h"

#include <algorithm>

namespace coden {

namespace {

constexpr std::size_t kPieceNumbers = std::size_t{1} << 18;  // 1 MB

// Bring `values` from the rank before, let `add` do this rank's part, and hand them on.
template <typename Value, typename Add>
arrow::Status GoForward(RankGroup* ranks, std::span<Value> values, const Add& add) {
  const bool first = ranks == nullptr || ranks->rank() == 0;
  const bool last = ranks == nullptr || ranks->rank() + 1 == ranks->size();
  if (!first) {
    ARROW_RETURN_NOT_OK(
        ranks->Receive(std::as_writable_bytes(values), ranks->rank() - 1));
  }
  add();
  return last ? arrow::Status::OK()
              : ranks->Send(std::as_bytes(values), ranks->rank() + 1);
}

// Bring the values of the last rank to all.
template <typename Value>
arrow::Status GoBack(RankGroup* ranks, std::span<Value> values) {
  if (ranks == nullptr) return arrow::Status::OK();
  if (ranks->rank() + 1 < ranks->size()) {
    ARROW_RETURN_NOT_OK(
        ranks->Receive(std::as_writable_bytes(values), ranks->rank() + 1));
  }
  return ranks->rank() == 0 ? arrow::Status::OK()
                            : ranks->Send(std::as_bytes(values), ranks->rank() - 1);
}

}  // namespace

arrow::Result<StepSum> SumChunks(RankGroup* ranks, std::span<const ChunkSum> chunks,
                                 std::size_t length) {
  // Loss, weight, and how many chunks have a gradient: the first of them is copied,
  // because adding it to zero would lose the sign of its zeros.
  double header[3] = {};
  const std::span<double> head(header);
  std::int64_t num_before = 0;
  ARROW_RETURN_NOT_OK(GoForward(ranks, head, [&] {
    num_before = static_cast<std::int64_t>(header[2]);
    for (const ChunkSum& chunk : chunks) {
      if (chunk.gradient.empty()) continue;
      header[0] += chunk.loss;
      header[1] += chunk.weight;
      header[2] += 1.0;
    }
  }));
  StepSum sum;
  sum.gradient.resize(length);
  std::vector<std::span<float>> pieces;
  for (std::size_t begin = 0; begin < length; begin += kPieceNumbers) {
    pieces.push_back(
        std::span(sum.gradient).subspan(begin, std::min(kPieceNumbers, length - begin)));
  }
  for (const std::span<float> piece : pieces) {
    const std::size_t begin =
        static_cast<std::size_t>(piece.data() - sum.gradient.data());
    ARROW_RETURN_NOT_OK(GoForward(ranks, piece, [&] {
      std::int64_t num_added = num_before;
      for (const ChunkSum& chunk : chunks) {
        if (chunk.gradient.empty()) continue;
        const float* from = chunk.gradient.data() + begin;
        if (num_added++ == 0) {
          std::copy_n(from, piece.size(), piece.data());
        } else {
          for (std::size_t i = 0; i < piece.size(); ++i) piece[i] += from[i];
        }
      }
    }));
  }
  ARROW_RETURN_NOT_OK(GoBack(ranks, head));
  for (const std::span<float> piece : pieces) ARROW_RETURN_NOT_OK(GoBack(ranks, piece));
  sum.loss = header[0];
  sum.weight = header[1];
  return sum;
}

arrow::Status SumCounts(RankGroup* ranks, std::span<std::int64_t> counts) {
  const std::vector<std::int64_t> own(counts.begin(), counts.end());
  ARROW_RETURN_NOT_OK(GoForward(ranks, counts, [&] {
    const bool first = ranks == nullptr || ranks->rank() == 0;
    for (std::size_t i = 0; i < own.size() && !first; ++i) counts[i] += own[i];
  }));
  return GoBack(ranks, counts);
}

}  // namespace coden
