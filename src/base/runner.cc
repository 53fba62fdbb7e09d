// A pass is cut into sections, runs of neighbouring stages that one thread drives. Within
// a section a batch is pushed through all stages before the next one is read; between two
// sections it waits in a hand-over. The first section to fail leaves its error and then
// abandons every hand-over, which is what ends the others.

#include "coden/base/runner.h"

#include <deque>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/handover_internal.h"
#include "base/time_sheet_internal.h"

namespace coden {

namespace {

constexpr std::int64_t kHandoverBytes = 64 << 20;
constexpr std::size_t kHandoverBatches = 8;

// Whom a time sheet charges: these two, then the stages in flow order, then the sink.
constexpr std::size_t kWaiting = 0;
constexpr std::size_t kSource = 1;
constexpr std::size_t kFirstStage = 2;

// An exception that left a thread would end the process, so none does.
template <typename Work>
arrow::Status Fenced(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return arrow::Status::OutOfMemory(
        "out of memory; see `coden plan` for what is needed");
  } catch (const std::exception& exception) {
    return arrow::Status::UnknownError(exception.what());
  }
}

class Pass {
 public:
  Pass(arrow::RecordBatchReader& source, std::span<Operator* const> stages,
       const Emit& sink, const RunContext& context, const PassThreads& threads)
      : source_(source), stages_(stages), sink_(sink), context_(context) {
    std::size_t begin = 0;
    if (threads.read_ahead_of) begin = Cut(begin, *threads.read_ahead_of);
    on_caller_ = sections_.size();
    if (threads.write_behind_from) begin = Cut(begin, *threads.write_behind_from);
    AddSection(begin, stages.size());
  }

  arrow::Result<PassTimes> Run() {
    {
      std::vector<std::jthread> threads;
      EndAllUnlessOk([&] {
        for (std::size_t i = 0; i < sections_.size(); ++i) {
          if (i == on_caller_) continue;
          threads.emplace_back([this, i] { EndAllUnlessOk([&] { return Drive(i); }); });
        }
        return Drive(on_caller_);
      });
    }
    ARROW_RETURN_NOT_OK(first_error_);
    PassTimes times;
    times.stages.resize(stages_.size());
    for (const Section& section : sections_) {
      times.source += section.sheet.seconds(kSource);
      for (std::size_t i = section.begin; i < section.end; ++i) {
        times.stages[i] = section.sheet.seconds(kFirstStage + i);
      }
    }
    return times;
  }

 private:
  struct Section {
    std::size_t begin;  // its stages
    std::size_t end;
    Handover* input;   // null: the source
    Handover* output;  // null: the sink
    TimeSheet sheet;
  };

  void AddSection(std::size_t begin, std::size_t end) {
    Handover* input = handovers_.empty() ? nullptr : &handovers_.back();
    sections_.push_back(
        {begin, end, input, nullptr, TimeSheet(kFirstStage + stages_.size() + 1)});
  }

  // Close the section of the stages [begin, end) with a hand-over; returns where the next
  // one begins.
  std::size_t Cut(std::size_t begin, std::size_t end) {
    AddSection(begin, end);
    sections_.back().output = &handovers_.emplace_back(kHandoverBytes, kHandoverBatches);
    return end;
  }

  template <typename Work>
  void EndAllUnlessOk(const Work& work) {
    arrow::Status status = Fenced(work);
    if (status.ok()) return;
    {
      const std::lock_guard lock(error_mutex_);
      // Moved, because a copy takes memory, and nothing may be thrown here.
      if (first_error_.ok()) first_error_ = std::move(status);
    }
    for (Handover& handover : handovers_) handover.Abandon();
  }

  arrow::Result<Parcel> Next(Section& section, std::int64_t rows_before) {
    if (section.input != nullptr) {
      section.sheet.Switch(kWaiting);
      return section.input->Take();
    }
    section.sheet.Switch(kSource);
    Parcel parcel;
    ARROW_RETURN_NOT_OK(source_.ReadNext(&parcel.batch));
    if (parcel.batch != nullptr) {
      parcel.source_rows = rows_before + parcel.batch->num_rows();
    }
    return parcel;
  }

  arrow::Status Drive(std::size_t index) {
    Section& section = sections_[index];
    std::int64_t rows = 0;  // of the source, up to the batch at work
    const auto charged = [&](std::size_t worker, const auto& work) {
      const std::size_t caller = section.sheet.Switch(worker);
      arrow::Status status = work();
      section.sheet.Switch(caller);
      return status;
    };
    // entrances[i] is that of the section's i-th stage, the last one the way out.
    const std::size_t num_stages = section.end - section.begin;
    std::vector<Emit> entrances(num_stages + 1);
    for (std::size_t i = 0; i < num_stages; ++i) {
      entrances[i] = [&, i](BatchPtr batch) {
        return charged(kFirstStage + section.begin + i, [&] {
          return stages_[section.begin + i]->Push(std::move(batch), entrances[i + 1]);
        });
      };
    }
    entrances.back() = [&](BatchPtr batch) {
      if (section.output == nullptr) {
        return charged(kFirstStage + stages_.size(),
                       [&] { return sink_(std::move(batch)); });
      }
      return charged(kWaiting,
                     [&] { return section.output->Put({std::move(batch), rows}); });
    };

    while (true) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_ASSIGN_OR_RAISE(Parcel parcel, Next(section, rows));
      if (parcel.batch == nullptr) break;
      rows = parcel.source_rows;
      ARROW_RETURN_NOT_OK(entrances[0](std::move(parcel.batch)));
      if (index == on_caller_) context_.progress->Advance(rows);
    }
    for (std::size_t i = 0; i < num_stages; ++i) {
      section.sheet.Switch(kFirstStage + section.begin + i);
      ARROW_RETURN_NOT_OK(stages_[section.begin + i]->Finish(entrances[i + 1]));
    }
    section.sheet.Switch(kWaiting);
    return section.output == nullptr ? arrow::Status::OK() : section.output->Put({});
  }

  arrow::RecordBatchReader& source_;
  std::span<Operator* const> stages_;
  const Emit& sink_;
  const RunContext& context_;
  std::vector<Section> sections_;
  std::deque<Handover> handovers_;  // a deque, because sections point into it
  std::size_t on_caller_ = 0;
  std::mutex error_mutex_;
  arrow::Status first_error_;
};

}  // namespace

arrow::Result<PassTimes> Run(arrow::RecordBatchReader& source,
                             std::span<Operator* const> stages, const Emit& sink,
                             const RunContext& context, const PassThreads& threads) {
  SchemaPtr schema = source.schema();
  for (Operator* stage : stages) {
    ARROW_ASSIGN_OR_RAISE(schema, stage->Bind(schema));
  }
  return Pass(source, stages, sink, context, threads).Run();
}

}  // namespace coden
