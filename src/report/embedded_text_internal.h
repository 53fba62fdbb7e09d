#pragma once

#include <span>
#include <string_view>

namespace coden {

/// A text of the page that the build puts into the program (tools/embed_text.py). Long
/// literals are not portable, hence the pieces.
struct EmbeddedText {
  std::span<const std::string_view> pieces;
  std::string_view hash;  ///< of the whole text, as a Content-Security-Policy writes it
};

extern const EmbeddedText kUplotScript;  ///< begins with the licence of uPlot
extern const EmbeddedText kUplotStyle;
extern const EmbeddedText kReportScript;  ///< web/*.js
extern const EmbeddedText kReportStyle;   ///< web/report.css

}  // namespace coden
