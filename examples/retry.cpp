// SPDX-License-Identifier: MIT
#include <spillway/prepared_statement.h>
#include <spillway/retrying_database.h>

#include <cstdint>
#include <iostream>
#include <string>

using spillway::Result;
using spillway::Status;

// In the place of a service of your own: it answers 503 twice, while it restarts.
Result<std::string> fetch_user() {
  static int calls = 0;
  if (++calls < 3) {
    return Status(spillway::StatusCode::kPermanent, "restarting").with_http_status(503);
  }
  return std::string("ada");
}

void tell(const spillway::RetryEvent& event) {
  std::cout << event.operation << " failed: " << event.failure.message() << "; attempt "
            << event.attempt << " of " << event.attempts_max << ", again in " << event.delay.count()
            << " ms\n";
}

Status answer_request(spillway::Database& db) {
  // However much fails in here, all of it together waits for 6 s at most.
  const spillway::RetryScope scope;

  // For what is not a database: say what may be tried again.
  const auto user = spillway::retry(fetch_user, {.policy = spillway::RetryPolicy::session_read(),
                                                 .operation = "fetch user",
                                                 .predicate = spillway::is_server_error,
                                                 .on_retry = tell});
  if (!user) {
    return user.error();
  }
  // A visit has a key of its own, so that to store it twice is to store it once: say so, and it is
  // tried again also when the answer to it was lost.
  const auto stored = db.prepare("INSERT INTO visits VALUES(?, ?) ON CONFLICT DO NOTHING")
                          .bind("visit-1", *user)
                          .run({.is_idempotent = true});
  // A read needs no mark.
  const auto count = db.prepare("SELECT count(*) AS n FROM visits").first<std::int64_t>("n");
  if (!stored || !count) {
    return !stored ? stored.error() : count.error();
  }
  std::cout << *user << " has " << **count << " visit\n";
  return {};
}

Status serve() {
  auto opened = spillway::open("sqlite:visits.db", spillway::OpenMode::kCreate);
  if (!opened) {
    return opened.error();
  }
  // Once, at the top: from here on everybody uses the wrapped one.
  const auto db = spillway::RetryingDatabase::wrap(*std::move(opened), {.on_retry = tell});
  if (!db) {
    return db.error();
  }
  if (const auto made =
          (*db)->exec("CREATE TABLE IF NOT EXISTS visits(id TEXT PRIMARY KEY, user TEXT)");
      !made) {
    return made.error();
  }
  return answer_request(**db);
}

int main() {
  const Status status = serve();
  if (!status.is_ok()) {
    std::cerr << status.to_string() << '\n';
    return 1;
  }
  return 0;
}
