#include "coden/graph/event_graph.h"

#include "coden/base/error.h"

namespace coden {

arrow::Status NoSuchEdge() {
  return InputError(
      "the row deletes an edge that is not there; set `graph.lenient = true` to skip "
      "and count such rows");
}

}  // namespace coden
