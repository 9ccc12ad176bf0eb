// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A SQLite file whose rows another program has written.
#include "targets.hpp"

#include <support/temp_folder.hpp>

#include <ui/json.hpp>
#include <ui/lock_view.hpp>

#include <pawl/blocking.hpp>
#include <pawl/blocking/latch.hpp>
#include <pawl/error.hpp>
#include <pawl/sqlite.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string>
#include <vector>

namespace fuzz {

namespace {

using namespace std::chrono_literals;

// An empty file of this version, made once.
const std::string& empty_file() {
    static const support::temp_folder folder;
    static const std::string path = [] {
        auto made = folder.file("locks.db");
        pawl::blocking::client locks(pawl::sqlite::at({.path = made}));
        static_cast<void>(locks.acquire("first").release());
        return made;
    }();
    return path;
}

// i and an integer, f and a double, n, b and bytes; all else is text.
void bind(sqlite3_stmt* row, int index, std::string_view field) {
    const auto text = field.substr(std::min<std::size_t>(field.size(), 1));
    const auto size = static_cast<int>(text.size());
    std::int64_t number = 0;
    switch (field.empty() ? 't' : field.front()) {
    case 'i':
        std::from_chars(text.data(), text.data() + text.size(), number);
        ::sqlite3_bind_int64(row, index, number);
        break;
    case 'f':
        std::from_chars(text.data(), text.data() + text.size(), number);
        ::sqlite3_bind_double(row, index, static_cast<double>(number) * 1e10);
        break;
    case 'n': ::sqlite3_bind_null(row, index); break;
    case 'b': ::sqlite3_bind_blob(row, index, text.data(), size, SQLITE_TRANSIENT); break;
    default: ::sqlite3_bind_text(row, index, text.data(), size, SQLITE_TRANSIENT);
    }
}

int columns_of(sqlite3* file, const std::string& table) {
    sqlite3_stmt* all = nullptr;
    const std::string sql = "SELECT * FROM " + table;
    if (::sqlite3_prepare_v2(file, sql.c_str(), -1, &all, nullptr) != SQLITE_OK) return 0;
    const int count = ::sqlite3_column_count(all);
    ::sqlite3_finalize(all);
    return count;
}

// TABLE and its fields, separated by tabs. A missing field is the text "x", the requested name.
void write_row(sqlite3* file, std::string_view line) {
    static constexpr std::array<const char*, 6> tables{"holders", "waiters",      "semaphores",
                                                       "latches", "latch_places", "pawl"};
    if (line.empty()) return;
    const std::string table = tables[static_cast<unsigned char>(line.front()) % tables.size()];
    const int columns = columns_of(file, table);
    if (columns == 0) return;
    std::string marks = "?";
    for (int i = 1; i < columns; ++i)
        marks += ",?";
    sqlite3_stmt* row = nullptr;
    const std::string sql = "INSERT OR REPLACE INTO " + table + " VALUES (" + marks + ")";
    if (::sqlite3_prepare_v2(file, sql.c_str(), -1, &row, nullptr) != SQLITE_OK)
        fail(::sqlite3_errmsg(file));
    line.remove_prefix(1);
    for (int i = 1; i <= columns; ++i) {
        const auto end = std::min(line.find('\t'), line.size());
        bind(row, i, line.empty() ? "tx" : line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    ::sqlite3_step(row);
    ::sqlite3_finalize(row);
}

template <class Step>
void run_step(Step step) {
    try {
        step();
    } catch (const pawl::error& refused) {
        if (std::string_view(refused.what()).empty()) fail("a refusal without a word");
    }
}

void use_file(const std::string& path) {
    // An empty namespace is refused, so rows of "x" are read with the name "x" in namespace "x".
    pawl::blocking::client locks(pawl::sqlite::at({.path = path, .name_space = "x"}));
    run_step([&] {
        auto all = locks.list("");
        all.push_back(locks.inspect("x"));
        pawl::cli::json text;
        for (const auto& each : all)
            pawl::cli::write(text, each);
        static_cast<void>(pawl::cli::lock_table(all, pawl::cli::remaining_cell).text(80, true));
    });
    run_step([&] { static_cast<void>(locks.try_acquire("x")); });
    run_step([&] {
        static_cast<void>(locks.try_acquire(
            "x", {.mode = pawl::lock_mode::permits, .permits = 1, .total_permits = 3}));
    });
    run_step([&] {
        pawl::blocking::latch tested_latch(locks, "x");
        static_cast<void>(tested_latch.inspect());
        tested_latch.count_down();
    });
    run_step([&] { static_cast<void>(locks.force_release("x")); });
    run_step([&] {
        const auto before = locks.acquire("y").token();
        if (locks.acquire("y").token() <= before) fail("a token that does not grow");
    });
}

}  // namespace

void rows(std::string_view input) {
    const support::temp_folder folder;
    const auto path = folder.file("locks.db");
    std::filesystem::copy_file(empty_file(), path);
    sqlite3* file = nullptr;
    if (::sqlite3_open(path.c_str(), &file) != SQLITE_OK) fail("the copy cannot be opened");
    while (!input.empty()) {
        const auto end = std::min(input.find('\n'), input.size());
        write_row(file, input.substr(0, end));
        input.remove_prefix(std::min(end + 1, input.size()));
    }
    ::sqlite3_close(file);
    use_file(path);
}

}  // namespace fuzz
