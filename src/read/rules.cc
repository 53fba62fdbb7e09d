#include <algorithm>

#include <arrow/type.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "read/rules_internal.h"

namespace coden {

std::string Breach::Sentence() const {
  return value.empty() ? rule : rule + ": " + value;
}

namespace {

arrow::Status RefuseAt(std::string place, const Breach& breach) {
  if (!breach.column.empty()) place += ", column '" + breach.column + "'";
  if (breach.row >= 0) place += ", row " + std::to_string(breach.row);
  return InputError(place, ": ", breach.Sentence());
}

}  // namespace

OnBreach Refuse(const std::string& path) {
  return [place = "'" + MaskCredentials(path) + "'"](const Breach& breach) {
    return RefuseAt(place, breach);
  };
}

OnBreach Refuse(const ParquetSource& source) {
  return [&source,
          place = "'" + MaskCredentials(source.path()) + "'"](const Breach& breach) {
    if (breach.row < 0 || source.files().size() < 2) return RefuseAt(place, breach);
    const ParquetSource::Place found = source.PlaceOf(breach.row);
    Breach in_file = breach;
    in_file.row = found.row;
    return RefuseAt(place + ", file '" + found.file->name + "'", in_file);
  };
}

arrow::Status ColumnPlace::Report(std::int64_t row, std::string_view rule,
                                  std::string value) const {
  return on_breach(
      {std::string(column), first_row + row, std::string(rule), std::move(value)});
}

std::string ColumnRule(const arrow::Schema& schema, const std::string& name,
                       std::string_view setting, TypeCheck fits,
                       std::string_view type_rule) {
  // A message stays a line however many columns a file has, and however long their names.
  constexpr int kNamesShown = 12;
  constexpr std::size_t kLettersShown = 40;
  std::string names;
  int num_fitting = 0;
  for (const auto& field : schema.fields()) {
    const std::string& other = field->name();
    if (!fits(*field->type()) || other == name) continue;
    if (++num_fitting > kNamesShown) continue;
    names += (names.empty() ? "" : ", ") + other.substr(0, kLettersShown);
    if (other.size() > kLettersShown) names += "...";
  }
  if (num_fitting > kNamesShown)
    names += " and " + FormatCount(num_fitting - kNamesShown) + " more";
  const bool several = schema.GetAllFieldIndices(name).size() > 1;
  const std::string found =
      several ? "there are several columns of this name" : "there is no such column";
  if (names.empty()) {
    return found + ", and no other has a type that fits `" + std::string(setting) +
           "`; " + std::string(type_rule);
  }
  return found + "; set `" + std::string(setting) + "` to one of: " + names;
}

}  // namespace coden
