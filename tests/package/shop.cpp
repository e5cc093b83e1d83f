// SPDX-License-Identifier: MIT
//
// Somebody else's program. The same for each way to get Spillway; its record names the spdlog that
// it was compiled with.
#include <spillway/database_sink.h>

namespace {

#if defined(SHOP_SPDLOG)
constexpr const char* kSpdlog = SHOP_SPDLOG;
#elif defined(SPDLOG_COMPILED_LIB)
constexpr const char* kSpdlog = "the compiled spdlog";
#else
constexpr const char* kSpdlog = "the header-only spdlog";
#endif

}  // namespace

int main() {
  spillway::database_logger_mt("shop", "sqlite:logs.db")->info("order {} by {}", 42, kSpdlog);
}
