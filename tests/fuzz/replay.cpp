// SPDX-License-Identifier: MIT
//
// Runs a fuzzer's function over every file of the folders that are named, without libFuzzer: so the
// kept inputs and the invariants are part of the ordinary tests, with any compiler.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

// The name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // NOLINT

namespace {

bool run_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open()) {
    return false;
  }
  const auto* bytes =
      reinterpret_cast<const std::uint8_t*>(input.data());  // NOLINT: bytes are bytes
  LLVMFuzzerTestOneInput(bytes, input.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int index = 1; index < argc; ++index) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[index])) {
      if (!run_file(entry.path())) {
        static_cast<void>(std::fprintf(stderr, "cannot read %s\n", entry.path().c_str()));
        return 1;
      }
      ++files;
    }
  }
  std::printf("%zu inputs\n", files);
  return files > 0 ? 0 : 1;
}
