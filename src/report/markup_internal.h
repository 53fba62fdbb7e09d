#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coden {

/// Make any text safe inside an HTML or SVG element or a quoted attribute: Printable, and
/// the five characters that mean something to a parser as entities.
std::string EscapeMarkup(std::string_view text);

/// Write HTML and inline SVG, element by element, so that every element is closed and
/// every text and attribute is escaped.
class Markup {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Start an element. `tag` and attribute names are literals of the program.
  Markup& Open(std::string_view tag, Attributes attributes = {});
  /// End the element opened last.
  Markup& Close();
  Markup& Text(std::string_view text);
  /// A whole element that holds nothing but text.
  Markup& Element(std::string_view tag, std::string_view text,
                  Attributes attributes = {});
  /// An element of HTML that has no end, such as meta.
  Markup& Void(std::string_view tag, Attributes attributes = {});
  /// Insert what another Markup or the program itself wrote; never a value from data.
  Markup& Raw(std::string_view markup);
  Markup& Line() { return Raw("\n"); }

  /// Close what is open and hand over the text.
  std::string Finish();

 private:
  void OpenTag(std::string_view tag, Attributes attributes);

  std::string text_;
  std::vector<std::string> open_;
};

}  // namespace coden
