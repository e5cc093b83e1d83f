// SPDX-License-Identifier: MIT
#include "bench/report.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/version.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>

namespace spillway::bench {
namespace {

double median_of(const Measurement& measurement, double RunFigures::*figure) {
  std::vector<double> values;
  for (const RunFigures& run : measurement.runs) {
    values.push_back(run.*figure);
  }
  return median(std::move(values));
}

const Measurement& named(std::span<const Measurement> measurements, std::string_view name) {
  const auto found = std::find_if(measurements.begin(), measurements.end(),
                                  [name](const Measurement& one) { return one.name == name; });
  assert(found != measurements.end());
  return *found;
}

/// The median of the runs' own quotients: within a run both met the same machine.
double quotient(std::span<const Measurement> measurements, const Comparison& comparison) {
  const Measurement& of = named(measurements, comparison.of);
  const Measurement& to = named(measurements, comparison.to);
  std::vector<double> values;
  std::transform(
      of.runs.begin(), of.runs.end(), to.runs.begin(), std::back_inserter(values),
      [](const RunFigures& left, const RunFigures& right) { return left.p50 / right.p50; });
  return median(std::move(values));
}

std::string account_text(const Account& account) {
  std::string text = fmt::format("{} logged", account.logged);
  if (account.stored && account.skipped) {
    text += fmt::format(", {} stored, {} skipped", *account.stored, *account.skipped);
  }
  return text;
}

std::string account_json(const Account& account) {
  std::string json = fmt::format(R"({{"logged":{})", account.logged);
  if (account.stored && account.skipped) {
    json += fmt::format(R"(,"stored":{},"skipped":{})", *account.stored, *account.skipped);
  }
  return json + '}';
}

template <typename Range>
std::string joined_json(const Range& items,
                        const std::function<std::string(decltype(*std::begin(items)))>& json) {
  std::string text;
  for (const auto& item : items) {
    text += (text.empty() ? "" : ",") + json(item);
  }
  return text;
}

}  // namespace

std::string table_of(std::span<const Measurement> measurements, const MeasurementOptions& options) {
  std::string text = fmt::format(
      "spdlog {}.{}.{}; ns a call, in bursts of {} with {} µs between them;\n"
      "medians of {} runs of {} bursts\n\n{:<26}{:>8}{:>8}   {}\n",
      SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH, options.calls, options.pause.count(),
      options.runs, options.rounds, "", "p50", "p99", "records");
  for (const Measurement& measurement : measurements) {
    text += fmt::format(
        "{:<26}{:>8.0f}{:>8.0f}   {}\n", measurement.name, median_of(measurement, &RunFigures::p50),
        median_of(measurement, &RunFigures::p99), account_text(measurement.account));
  }
  text += '\n';
  for (const Comparison& comparison : comparisons()) {
    text += fmt::format("{:<26}{:>8.2f}   goal: at most {:.2f}\n", comparison.name,
                        quotient(measurements, comparison), comparison.goal);
  }
  return text;
}

std::string json_of(std::span<const Measurement> measurements, const MeasurementOptions& options) {
  // All names are our own and have nothing to escape.
  const std::string candidates = joined_json(measurements, [](const Measurement& measurement) {
    return fmt::format(R"({{"name":"{}","p50_ns":{:.1f},"p99_ns":{:.1f},"records":{}}})",
                       measurement.name, median_of(measurement, &RunFigures::p50),
                       median_of(measurement, &RunFigures::p99), account_json(measurement.account));
  });
  const std::string quotients = joined_json(comparisons(), [&](const Comparison& comparison) {
    return fmt::format(R"({{"name":"{}","p50":{:.3f},"goal":{}}})", comparison.name,
                       quotient(measurements, comparison), comparison.goal);
  });
  return fmt::format(R"({{"spdlog":"{}.{}.{}","runs":{},"rounds":{},"calls":{},"pause_us":{},)"
                     R"("candidates":[{}],"quotients":[{}]}})"
                     "\n",
                     SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH, options.runs,
                     options.rounds, options.calls, options.pause.count(), candidates, quotients);
}

}  // namespace spillway::bench
