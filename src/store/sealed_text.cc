// The seal is the xxh3 of every byte but those of its own line, so any program can check
// it without printing the text again as this one would.

#include "coden/store/sealed_text.h"

#include "coden/base/error.h"
#include "coden/store/hasher.h"

namespace coden {

namespace {

constexpr std::size_t kDigits = 16;

// A line of the seal is `before`, the digits, `after`; it follows `head`.
struct Form {
  std::string_view head;
  std::string_view before;
  std::string_view after;

  std::size_t size() const { return before.size() + kDigits + after.size(); }
};

constexpr Form kJson{"{\n", " \"xxh3\": \"", "\",\n"};
constexpr Form kIni{"", "# xxh3 ", "\n"};

std::string SealAs(const Form& form, std::string_view text) {
  std::string sealed(form.head);
  sealed += form.before;
  sealed += HashOf(text.data(), text.size());
  sealed += form.after;
  return sealed += text.substr(form.head.size());
}

bool HasForm(const Form& form, std::string_view sealed) {
  if (!sealed.starts_with(form.head)) return false;
  sealed.remove_prefix(form.head.size());
  return sealed.size() >= form.size() && sealed.starts_with(form.before) &&
         sealed.substr(form.before.size() + kDigits).starts_with(form.after);
}

arrow::Result<std::string> UnsealAs(const Form& form, std::string_view sealed,
                                    const std::string& shown) {
  if (!HasForm(form, sealed)) {
    return CorruptionError("'", shown,
                           "' is damaged or of another version of coden: it carries no "
                           "checksum of itself; run with --force to rebuild");
  }
  std::string text(form.head);
  text += sealed.substr(form.head.size() + form.size());
  const auto digits = sealed.substr(form.head.size() + form.before.size(), kDigits);
  if (HashOf(text.data(), text.size()) == digits) return text;
  return CorruptionError("'", shown,
                         "' is damaged: its contents do not have the checksum it "
                         "carries; run with --force to rebuild");
}

}  // namespace

std::string SealJson(std::string_view text) { return SealAs(kJson, text); }
std::string SealIni(std::string_view text) { return SealAs(kIni, text); }

arrow::Result<std::string> UnsealJson(std::string_view sealed, const std::string& shown) {
  return UnsealAs(kJson, sealed, shown);
}
arrow::Result<std::string> UnsealIni(std::string_view sealed, const std::string& shown) {
  return UnsealAs(kIni, sealed, shown);
}

}  // namespace coden
