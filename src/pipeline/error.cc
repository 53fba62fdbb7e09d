#include "coden/pipeline/error.h"

#include <cerrno>
#include <cstring>
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

}  // namespace

std::shared_ptr<arrow::StatusDetail> MakeFaultDetail(Fault fault) {
  return std::make_shared<FaultDetail>(fault);
}

std::optional<Fault> FaultOf(const arrow::Status& status) {
  if (status.ok()) return std::nullopt;
  if (status.IsOutOfMemory()) return Fault::kResources;
  const auto& detail = status.detail();
  if (detail == nullptr) {
    return TellsOfMemory(status.message()) ? std::optional(Fault::kResources)
                                           : std::nullopt;
  }
  if (std::strcmp(detail->type_id(), kFaultTypeId) == 0) {
    return static_cast<const FaultDetail&>(*detail).fault();
  }
  const int error_number = arrow::internal::ErrnoFromStatus(status);
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == ENOMEM) {
    return Fault::kResources;
  }
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
