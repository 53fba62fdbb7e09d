// Runs a fuzz target without libFuzzer, as a test of the ordinary build: every file of
// its corpus, and mutations of them that a seed decides.
//
//     fuzz_TARGET [--mutations N] [--seed S] FILE_OR_FOLDER...

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::string;

constexpr std::size_t kLongest = 1 << 14;

Input ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Run(const Input& input) {
  // A copy of its own size, so that a sanitizer sees a read behind the end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

class Mutator {
 public:
  Mutator(const std::vector<Input>& corpus, std::uint64_t seed)
      : corpus_(corpus), random_(seed) {}

  Input Next() {
    Input input = Any();
    for (std::size_t steps = 1 + Below(4); steps > 0; --steps) Change(&input);
    input.resize(std::min(input.size(), kLongest));
    return input;
  }

 private:
  std::size_t Below(std::size_t count) { return random_() % count; }
  const Input& Any() { return corpus_[Below(corpus_.size())]; }

  void Change(Input* input) {
    const std::size_t place = Below(input->size() + 1);
    const std::size_t length =
        Below(std::min<std::size_t>(input->size() - place, 16) + 1);
    switch (Below(6)) {
      case 0:
        if (place < input->size()) (*input)[place] = static_cast<char>(Below(256));
        break;
      case 1:
        if (place < input->size()) {
          (*input)[place] = static_cast<char>((*input)[place] ^ (1 << Below(8)));
        }
        break;
      case 2:
        input->erase(place, length);
        break;
      case 3:
        input->insert(place, 1 + Below(4), static_cast<char>(Below(256)));
        break;
      case 4:
        input->insert(place, input->substr(place, length));
        break;
      default: {
        const Input& other = Any();
        input->replace(place, Input::npos, other, Below(other.size() + 1), Input::npos);
      }
    }
  }

  const std::vector<Input>& corpus_;
  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  std::size_t num_mutations = 0;
  std::uint64_t seed = 1;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      num_mutations = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::filesystem::is_directory(argument)) {
      for (const auto& entry : std::filesystem::directory_iterator(argument)) {
        files.push_back(entry.path());
      }
    } else {
      files.emplace_back(argument);
    }
  }
  // The order of a folder is that of its filesystem.
  std::sort(files.begin(), files.end());
  std::vector<Input> corpus = {Input()};
  for (const auto& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());
    corpus.push_back(ReadFile(file));
    Run(corpus.back());
  }
  Run(corpus.front());
  Mutator mutator(corpus, seed);
  for (std::size_t i = 0; i < num_mutations; ++i) {
    const Input input = mutator.Next();
    // What ends the process is found again from this file.
    if (const char* const last = std::getenv("CODEN_FUZZ_LAST")) {
      std::ofstream(last, std::ios::binary) << input;
    }
    Run(input);
  }
  std::printf("%zu files, %zu mutations\n", files.size(), num_mutations);
  return EXIT_SUCCESS;
}
