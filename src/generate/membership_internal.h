#pragma once

#include <cstddef>
#include <vector>

#include "base/random_internal.h"
#include "coden/base/types.h"

namespace coden::generate {

/// Who is in which community, with moves and uniform draws in constant time.
class Membership {
 public:
  /// Put every node into a community, each equally likely.
  Membership(std::int64_t num_nodes, int num_communities, Random random)
      : community_(num_nodes), position_(num_nodes), members_(num_communities) {
    for (NodeId node = 0; node < num_nodes; ++node) {
      Enter(node, static_cast<int>(random.Below(members_.size())));
    }
  }

  int community(NodeId node) const { return community_[node]; }

  /// Draw a member; the community must not be empty.
  NodeId Draw(int community, Random& random) const {
    const auto& members = members_[community];
    return members[random.Below(members.size())];
  }

  /// Move `node` to one of the other communities, each equally likely.
  void Switch(NodeId node, Random& random) {
    auto& old = members_[community_[node]];
    old[position_[node]] = old.back();
    position_[old.back()] = position_[node];
    old.pop_back();
    const auto by = 1 + random.Below(members_.size() - 1);
    Enter(node, static_cast<int>((community_[node] + by) % members_.size()));
  }

 private:
  void Enter(NodeId node, int community) {
    community_[node] = community;
    position_[node] = members_[community].size();
    members_[community].push_back(node);
  }

  std::vector<int> community_;
  std::vector<std::size_t> position_;
  std::vector<std::vector<NodeId>> members_;
};

}  // namespace coden::generate
