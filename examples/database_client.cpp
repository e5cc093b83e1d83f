// SPDX-License-Identifier: MIT
#include <spillway/prepared_statement.h>

#include <cstdint>
#include <iostream>
#include <string>

// With the database of your application, D1 or a file; no log is involved.
spillway::Status keep_orders(spillway::Database& db) {
  if (const auto made = db.exec("CREATE TABLE IF NOT EXISTS orders(item TEXT, price INTEGER)");
      !made) {
    return made.error();
  }
  // Bound values keep their types; a batch is one transaction, and each call one request to D1.
  const auto insert = db.prepare("INSERT INTO orders VALUES(?, ?)");
  const auto stored = db.batch({insert.bind("lamp", 40), insert.bind("chair", 95)});
  const auto count = db.prepare("SELECT count(*) AS n FROM orders").first<std::int64_t>("n");
  const auto dear = db.prepare("SELECT item FROM orders WHERE price > ?").bind(50).all();
  if (!stored || !count || !dear) {  // Each failure is a value, with a class and a message.
    return !stored ? stored.error() : !count ? count.error() : dear.error();
  }
  for (const spillway::RowView row : *dear) {
    const auto item = row.get<std::string>("item");
    if (!item) {
      return item.error();
    }
    std::cout << *item << " of " << **count << '\n';
  }
  return {};
}

int main() {
  const auto db = spillway::open("sqlite:shop.db", spillway::OpenMode::kCreate);
  const spillway::Status status = db ? keep_orders(**db) : db.error();
  if (!status.is_ok()) {
    std::cerr << status.to_string() << '\n';
    return 1;
  }
  return 0;
}
