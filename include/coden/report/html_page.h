#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/ini_text.h"
#include "coden/report/chart.h"
#include "coden/report/results_table.h"

namespace coden {

/// A row of a table of facts.
struct NamedText {
  std::string name;
  std::string text;
};

struct PageSection {
  std::string heading;
  std::string text = {};
  std::vector<Chart> charts = {};
  std::vector<ResultsTable> tables = {};
};

/// A page of tables and charts. Nothing else goes in, no date and no host, so equal pages
/// give equal bytes.
struct HtmlPage {
  std::string title, summary;
  std::vector<PageSection> sections;
  std::vector<std::string> notes;
  std::vector<IniSection> settings;  ///< empty: no section about them
  std::vector<NamedText> versions;
};

/// Write `page` as one HTML file that needs no network: style, script and numbers are in
/// it, and a policy in its head lets nothing else in.
///
/// Every value is escaped, and user and password of URIs are masked. Long series are
/// thinned, and their captions say so. Two charts of one id, and series whose vectors
/// differ in length, are refused as invalid.
arrow::Result<std::string> RenderHtmlPage(const HtmlPage& page);

}  // namespace coden
