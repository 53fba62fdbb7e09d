#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "coden/store/run_store.h"

namespace coden {

/// The store of a run in `directory`, ready for writing.
inline std::shared_ptr<RunStore> StoreAt(const std::string& directory) {
  auto store = RunStore::Open(directory).ValueOrDie();
  EXPECT_TRUE(store->Prepare().ok());
  return store;
}

}  // namespace coden
