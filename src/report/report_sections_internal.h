#pragma once

#include <string_view>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/sample/schedule.h"
#include "report/epoch_log_internal.h"
#include "report/markup_internal.h"
#include "report/micro_f1_internal.h"
#include "report/svg_chart_internal.h"

namespace coden {

/// Add a chart with its heading, one sentence about it, and its legend.
void AddFigure(Markup& page, std::string_view heading, std::string_view caption,
               const Chart& chart);

/// Add Micro-F1 over prediction times: chart, average, best, worst, and the numbers.
void AddQualitySection(Markup& page, const MicroF1Summary& summary);

/// Add loss and validation Micro-F1 over the epochs.
void AddTrainingSection(Markup& page, const EpochLog& log);

/// Read what the charts need of schedule.parquet.
arrow::Result<Schedule> ReadScheduleColumns(const arrow::Table& table);

/// Add sigma per snapshot against `lambda` (NaN: not known) and snapshots per interval.
void AddSamplingSection(Markup& page, const Schedule& schedule, double lambda);

/// Add the proven error per snapshot against `epsilon`; nothing where that is not known.
void AddEmbeddingSection(Markup& page, const Schedule& schedule, double epsilon);

/// Add nodes and edges over time.
void AddGraphSection(Markup& page, const Schedule& schedule);

}  // namespace coden
