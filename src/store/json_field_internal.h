#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace coden {

/// A member of a JSON object, which becomes what it initialises. A whole number must fit
/// there: the library would wrap one that does not, and cut one with a fraction. Throws
/// as the library does, for the fence of the reader.
template <typename Json>
class JsonField {
 public:
  JsonField(const Json& object, const char* name) : value_(object.at(name)) {}
  explicit JsonField(const Json& value) : value_(value) {}

  template <typename T>
  T As() const {
    if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      if (!value_.is_array()) Refuse("a list");
      T numbers;
      for (const Json& value : value_) {
        numbers.push_back(JsonField(value).template As<std::int64_t>());
      }
      return numbers;
    } else if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
      return WholeNumber<T>();
    } else {
      return value_.template get<T>();
    }
  }

  template <typename T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    return As<T>();
  }

 private:
  template <typename T>
  T WholeNumber() const {
    const bool fits = value_.is_number_unsigned()
                          ? std::in_range<T>(value_.template get<std::uint64_t>())
                      : value_.is_number_integer()
                          ? std::in_range<T>(value_.template get<std::int64_t>())
                          : false;
    if (!fits) Refuse("a whole number that fits its place");
    return value_.template get<T>();
  }

  [[noreturn]] void Refuse(const char* expected) const {
    throw Json::type_error::create(302, std::string("must be ") + expected, &value_);
  }

  const Json& value_;
};

}  // namespace coden
