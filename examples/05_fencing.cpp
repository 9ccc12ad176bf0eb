// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A resource that refuses a late writer. Usage: 05_fencing [URL]
//
// No lease can stop a program that was paused and wakes up late. The row below can: it stores the
// largest token so far, and one statement checks the token and writes. The column has a type: a
// column without one, or a text, would compare 9 and 10 as texts.
#include <pawl/blocking.hpp>

#include <sqlite3.h>

#include <iostream>
#include <string>

using namespace std::chrono_literals;

class price_table {
public:
    price_table() {
        sqlite3_open(":memory:", &db_);
        sqlite3_exec(db_,
                     "CREATE TABLE price(id INTEGER PRIMARY KEY, cents INTEGER NOT NULL, "
                     "fence INTEGER NOT NULL); INSERT INTO price VALUES(7, 100, 0)",
                     nullptr, nullptr, nullptr);
    }
    ~price_table() { sqlite3_close(db_); }
    price_table(const price_table&) = delete;
    price_table& operator=(const price_table&) = delete;

    // Returns false if a later holder has already written.
    bool set(int cents, pawl::fencing_token token) {
        const std::string fence = to_string(token);
        const std::string sql = "UPDATE price SET cents = " + std::to_string(cents) +
                                ", fence = " + fence + " WHERE id = 7 AND fence <= " + fence;
        return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK &&
               sqlite3_changes(db_) == 1;
    }

private:
    sqlite3* db_ = nullptr;
};

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    price_table prices;

    auto alice = locks.acquire("price/7", {.ttl = 10s});
    const auto old = alice.token();
    locks.force_release("price/7");  // as if Alice were paused for longer than her lease

    auto bob = locks.acquire("price/7", {.ttl = 10s});
    const bool bob_wrote = prices.set(250, bob.token());
    const bool alice_wrote = prices.set(120, old);

    std::cout << "Bob, token " << bob.token() << ": " << (bob_wrote ? "written" : "refused") << '\n'
              << "Alice, token " << old << ": " << (alice_wrote ? "written" : "refused") << '\n';
    return bob_wrote && !alice_wrote ? 0 : 1;
}
