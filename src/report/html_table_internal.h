#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coden/report/results_table.h"

namespace coden {

/// Write `table` as an HTML table with scoped headers. Only the first `max_rows` rows are
/// shown; a line below says so and names `source`, where all of them are.
std::string HtmlTable(const ResultsTable& table, std::size_t max_rows,
                      std::string_view source);

}  // namespace coden
