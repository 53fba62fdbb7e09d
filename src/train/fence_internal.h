#pragma once

#include <new>
#include <string>

#include <arrow/result.h>
#include <c10/util/Exception.h>

namespace coden {

/// Call `work` and turn what LibTorch throws into a status, so that it stops here.
/// `doing` is for messages, such as "training".
template <typename Value, typename Work>
arrow::Result<Value> WithinFence(const std::string& doing,
                                 const arrow::Status& out_of_memory, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    if (what.find("allocate memory") != std::string::npos) return out_of_memory;
    return arrow::Status::UnknownError("LibTorch failed while ", doing, ": ", what);
  } catch (const std::exception& error) {
    return arrow::Status::UnknownError(doing, " failed: ", error.what());
  }
}

}  // namespace coden
