#pragma once

// What is to happen at which call, as CODEN_FAULT says it; see fault_at.cc.

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace fault {

enum Function {
  kOpen,
  kRead,
  kWrite,
  kFsync,
  kLink,
  kRename,
  kRemove,
  kMkdir,
  kClose,
  kStat,
  kList,
  kAllocate,
  kNumFunctions
};
inline constexpr const char* kNames[kNumFunctions] = {
    "open",   "read",  "write", "fsync", "link", "rename",
    "remove", "mkdir", "close", "stat",  "list", "allocate"};

enum class Effect {
  kKillBefore,
  kKillAfter,
  kFail,
  kShort,
  kShrink,
  kVanish,
  kGarble,
  kReplace
};

struct Plan {
  int function = -1;
  long call = 0;
  Effect effect = Effect::kFail;
  int error = 0;
  char folder[PATH_MAX] = {};
  char report[PATH_MAX] = {};
  char census[PATH_MAX] = {};
  std::size_t allocation = 4096;
};

inline Plan plan;

inline int ErrorOf(const char* name) {
  constexpr struct {
    const char* name;
    int number;
  } kErrors[] = {{"EIO", EIO},     {"ENOSPC", ENOSPC}, {"ENOMEM", ENOMEM},
                 {"EINTR", EINTR}, {"EMFILE", EMFILE}, {"EACCES", EACCES},
                 {"EROFS", EROFS}, {"EDQUOT", EDQUOT}, {"ESTALE", ESTALE}};
  for (const auto& error : kErrors) {
    if (std::strcmp(name, error.name) == 0) return error.number;
  }
  return 0;
}

inline void Misuse(const char* text) {
  std::fprintf(stderr, "fault_at: what is CODEN_FAULT=%s\n", text);
  std::_Exit(99);
}

inline void CopyVariable(const char* name, char (&to)[PATH_MAX]) {
  if (const char* value = std::getenv(name)) std::snprintf(to, sizeof(to), "%s", value);
}

inline void MakePlan() {
  CopyVariable("CODEN_FAULT_FOLDER", plan.folder);
  CopyVariable("CODEN_FAULT_REPORT", plan.report);
  if (const char* bytes = std::getenv("CODEN_FAULT_ALLOCATION")) {
    plan.allocation = std::strtoul(bytes, nullptr, 10);
  }
  const char* const text = std::getenv("CODEN_FAULT");
  if (text == nullptr) return;
  if (std::strncmp(text, "count:", 6) == 0) {
    std::snprintf(plan.census, sizeof(plan.census), "%s", text + 6);
    return;
  }
  char function[16];
  char effect[16];
  if (std::sscanf(text, "%15[^:]:%ld:%15s", function, &plan.call, effect) != 3) {
    Misuse(text);
  }
  for (int i = 0; i < kNumFunctions; ++i) {
    if (std::strcmp(function, kNames[i]) == 0) plan.function = i;
  }
  constexpr const char* kEffects[] = {"kill-before", "kill-after", "",       "short",
                                      "shrink",      "vanish",     "garble", "replace"};
  plan.error = ErrorOf(effect);
  bool known = plan.error != 0;
  for (int i = 0; i < static_cast<int>(std::size(kEffects)); ++i) {
    if (std::strcmp(effect, kEffects[i]) != 0) continue;
    plan.effect = static_cast<Effect>(i);
    known = true;
  }
  if (plan.function < 0 || !known) Misuse(text);
}

}  // namespace fault
