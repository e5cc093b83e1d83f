// SPDX-License-Identifier: MIT
//
// The program `spillway-bench`: what a log call costs, beside what people use today, how many rows
// a second reach a database, and how long a writer waits while old rows are deleted. It measures
// and does not judge: a goal that is missed is no error.
#include <CLI/CLI.hpp>

#include "bench/candidate.h"
#include "bench/insert_rate.h"
#include "bench/measurement.h"
#include "bench/report.h"
#include "bench/retention.h"
#include "bench/scratch_directory.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

namespace {

using spillway::bench::InsertRateOptions;
using spillway::bench::MeasurementOptions;

constexpr int kUsage = 2;

struct Options {
  MeasurementOptions measurement;
  InsertRateOptions insert_rate;
  std::int64_t retention_rows = 3'000'000;
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

void add_rate_options(CLI::App& command, InsertRateOptions& options) {
  command
      .add_option("--db", options.db, "The database, d1://ACCOUNT_ID/DATABASE_ID or sqlite:PATH")
      ->required();
  command.add_option("--runs", options.runs, "Runs, of which medians are shown")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command.add_option("--rows", options.pipeline_rows, "Rows of a run through the pipeline")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
}

void add_retention_options(CLI::App& command, Options& options) {
  command.add_option("--rows", options.retention_rows, "Rows in the table, of which half expired")
      ->check(CLI::Range(std::int64_t{1'000}, std::int64_t{100'000'000}))
      ->capture_default_str();
}

int print(const std::string& report) {
  std::cout << report << std::flush;
  return std::cout ? 0 : 1;
}

int run_rate(const InsertRateOptions& options, bool is_json) {
  const auto runs = measure_insert_rates(options);
  if (!runs) {
    std::cerr << "spillway-bench: " << runs.error().to_string() << '\n';
    return runs.error().code() == spillway::StatusCode::kInvalidArgument ? kUsage : 1;
  }
  return print(is_json ? spillway::bench::json_of(*runs) : spillway::bench::table_of(*runs));
}

int run_retention(const Options& options) {
  const spillway::bench::ScratchDirectory scratch(options.directory);
  const auto figures = spillway::bench::measure_retention(options.retention_rows, scratch.path());
  if (!figures) {
    std::cerr << "spillway-bench: " << figures.error().to_string() << '\n';
    return 1;
  }
  return print(options.is_json ? spillway::bench::json_of(*figures)
                               : spillway::bench::table_of(*figures));
}

int run(const Options& options) {
  const spillway::bench::ScratchDirectory scratch(options.directory);
  const auto measurements =
      measure(spillway::bench::candidate_kinds(), options.measurement, scratch.path());
  const std::string report = options.is_json ? json_of(measurements, options.measurement)
                                             : table_of(measurements, options.measurement);
  return print(report);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Measures what a log call costs the thread that logs", "spillway-bench");
  Options options;
  add_options(app, options);
  CLI::App* const rate = app.add_subcommand(
      "rate", "Measures how many rows a second reach a database instead, by their tables there");
  rate->fallthrough(false);
  add_rate_options(*rate, options.insert_rate);
  CLI::App* const retention = app.add_subcommand(
      "retention", "Measures how long a writer waits while half of a table is deleted instead");
  retention->fallthrough(false);
  add_retention_options(*retention, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // Or a wish for help.
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (rate->parsed()) {
    return run_rate(options.insert_rate, options.is_json);
  }
  return retention->parsed() ? run_retention(options) : run(options);
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
