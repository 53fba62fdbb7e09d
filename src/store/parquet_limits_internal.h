#pragma once

#include <cstdint>
#include <string>

#include <arrow/memory_pool.h>
#include <arrow/status.h>
#include <parquet/properties.h>

#include "store/machine_memory_internal.h"

namespace coden {

// A Parquet file may have been made by anybody, so what it claims is held against limits
// before it is believed.

/// The pool that files are decoded into. A request beyond the memory of the machine is
/// refused by the pool; the system would grant many of them, and end the process later.
inline arrow::MemoryPool* UntrustedPool() {
  // Never destroyed: buffers may outlive everything else.
  static auto* const pool =
      new arrow::CappedMemoryPool(arrow::default_memory_pool(), MachineMemory());
  return pool;
}

/// Whether `status` is a refusal of the pool above: what was asked for cannot be had
/// here, so it is the file that is wrong, and not the moment.
inline bool IsBeyondMemory(const arrow::Status& status) {
  return status.IsOutOfMemory() &&
         status.message().find("cap exceeded") != std::string::npos;
}

/// Set the limits on a footer, and have the checksums of pages compared. The footer of a
/// file with 4,096 columns and 10,000 row groups stays within them.
inline void LimitFooter(parquet::ReaderProperties* properties) {
  constexpr std::int32_t kStringBytes = 32 << 20;
  constexpr std::int32_t kContainerEntries = 200'000;
  properties->set_thrift_string_size_limit(kStringBytes);
  properties->set_thrift_container_size_limit(kContainerEntries);
  properties->set_page_checksum_verification(true);
}

inline parquet::ReaderProperties UntrustedReaderProperties() {
  parquet::ReaderProperties properties(UntrustedPool());
  LimitFooter(&properties);
  return properties;
}

}  // namespace coden
