// SPDX-License-Identifier: MIT
//
// The two objects of namespace scope of lifecycle_globals. Which of them is destroyed first is up
// to the order in which their files are linked.
#pragma once

#include <spdlog/logger.h>

#include <memory>

struct GlobalService {
  GlobalService() = default;
  GlobalService(const GlobalService&) = delete;
  GlobalService& operator=(const GlobalService&) = delete;
  ~GlobalService();

  std::shared_ptr<spdlog::logger> log = {};  ///< Its own hold: the logger lives as long as it.
};

extern std::shared_ptr<spdlog::logger> global_logger;
extern GlobalService global_service;
