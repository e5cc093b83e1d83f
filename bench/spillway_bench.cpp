// SPDX-License-Identifier: MIT
//
// The program `spillway-bench`: what a log call costs, beside what people use today. It measures
// and does not judge: a goal that is missed is no error.
#include <CLI/CLI.hpp>

#include "bench/candidate.h"
#include "bench/measurement.h"
#include "bench/report.h"
#include "bench/scratch_directory.h"

#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

namespace {

using spillway::bench::MeasurementOptions;

struct Options {
  MeasurementOptions measurement;
  std::string directory = std::filesystem::temp_directory_path();
  bool is_json = false;
};

void add_options(CLI::App& app, Options& options) {
  app.add_flag("--json", options.is_json, "Print one JSON object instead of a table");
  app.add_option("--runs", options.measurement.runs, "Runs, of which medians are shown")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_option("--rounds", options.measurement.rounds, "Bursts of each candidate in a run")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--directory", options.directory, "Where the SQLite files are made, and removed")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
}

int run(const Options& options) {
  const spillway::bench::ScratchDirectory scratch(options.directory);
  const auto measurements =
      measure(spillway::bench::candidate_kinds(), options.measurement, scratch.path());
  const std::string report = options.is_json ? json_of(measurements, options.measurement)
                                             : table_of(measurements, options.measurement);
  std::cout << report << std::flush;
  return std::cout ? 0 : 1;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Measures what a log call costs the thread that logs", "spillway-bench");
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // Or a wish for help.
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "spillway-bench: " << error.what() << '\n';
    return 1;
  }
}
