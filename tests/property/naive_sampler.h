// The schedule of `sample.bound = relative` and `paper` by the definition, event by
// event, with nothing remembered but the edges.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "coden/sample/lazy_sampler.h"
#include "property/model_graph.h"

namespace coden::property {

class NaiveSampler {
 public:
  NaiveSampler(const SampleOptions& sample, const EmbedOptions& embed,
               const GraphOptions& graph, std::vector<float> largest)
      : sample_(sample), embed_(embed), model_(graph), largest_(std::move(largest)) {}

  void Event(const EdgeEvent& event) {
    TakePending();
    present_.insert({event.src, event.dst});
    Follow([&] { model_.ExpireUntil(event.time); });
    Follow([&] { model_.Apply(event); });
    if (sample_.bound == ShiftBound::kPaper)
      sigma_ += 2.0 * static_cast<double>(present_.size()) * embed_.epsilon;
    ++num_events_;
    last_time_ = event.time;
    const bool room = sample_.max_per_interval == 0 || inside_ < sample_.max_per_interval;
    pending_ = prediction_ > 0 && room && sigma_ > sample_.lambda;
    // Rounding may go either way here.
    if (std::abs(sigma_ - sample_.lambda) < 1e-6 * sample_.lambda) close_ = true;
  }

  void Features(NodeId node, float largest) {
    TakePending();
    present_.insert(node);
    const float before = largest_[node];
    largest_[node] = largest;
    Add(double(before) + largest);
  }

  void Start(EventTime time) {
    if (num_events_ > 0) Take(time, false, 0.0);
    prediction_ = 1;
  }

  void Predict(EventTime time) {
    Follow([&] { model_.ExpireUntil(time); });
    Take(time, true, sigma_);
    ++prediction_;
    inside_ = 0;
  }

  const Schedule& schedule() const { return schedule_; }
  /// Whether a decision was so close that rounding may have made another one.
  bool close() const { return close_; }

 private:
  template <typename Change>
  void Follow(const Change& change) {
    const auto before = Degrees();
    change();
    const auto after = Degrees();
    for (const auto& [node, degree] : Union(before, after)) {
      int now = DegreeOf(before, node);
      const int to = DegreeOf(after, node);
      // Arc by arc. No change of one kind both adds and removes.
      while (now != to) {
        const int next = now < to ? now + 1 : now - 1;
        const double norm = now == 0 || next == 0 ? 1.0 : 2.0 / std::max(now, next);
        Add((1.0 - embed_.alpha) / embed_.alpha * norm * largest_[node]);
        now = next;
      }
    }
  }

  using DegreeTable = std::map<NodeId, int>;
  DegreeTable Degrees() const {
    DegreeTable degrees;
    for (const auto& [src, dst] : model_.Arcs()) ++degrees[src];
    return degrees;
  }
  static DegreeTable Union(DegreeTable left, const DegreeTable& right) {
    left.insert(right.begin(), right.end());
    return left;
  }
  static int DegreeOf(const DegreeTable& degrees, NodeId node) {
    const auto found = degrees.find(node);
    return found == degrees.end() ? 0 : found->second;
  }

  void Add(double shift) {
    if (sample_.bound == ShiftBound::kPaper) {
      sigma_ += shift;
      return;
    }
    double mass = 0.0;
    for (const NodeId node : present_) mass += largest_[node];
    if (mass > 0.0) sigma_ += shift / mass;
  }

  void TakePending() {
    if (!pending_) return;
    ++inside_;
    Take(last_time_, false, sigma_);
  }

  void Take(EventTime time, bool at_prediction, double sigma) {
    SchedulePoint point;
    point.snapshot = static_cast<int>(schedule_.size());
    point.prediction = prediction_;
    point.at_prediction = at_prediction;
    point.time = time;
    point.events = num_events_;
    point.num_nodes = static_cast<std::int64_t>(present_.size());
    point.num_edges = static_cast<std::int64_t>(model_.edges().size());
    point.sigma = sigma;
    schedule_.push_back(point);
    sigma_ = 0.0;
    pending_ = false;
  }

  SampleOptions sample_;
  EmbedOptions embed_;
  ModelGraph model_;
  std::vector<float> largest_;  // by node
  std::set<NodeId> present_;
  Schedule schedule_;
  double sigma_ = 0.0;
  int prediction_ = 0;
  int inside_ = 0;
  std::int64_t num_events_ = 0;
  EventTime last_time_ = 0;
  bool pending_ = false;
  bool close_ = false;
};

}  // namespace coden::property
