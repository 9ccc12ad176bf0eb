// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "baseline.hpp"

#include <mysql.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace baselines {

namespace {

using clock = std::chrono::steady_clock;

class connection {
public:
    explicit connection(const std::string& port)
        : connection_(::mysql_init(nullptr), ::mysql_close) {
        if (::mysql_real_connect(get(), "127.0.0.1", "root", "", "bench",
                                 static_cast<unsigned>(std::stoul(port)), nullptr, 0) == nullptr)
            throw failure();
    }

    [[nodiscard]] MYSQL* get() const noexcept { return connection_.get(); }
    [[nodiscard]] std::runtime_error failure() const {
        return std::runtime_error(::mysql_error(get()));
    }

    void send(std::string_view sql) {
        if (::mysql_send_query(get(), sql.data(), sql.size()) != 0) throw failure();
    }
    void finish() {
        if (::mysql_read_query_result(get()) != 0) throw failure();
        ::mysql_free_result(::mysql_store_result(get()));
    }
    void execute(std::string_view sql) {
        send(sql);
        finish();
    }

private:
    std::unique_ptr<MYSQL, void (*)(MYSQL*)> connection_;
};

using two_texts = std::array<std::string, 2>;

// A prepared statement with two parameters.
class statement {
public:
    statement(const connection& at, std::string_view sql, two_texts values)
        : statement_(::mysql_stmt_init(at.get()), ::mysql_stmt_close), values_(std::move(values)) {
        if (::mysql_stmt_prepare(get(), sql.data(), sql.size()) != 0) throw failure();
        std::array<MYSQL_BIND, 2> bound{};
        for (std::size_t i = 0; i < bound.size(); ++i) {
            bound[i].buffer_type = MYSQL_TYPE_STRING;
            bound[i].buffer = values_[i].data();
            bound[i].buffer_length = values_[i].size();
        }
        if (::mysql_stmt_bind_param(get(), bound.data()) != 0) throw failure();
    }

    // Throws if it changes no row, or does not return 1.
    void run() {
        if (::mysql_stmt_execute(get()) != 0) throw failure();
        if (::mysql_stmt_field_count(get()) == 0) {
            if (::mysql_stmt_affected_rows(get()) != 1) throw std::runtime_error("no row changed");
            return;
        }
        long long value = 0;
        MYSQL_BIND result{};
        result.buffer_type = MYSQL_TYPE_LONGLONG;
        result.buffer = &value;
        if (::mysql_stmt_bind_result(get(), &result) != 0 || ::mysql_stmt_fetch(get()) != 0)
            throw failure();
        ::mysql_stmt_free_result(get());
        if (value != 1) throw std::runtime_error("not granted");
    }

private:
    [[nodiscard]] MYSQL_STMT* get() const noexcept { return statement_.get(); }
    [[nodiscard]] std::runtime_error failure() const {
        return std::runtime_error(::mysql_stmt_error(get()));
    }

    std::unique_ptr<MYSQL_STMT, my_bool (*)(MYSQL_STMT*)> statement_;
    two_texts values_;
};

struct statements {
    const char* table;
    const char* row;
    const char* acquire;
    const char* release;
    bool is_owner_first = false;  // of the parameters
};

statements statements_of(const std::string& kind) {
    if (kind == "plain")
        return {
            "create table if not exists plain (name varchar(64) primary key, owner "
            "varchar(64) not null, expires datetime(6) not null)",
            "do 0", "insert into plain values (?, ?, utc_timestamp(6) + interval 30 second)",
            "delete from plain where name = ? and owner = ?"};
    if (kind == "advisory")
        return {"do 0", "do 0", "select get_lock(concat(?, ?), 0)",
                "select release_lock(concat(?, ?))"};
    if (kind == "shedlock")
        return {
            "create table if not exists shedlock (name varchar(64) primary key, lock_until "
            "timestamp(3) not null, locked_at timestamp(3) not null, locked_by varchar(255) "
            "not null)",
            "insert ignore into shedlock values ('7', '1971-01-01', '1971-01-01', '')",
            "update shedlock set lock_until = timestampadd(microsecond, 30000000, "
            "utc_timestamp(3)), locked_at = utc_timestamp(3), locked_by = ? where name = ? "
            "and lock_until <= utc_timestamp(3)",
            "update shedlock set lock_until = utc_timestamp(3) where locked_by = ? and "
            "name = ?",
            true};
    throw std::runtime_error("there is no baseline " + kind);
}

class mariadb_baseline : public baseline {
public:
    mariadb_baseline(const std::string& kind, const std::string& port)
        : first_(port),
          second_(port),
          statements_(statements_of(kind)),
          acquire_(prepared_table(), statements_.acquire, parameters()),
          release_(first_, statements_.release, parameters()) {}

    void acquire() override { acquire_.run(); }
    void release() override { release_.run(); }

    // The server's own queue has the waiter.
    double hand_over() override {
        if (!is_held_) first_.execute("do get_lock('handed', 10)");
        is_held_ = true;
        second_.send("do get_lock('handed', 10)");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const auto begin = clock::now();
        first_.send("do release_lock('handed')");
        second_.finish();
        const std::chrono::duration<double, std::micro> span = clock::now() - begin;
        first_.finish();
        std::swap(first_, second_);
        return span.count();
    }

    void add_listeners(int) override { throw std::runtime_error("nobody listens here"); }

private:
    [[nodiscard]] two_texts parameters() const {
        two_texts values{"7", "an owner with 32 hexadecimal digits"};
        if (statements_.is_owner_first) values[0].swap(values[1]);
        return values;
    }
    connection& prepared_table() {
        first_.execute(statements_.table);
        first_.execute(statements_.row);
        return first_;
    }

    connection first_;
    connection second_;
    statements statements_;
    statement acquire_;
    statement release_;
    bool is_held_ = false;
};

}  // namespace

std::unique_ptr<baseline> make_mariadb(const std::string& kind, const std::string& place) {
    return std::make_unique<mariadb_baseline>(kind, place);
}

}  // namespace baselines
