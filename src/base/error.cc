#include "coden/base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

#include <arrow/util/io_util.h>

namespace coden {

namespace {

constexpr char kFaultTypeId[] = "coden::Fault";

class FaultDetail : public arrow::StatusDetail {
 public:
  explicit FaultDetail(Fault fault) : fault_(fault) {}
  const char* type_id() const override { return kFaultTypeId; }
  std::string ToString() const override {
    return "exit code " + std::to_string(static_cast<int>(fault_));
  }
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

// Parquet and the codecs catch a failed allocation and keep it as a text.
bool TellsOfMemory(std::string_view message) {
  return message.find("std::bad_alloc") != message.npos ||
         message.find("not enough memory") != message.npos;
}

// Arrow reports what a store answered in its message only. The names are those of the AWS
// and Google clients, for errors that may be gone at the next try.
bool TellsOfUnreachableStore(const arrow::Status& status) {
  constexpr std::string_view kTexts[] = {
      "AWS Error NETWORK_CONNECTION",
      "AWS Error REQUEST_TIMEOUT",
      "AWS Error SLOW_DOWN",
      "AWS Error THROTTLING",
      "AWS Error SERVICE_UNAVAILABLE",
      "AWS Error INTERNAL_FAILURE",
      "AWS Error UNKNOWN (HTTP status 429)",
      "AWS Error UNKNOWN (HTTP status 5",
      "google::cloud::Status(UNAVAILABLE",
      "google::cloud::Status(DEADLINE_EXCEEDED",
  };
  if (!status.IsIOError() && !status.IsUnknownError()) return false;
  const std::string_view message = status.message();
  return std::any_of(std::begin(kTexts), std::end(kTexts), [&](std::string_view text) {
    return message.find(text) != message.npos;
  });
}

bool IsNetworkError(int error_number) {
  constexpr int kNumbers[] = {ECONNREFUSED, ECONNRESET, ETIMEDOUT,  EHOSTUNREACH,
                              EHOSTDOWN,    ENETDOWN,   ENETUNREACH};
  return std::find(std::begin(kNumbers), std::end(kNumbers), error_number) !=
         std::end(kNumbers);
}

}  // namespace

std::shared_ptr<arrow::StatusDetail> MakeFaultDetail(Fault fault) {
  return std::make_shared<FaultDetail>(fault);
}

std::optional<Fault> FaultOf(const arrow::Status& status) {
  if (status.ok()) return std::nullopt;
  if (status.IsOutOfMemory()) return Fault::kResources;
  const auto& detail = status.detail();
  if (detail != nullptr && std::strcmp(detail->type_id(), kFaultTypeId) == 0) {
    return static_cast<const FaultDetail&>(*detail).fault();
  }
  if (detail == nullptr && TellsOfMemory(status.message())) return Fault::kResources;
  if (TellsOfUnreachableStore(status)) return Fault::kUnavailable;
  const int error_number = arrow::internal::ErrnoFromStatus(status);
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == ENOMEM) {
    return Fault::kResources;
  }
  if (IsNetworkError(error_number)) return Fault::kUnavailable;
  return std::nullopt;
}

arrow::Status WithFault(const arrow::Status& status, Fault fault,
                        std::string_view prefix) {
  if (status.ok() || status.IsCancelled()) return status;
  const std::string message = std::string(prefix) + status.message();
  if (FaultOf(status)) {
    return status.IsOutOfMemory() ? ResourceError(message) : status.WithMessage(message);
  }
  return MakeError(fault, message);
}

}  // namespace coden
