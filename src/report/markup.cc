#include "report/markup_internal.h"

#include "coden/base/printable.h"

namespace coden {

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

void Markup::OpenTag(std::string_view tag, Attributes attributes) {
  text_ += '<';
  text_ += tag;
  for (const auto& [name, value] : attributes) {
    text_ += ' ';
    text_ += name;
    text_ += "=\"" + EscapeMarkup(value) + '"';
  }
  text_ += '>';
}

Markup& Markup::Open(std::string_view tag, Attributes attributes) {
  OpenTag(tag, attributes);
  open_.emplace_back(tag);
  return *this;
}

Markup& Markup::Close() {
  if (open_.empty()) return *this;
  text_ += "</" + open_.back() + '>';
  open_.pop_back();
  return *this;
}

Markup& Markup::Text(std::string_view text) {
  text_ += EscapeMarkup(text);
  return *this;
}

Markup& Markup::Element(std::string_view tag, std::string_view text,
                        Attributes attributes) {
  return Open(tag, attributes).Text(text).Close();
}

Markup& Markup::Void(std::string_view tag, Attributes attributes) {
  OpenTag(tag, attributes);
  return *this;
}

Markup& Markup::Raw(std::string_view markup) {
  text_ += markup;
  return *this;
}

std::string Markup::Finish() {
  while (!open_.empty()) Close();
  return std::move(text_);
}

}  // namespace coden
