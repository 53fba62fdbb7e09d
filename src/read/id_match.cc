#include "coden/read/id_match.h"

#include <cstdio>
#include <utility>

#include "coden/base/printable.h"

namespace coden {

namespace {

constexpr std::size_t kNumExamples = 2;
constexpr std::size_t kLettersShown = 40;

std::string ListOf(const std::vector<std::string>& ids) {
  std::string list;
  for (const std::string& id : ids) list += (list.empty() ? "" : ", ") + id;
  return list;
}

// Blanks other than the usual one, and characters of no width: what Printable leaves as
// it is, because it does no harm in a line of text.
constexpr std::pair<std::string_view, int> kInvisible[] = {
    {"\u00a0", 0xa0},   {"\u00ad", 0xad},   {"\u2002", 0x2002}, {"\u2003", 0x2003},
    {"\u2007", 0x2007}, {"\u2009", 0x2009}, {"\u200a", 0x200a}, {"\u200b", 0x200b},
    {"\u202f", 0x202f}, {"\u2060", 0x2060}, {"\u3000", 0x3000}, {"\ufeff", 0xfeff}};

std::string ShowInvisible(std::string text) {
  for (const auto& [character, code] : kInvisible) {
    char escaped[16];
    std::snprintf(escaped, sizeof(escaped), "\\u{%x}", static_cast<unsigned>(code));
    for (std::size_t at = text.find(character); at != text.npos;
         at = text.find(character, at)) {
      text.replace(at, character.size(), escaped);
    }
  }
  return text;
}

}  // namespace

IdMatch MatchLabels(const Labels& labels, const std::vector<bool>& in_log) {
  IdMatch match;
  for (const LabelEntry& entry : labels.entries)
    match.Add(entry.node, /*num_rows=*/1, in_log[entry.node], *labels.nodes);
  return match;
}

std::string ShowId(NodeId node, const NodeIdMap& nodes) {
  std::string text = nodes.Show(node);
  if (text.size() > kLettersShown) text = text.substr(0, kLettersShown) + "...'";
  return Printable(ShowInvisible(std::move(text)));
}

void LogNodes::Add(NodeId node, const NodeIdMap& nodes) {
  if (++count <= static_cast<std::int64_t>(kNumExamples))
    examples.push_back(ShowId(node, nodes));
}

void IdMatch::Add(NodeId node, std::int64_t num_rows, bool in_log,
                  const NodeIdMap& nodes) {
  rows += num_rows;
  if (in_log) {
    matched += num_rows;
  } else if (num_rows > 0 && examples.size() < kNumExamples) {
    examples.push_back(ShowId(node, nodes));
  }
}

std::optional<std::string> IdMatch::Refusal(const LogNodes& log) const {
  if (rows == 0 || matched > 0) return std::nullopt;
  return "none of the " + CountOf(rows, "rows") +
         " names a node of the edge log; write the ids as the log has them, to the last "
         "blank: " +
         ListOf(examples) + " here, " + ListOf(log.examples) + " in the log, which has " +
         CountOf(log.count, "nodes");
}

std::optional<std::string> IdMatch::Warning(std::string_view input) const {
  if (matched == 0 || 2 * matched >= rows) return std::nullopt;
  const double share = 100.0 * static_cast<double>(matched) / static_cast<double>(rows);
  return std::string(input) + ": " + FormatFixed(share, 1) + " % of the rows (" +
         FormatCount(matched) + " of " + FormatCount(rows) +
         ") name a node of the edge log; the others do not, such as " + ListOf(examples);
}

}  // namespace coden
