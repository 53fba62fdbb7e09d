#include "report/flow_picture_internal.h"

#include <algorithm>
#include <cmath>

#include "coden/base/printable.h"
#include "report/markup_internal.h"
#include "report/text_table_internal.h"

namespace coden {

namespace {

constexpr std::size_t kBoxesPerRow = 7;
constexpr double kGap = 22.0;
constexpr double kPadding = 10.0;
constexpr double kLineHeight = 15.0;
constexpr double kLetter = 7.0;  // a generous mean width at the size of the small text
constexpr std::size_t kMaxLines = 3;

struct Box {
  double x, y, width, height;
};

// Break `text` to the width of a box; what does not fit ends in an ellipsis.
std::vector<std::string> BoxLines(std::string_view text, double box_width) {
  if (text.empty()) return {};
  const int columns = static_cast<int>((box_width - 2 * kPadding) / kLetter);
  auto lines = WrapText(Printable(text), columns, /*cut_words=*/true);
  if (lines.size() > kMaxLines) {
    lines.resize(kMaxLines);
    lines.back() += "…";
  }
  return lines;
}

class FlowDrawing {
 public:
  FlowDrawing(std::span<const StageFigure> stages, FlowDirection direction)
      : stages_(stages), across_(direction == FlowDirection::kAcross) {
    const std::size_t per_row = across_ ? std::min(stages.size(), kBoxesPerRow) : 1;
    const auto num_columns = static_cast<double>(per_row);
    width_ = across_ ? 980.0 : 340.0;
    const double box_width = (width_ - 2.0 - kGap * (num_columns - 1)) / num_columns;
    double y = 1.0;
    for (std::size_t first = 0; first < stages.size(); first += per_row) {
      const std::size_t last = std::min(first + per_row, stages.size());
      std::size_t num_lines = 0;
      for (std::size_t i = first; i < last; ++i) {
        texts_.push_back(
            {BoxLines(stages[i].taken, box_width), BoxLines(stages[i].given, box_width)});
        num_lines = std::max(num_lines, texts_[i].taken.size() + texts_[i].given.size());
      }
      const double height =
          38.0 + kLineHeight * static_cast<double>(num_lines + (across_ ? 1 : 0));
      for (std::size_t i = first; i < last; ++i) {
        const double x = 1.0 + static_cast<double>(i - first) * (box_width + kGap);
        boxes_.push_back({x, y, box_width, height});
      }
      y += height + kGap;
    }
    height_ = std::max(1.0, y - kGap + 1.0);
  }

  std::string Draw() {
    std::string label = "Stages of the run:";
    for (const auto& stage : stages_) {
      label += " " + stage.name + " (" + stage.taken + " to " + stage.given +
               (stage.seconds < 0 ? "" : ", " + FormatSeconds(stage.seconds)) + ")";
    }
    svg_.Open("svg", {{"class", across_ ? "flow across" : "flow down"},
                      {"viewBox",
                       "0 0 " + FormatFixed(width_, 0) + " " + FormatFixed(height_, 0)},
                      {"role", "img"},
                      {"aria-label", label}});
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      if (i > 0) DrawArrow(boxes_[i - 1], boxes_[i]);
      DrawBox(i);
    }
    return svg_.Finish();
  }

 private:
  struct Texts {
    std::vector<std::string> taken, given;
  };

  void Label(std::string_view style, double x, double y, std::string_view anchor,
             std::string_view text) {
    svg_.Element("text", text,
                 {{"class", style},
                  {"x", FormatFixed(x, 1)},
                  {"y", FormatFixed(y, 1)},
                  {"text-anchor", anchor}});
  }

  void DrawBox(std::size_t i) {
    const Box& box = boxes_[i];
    const StageFigure& stage = stages_[i];
    svg_.Open("g");
    svg_.Element("title", stage.name + ": " + stage.taken + " → " + stage.given);
    svg_.Element("rect", "",
                 {{"class", "box"},
                  {"x", FormatFixed(box.x, 1)},
                  {"y", FormatFixed(box.y, 1)},
                  {"width", FormatFixed(box.width, 1)},
                  {"height", FormatFixed(box.height, 1)},
                  {"rx", "6"}});
    double y = box.y + 20.0;
    Label("stage", box.x + kPadding, y, "start", stage.name);
    for (const auto& line : texts_[i].taken) {
      Label("taken", box.x + kPadding, y += kLineHeight, "start", line);
    }
    for (const auto& line : texts_[i].given) {
      Label("given", box.x + kPadding, y += kLineHeight, "start", line);
    }
    const std::string time = stage.seconds < 0 ? "kept" : FormatSeconds(stage.seconds);
    const double time_y = across_ ? box.y + box.height - 9.0 : box.y + 20.0;
    Label("time", box.x + box.width - kPadding, time_y, "end", time);
    svg_.Close().Line();
  }

  // Within a row to the right, and otherwise down and back to the first column.
  void DrawArrow(const Box& from, const Box& to) {
    std::string path;
    const auto point = [&path](std::string_view command, double x, double y) {
      path += std::string(command) + FormatFixed(x, 1) + " " + FormatFixed(y, 1);
    };
    if (from.y == to.y) {
      const double y = from.y + 16.0;
      point("M", from.x + from.width + 3, y);
      point("L", to.x - 4, y);
      point("m", -5, -4);
      point("l", 5, 4);
      point("l", -5, 4);
    } else {
      const double start = from.x + from.width / 2, end = to.x + to.width / 2;
      const double middle = to.y - kGap / 2;
      point("M", start, from.y + from.height + 2);
      point("L", start, middle);
      point("L", end, middle);
      point("L", end, to.y - 3);
      point("m", -4, -5);
      point("l", 4, 5);
      point("l", 4, -5);
    }
    svg_.Element("path", "", {{"class", "arrow"}, {"d", path}});
  }

  std::span<const StageFigure> stages_;
  bool across_;
  double width_ = 0.0;
  double height_ = 0.0;
  std::vector<Texts> texts_;
  std::vector<Box> boxes_;
  Markup svg_;
};

}  // namespace

std::string FlowPicture(std::span<const StageFigure> stages, FlowDirection direction) {
  if (stages.empty()) return {};
  return FlowDrawing(stages, direction).Draw();
}

}  // namespace coden
