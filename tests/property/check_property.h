// Run a property over random cases, and tell how many there were and of what kind.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include <arrow/result.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace coden::property {

/// What the cases of one property were like.
class Tally {
 public:
  void Add(const std::string& what, std::int64_t count = 1) { counts_[what] += count; }
  std::int64_t operator[](const std::string& what) const {
    const auto found = counts_.find(what);
    return found == counts_.end() ? 0 : found->second;
  }
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }

 private:
  std::map<std::string, std::int64_t> counts_;
};

inline std::int64_t NumberFrom(const char* variable, std::int64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

/// How many cases: `usual` as a test of every day; in the long form
/// (CODEN_PROPERTY_CASES, see run.sh) that many over `share`.
struct NumCases {
  int usual;
  int share = 1;
};

inline bool IsLongForm() { return NumberFrom("CODEN_PROPERTY_CASES", 0) > 0; }

/// Says nothing until the end.
class SilentListener : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&,
                      const rc::detail::TestResult&) override {}
};

/// `property(tally)` draws its case, and fails by RC_ASSERT or RC_FAIL. Cases come from
/// CODEN_PROPERTY_SEED; RC_PARAMS=reproduce=... repeats one that failed, as the message
/// says.
template <typename Property>
Tally CheckProperty(const NumCases& cases, const Property& property) {
  using namespace rc::detail;
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  TestMetadata metadata;
  metadata.id = std::string(info->test_suite_name()) + "." + info->name();
  metadata.description = info->name();
  TestParams params = configuration().testParams;
  params.seed = static_cast<std::uint64_t>(NumberFrom("CODEN_PROPERTY_SEED", 1));
  const std::int64_t wanted = NumberFrom("CODEN_PROPERTY_CASES", 0);
  params.maxSuccess = wanted > 0
                          ? static_cast<int>((wanted + cases.share - 1) / cases.share)
                          : cases.usual;
  Tally tally;
  SilentListener listener;
  const auto start = std::chrono::steady_clock::now();
  const TestResult result = checkProperty(toProperty([&] { property(tally); }), metadata,
                                          params, listener, configuration().reproduce);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!result.template is<SuccessResult>()) {
    std::ostringstream message;
    printResultMessage(result, message);
    if (result.template is<FailureResult>()) {
      Configuration again;
      again.reproduce[metadata.id] = result.template get<FailureResult>().reproduce;
      message << "\nrepeat it with RC_PARAMS=\"" << configToMinimalString(again) << "\"";
    }
    ADD_FAILURE() << message.str();
    return tally;
  }
  const auto& success = result.template get<SuccessResult>();
  std::cout << metadata.id << ": " << success.numSuccess << " cases, " << seconds
            << " s\n";
  for (const auto& [what, count] : tally.counts())
    std::cout << "    " << count << " " << what << "\n";
  std::cout << std::flush;
  return tally;
}

inline void Must(const arrow::Status& status) {
  if (!status.ok()) RC_FAIL(status.ToString());
}
template <typename T>
T Must(arrow::Result<T> result) {
  Must(result.status());
  return std::move(result).ValueUnsafe();
}

}  // namespace coden::property
