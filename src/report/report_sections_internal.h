#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/report/chart.h"
#include "coden/sample/schedule.h"
#include "coden/store/manifest.h"
#include "report/class_scores_internal.h"
#include "report/epoch_log_internal.h"
#include "report/markup_internal.h"
#include "report/micro_f1_internal.h"

// The sections of the report of a run, in its order.

namespace coden {

/// Add Micro-F1 over prediction times: what it is of (`facts`), average, gain, last,
/// chart, and the numbers. The section stays open for what classes add to it.
void AddQualitySection(Markup& page, const MicroF1Summary& summary,
                       const std::string& facts);

/// Add the confusion matrix and the scores of each class to the open section.
void AddClasses(Markup& page, const ClassCounts& counts);

/// Read what the charts need of schedule.parquet.
arrow::Result<Schedule> ReadScheduleColumns(const arrow::Table& table);

/// Add sigma over the rows of the log against `lambda` (NaN: not known) and snapshots per
/// interval.
void AddSamplingSection(Markup& page, const Schedule& schedule, double lambda);

/// Add events and the size of the graph over time.
void AddGraphSection(Markup& page, const Schedule& schedule);

/// The proven error per snapshot against `epsilon`.
Chart ErrorChart(const Schedule& schedule, double epsilon);

/// What the solver did per snapshot, of work.parquet.
arrow::Result<std::vector<Chart>> WorkCharts(const arrow::Table& work);

/// Add loss and validation Micro-F1 over the epochs.
void AddTrainingSection(Markup& page, const EpochLog& log);

/// Add time and memory of the stages; nothing where no stage was timed.
void AddResourcesSection(Markup& page, std::span<const StageFigure> stages);

/// `share` in percent, without digits that only rounding put there.
double InPercent(double share);

}  // namespace coden
