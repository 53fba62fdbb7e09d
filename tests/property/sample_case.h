// Random settings of partition and sample, within what validation permits.
#pragma once

#include <algorithm>
#include <ostream>
#include <variant>
#include <vector>

#include <rapidcheck.h>

#include "coden/settings/partition_options.h"
#include "coden/settings/sample_options.h"
#include "property/log_case.h"

namespace coden::property {

struct SampleCase {
  SampleOptions sample;
  PartitionOptions partition;
};

inline rc::Gen<SampleOptions> AnySample(const Case& setup) {
  const bool mass = setup.embed.propagation == Propagation::kMass;
  return rc::gen::map(
      rc::gen::tuple(Between(0, mass ? 3 : 2), Between(0, 7), Between(0, 4)),
      [](const std::tuple<int, int, int>& drawn) {
        constexpr double kLambdas[] = {0.1, 0.7, 3.1, 1e-9, 0.013, 37.0, 1e9};
        SampleOptions sample;
        sample.bound = static_cast<ShiftBound>(std::get<0>(drawn));
        sample.lambda = kLambdas[std::get<1>(drawn)];
        sample.max_per_interval = std::get<2>(drawn);
        return sample;
      });
}

/// Prediction times in a log whose times begin at 0.
inline rc::Gen<PartitionOptions> AnyPartition(bool times_alone = false) {
  return rc::gen::map(
      rc::gen::tuple(Between(times_alone ? 1 : 0, 3), Between(0, times_alone ? 4 : 16),
                     Between(1, times_alone ? 10 : 30),
                     rc::gen::container<std::vector<int>>(Between(1, 12)),
                     Between(times_alone ? 2 : 0, 4)),
      [](const std::tuple<int, int, int, std::vector<int>, int>& drawn) {
        const auto& [way, start, step, gaps, kind] = drawn;
        PartitionOptions partition;
        if (kind < 2) {
          partition.initial = InitialFraction{start / 20.0};
        } else {
          partition.initial = InitialBefore{start};
        }
        partition.unfinished =
            kind % 2 == 0 ? UnfinishedInterval::kPredict : UnfinishedInterval::kWait;
        if (way == 0) partition.predictions = step;
        if (way == 1) partition.width = step;
        if (way == 2) {
          EventTime time = start;
          partition.times = {time};
          for (const int gap : gaps) partition.times.push_back(time += gap);
        }
        return partition;
      });
}

inline rc::Gen<SampleCase> AnySampleCase(const Case& setup, bool times_alone = false) {
  return rc::gen::map(rc::gen::pair(AnySample(setup), AnyPartition(times_alone)),
                      [](const std::pair<SampleOptions, PartitionOptions>& drawn) {
                        return SampleCase{drawn.first, drawn.second};
                      });
}

inline void showValue(const SampleCase& sampling, std::ostream& os) {
  const char* const bounds[] = {"relative", "paper", "strict"};
  const PartitionOptions& partition = sampling.partition;
  os << "sample: " << bounds[static_cast<int>(sampling.sample.bound)] << ", lambda "
     << sampling.sample.lambda << ", max_per_interval "
     << sampling.sample.max_per_interval << "\npartition: initial ";
  if (const auto* before = std::get_if<InitialBefore>(&partition.initial)) {
    os << "before " << before->time;
  } else {
    os << std::get<InitialFraction>(partition.initial).fraction;
  }
  os << ", predictions " << partition.predictions << ", width " << partition.width
     << ", times";
  for (const EventTime time : partition.times) os << " " << time;
  os << (partition.unfinished == UnfinishedInterval::kWait ? ", wait" : ", predict")
     << "\n";
}

}  // namespace coden::property
