#pragma once

#include <optional>
#include <utility>

#include <arrow/status.h>

namespace coden {

/// Say whose fault an error is. Each kind is the process exit code it leads to
/// (docs/cli.md); an error without a kind is a plain failure, exit code 1.
enum class Fault {
  kUsage = 2,        ///< wrong flag, setting or pipeline file
  kInput = 3,        ///< an input file breaks a rule
  kResources = 4,    ///< not enough memory or disk space
  kCorruption = 5,   ///< a file this tool committed is no longer what it wrote
  kUnavailable = 6,  ///< the lock is held or a store is out of reach: try again later
  kHistory = 7,      ///< the run was made from other inputs or settings
};

std::shared_ptr<arrow::StatusDetail> MakeFaultDetail(Fault fault);

/// Return the fault that `status` carries, looking at out-of-memory statuses, at the
/// errno of I/O errors and at what object stores answered as well.
std::optional<Fault> FaultOf(const arrow::Status& status);

/// Give `status` a fault unless it has one. `prefix` is put before its message.
arrow::Status WithFault(const arrow::Status& status, Fault fault,
                        std::string_view prefix = {});

template <typename... Args>
arrow::Status MakeError(Fault fault, Args&&... args) {
  return arrow::Status::FromDetailAndArgs(
      arrow::StatusCode::Invalid, MakeFaultDetail(fault), std::forward<Args>(args)...);
}

/// The messages follow one form: what is wrong, where, the rule, the way out; values
/// last.
template <typename... Args>
arrow::Status UsageError(Args&&... args) {
  return MakeError(Fault::kUsage, std::forward<Args>(args)...);
}
template <typename... Args>
arrow::Status InputError(Args&&... args) {
  return MakeError(Fault::kInput, std::forward<Args>(args)...);
}
template <typename... Args>
arrow::Status ResourceError(Args&&... args) {
  return MakeError(Fault::kResources, std::forward<Args>(args)...);
}
template <typename... Args>
arrow::Status UnavailableError(Args&&... args) {
  return MakeError(Fault::kUnavailable, std::forward<Args>(args)...);
}
template <typename... Args>
arrow::Status HistoryError(Args&&... args) {
  return MakeError(Fault::kHistory, std::forward<Args>(args)...);
}
/// A later pass over an input does not find what an earlier one did.
inline arrow::Status InputChanged() {
  return UnavailableError("an input changed while it was read; run again");
}
template <typename... Args>
arrow::Status CorruptionError(Args&&... args) {
  return MakeError(Fault::kCorruption, std::forward<Args>(args)...);
}

}  // namespace coden
