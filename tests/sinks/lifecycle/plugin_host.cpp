// SPDX-License-Identifier: MIT
//
// plugin_host PLUGIN stop|leave: loads the plug-in, lets it log, stops it or not, unloads it and
// ends. It has nothing of Spillway in it.
#include <dlfcn.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <string_view>

namespace {

void call(void* plugin, const char* name) {
  using Function = void (*)();
  // POSIX wants this cast to be possible.
  const auto function = reinterpret_cast<Function>(dlsym(plugin, name));
  function();
}

bool is_loaded(const char* path) {
  void* const again = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  return again != nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  void* const plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  if (plugin == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): there is one thread.
    static_cast<void>(std::fprintf(stderr, "plugin_host: %s\n", why));
    return 2;
  }
  spdlog::set_level(spdlog::level::info);  // The host's own spdlog is at work before.
  call(plugin, "plugin_start");
  call(plugin, "plugin_work");
  if (argv[2] == std::string_view("stop")) {
    call(plugin, "plugin_stop");
  }
  dlclose(plugin);
  std::puts(is_loaded(argv[1]) ? "still loaded" : "unloaded");
}
