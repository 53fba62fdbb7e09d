#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace coden {

/// Read a whole column of a table this tool wrote. `file` names the table in errors; a
/// missing column, another type or a null is a corruption error.
arrow::Result<std::vector<double>> RealColumn(const arrow::Table& table,
                                              const std::string& file,
                                              const std::string& column);
/// As RealColumn, but a null is NaN.
arrow::Result<std::vector<double>> OptionalRealColumn(const arrow::Table& table,
                                                      const std::string& file,
                                                      const std::string& column);
/// As RealColumn, of int32 or int64.
arrow::Result<std::vector<std::int64_t>> IntegerColumn(const arrow::Table& table,
                                                       const std::string& file,
                                                       const std::string& column);
/// As RealColumn, of bool; one byte a flag.
arrow::Result<std::vector<std::uint8_t>> FlagColumn(const arrow::Table& table,
                                                    const std::string& file,
                                                    const std::string& column);
/// As RealColumn, of string; the texts belong to `table`.
arrow::Result<std::vector<std::string_view>> TextColumn(const arrow::Table& table,
                                                        const std::string& file,
                                                        const std::string& column);

}  // namespace coden
