#pragma once

#include "coden/base/types.h"

namespace coden {

/// The observer of an event graph whose changes nobody follows.
struct Unobserved {
  template <typename Graph>
  void BeforeChange(const Graph&, NodeId) {}
  template <typename Graph>
  void AfterChange(const Graph&, NodeId) {}
};

}  // namespace coden
