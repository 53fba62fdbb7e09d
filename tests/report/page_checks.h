#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// What the tests of pages share: how to look at the HTML they get.

namespace coden {

inline bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// `html` without what is inside its script and style elements.
inline std::string WithoutScripts(std::string html) {
  for (const std::string tag : {"script", "style"}) {
    for (std::size_t at = html.find("<" + tag); at != std::string::npos;
         at = html.find("<" + tag, at + 1)) {
      const std::size_t end = html.find("</" + tag + ">", at);
      html.erase(at, end + tag.size() + 3 - at);
    }
  }
  return html;
}

/// Every element but meta is closed, in order; "<" occurs in markup only.
inline void CheckWellFormed(const std::string& page) {
  const std::string html = WithoutScripts(page);
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos;
       at = html.find('<', at + 1)) {
    const std::size_t end = html.find_first_of(" >", at);
    const std::string tag = html.substr(at + 1, end - at - 1);
    if (tag == "!DOCTYPE" || tag == "meta") continue;
    if (tag.front() != '/') {
      open.push_back(tag);
      continue;
    }
    ASSERT_FALSE(open.empty());
    ASSERT_EQ(open.back(), tag.substr(1));
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

/// The numbers of a chart, as the page hands them to its script.
inline nlohmann::json ChartOf(const std::string& html, const std::string& id) {
  const std::string start = "<script type=\"application/json\">";
  const std::size_t figure = html.find("id=\"chart-" + id + "\"");
  EXPECT_NE(figure, std::string::npos) << id;
  const std::size_t at = html.find(start, figure) + start.size();
  return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
}

}  // namespace coden
