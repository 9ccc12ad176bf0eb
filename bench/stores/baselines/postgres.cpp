// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "baseline.hpp"

#include <libpq-fe.h>

#include <poll.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace baselines {

namespace {

using clock = std::chrono::steady_clock;

class connection {
public:
    explicit connection(const std::string& place)
        : connection_(::PQconnectdb(place.c_str()), ::PQfinish) {
        if (::PQstatus(get()) != CONNECTION_OK) throw failure();
    }

    [[nodiscard]] PGconn* get() const noexcept { return connection_.get(); }
    [[nodiscard]] std::runtime_error failure() const {
        return std::runtime_error(::PQerrorMessage(get()));
    }

    void execute(const std::string& sql) { check(::PQexec(get(), sql.c_str())); }
    void send(const std::string& sql) {
        if (::PQsendQuery(get(), sql.c_str()) != 1) throw failure();
    }
    void finish() {
        while (auto* result = ::PQgetResult(get()))
            check(result);
    }
    void wait() {
        pollfd readable{.fd = ::PQsocket(get()), .events = POLLIN, .revents = 0};
        if (::poll(&readable, 1, 10'000) != 1) throw std::runtime_error("no answer in 10 s");
        if (::PQconsumeInput(get()) != 1) throw failure();
    }

    // With the parameters of a lock's row: its name and its owner. Throws if it changes no row, or
    // does not return true.
    void prepare(const char* name, const std::string& sql) {
        check(::PQprepare(get(), name, sql.c_str(), 2, nullptr));
    }
    void run(const char* name) {
        constexpr std::array<const char*, 2> values{"7", "an owner with 32 hexadecimal digits"};
        auto* result = ::PQexecPrepared(get(), name, 2, values.data(), nullptr, nullptr, 0);
        const std::string changed = ::PQcmdTuples(result);
        const bool is_row = ::PQntuples(result) == 1;
        const std::string value = is_row ? ::PQgetvalue(result, 0, 0) : "t";
        check(result);
        if (changed != "1" || value != "t") throw std::runtime_error(std::string(name) + " failed");
    }

private:
    void check(PGresult* result) const {
        const auto status = ::PQresultStatus(result);
        ::PQclear(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw failure();
    }

    std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

double microseconds_since(clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(clock::now() - begin).count();
}

struct statements {
    const char* prepare_table;
    const char* acquire;
    const char* release;
};

statements statements_of(const std::string& kind) {
    if (kind == "plain")
        return {
            "create table if not exists plain (name text primary key, owner text not null, "
            "expires timestamptz not null)",
            "insert into plain values ($1, $2, clock_timestamp() + interval '30 s')",
            "delete from plain where name = $1 and owner = $2"};
    if (kind == "advisory")
        return {"select", "select pg_try_advisory_lock($1::bigint + length($2))",
                "select pg_advisory_unlock($1::bigint + length($2))"};
    if (kind == "shedlock")
        return {
            "create table if not exists shedlock (name varchar(64) primary key, lock_until "
            "timestamp not null, locked_at timestamp not null, locked_by varchar(255) not "
            "null); insert into shedlock values ('7', 'epoch', 'epoch', '') on conflict do "
            "nothing",
            "update shedlock set lock_until = timezone('utc', current_timestamp) + interval "
            "'30 s', locked_at = timezone('utc', current_timestamp), locked_by = $2 "
            "where name = $1 and lock_until <= timezone('utc', current_timestamp)",
            "update shedlock set lock_until = timezone('utc', current_timestamp) "
            "where name = $1 and locked_by = $2"};
    if (kind == "notify" || kind == "durable_notify")
        return {
            "create table if not exists counter (n bigint not null); insert into counter "
            "select 0 where not exists (select from counter)",
            "", ""};
    throw std::runtime_error("there is no baseline " + kind);
}

class postgres_baseline : public baseline {
public:
    postgres_baseline(const std::string& kind, std::string place)
        : kind_(kind), place_(std::move(place)), first_(place_), second_(place_) {
        first_.execute("set client_min_messages = warning");
        const auto [table, acquire, release] = statements_of(kind);
        first_.execute(table);
        if (*acquire != '\0') {
            first_.prepare("acquire", acquire);
            first_.prepare("release", release);
        } else {
            second_.execute("listen handed");
        }
    }

    void acquire() override { first_.run("acquire"); }
    void release() override { first_.run("release"); }

    double hand_over() override {
        if (kind_ == "advisory") return pass_on_advisory_lock();
        const auto begin = clock::now();
        first_.send(kind_ == "notify" ? "notify handed, 'a message of forty characters for it'"
                                      : "update counter set n = n + 1; notify handed, 'a message'");
        PGnotify* message = nullptr;
        while ((message = ::PQnotifies(second_.get())) == nullptr)
            second_.wait();
        const auto span = microseconds_since(begin);
        ::PQfreemem(message);
        first_.finish();
        return span;
    }

    void add_listeners(int count) override {
        for (int i = 0; i < count; ++i)
            listeners_.emplace_back(place_).execute("listen handed");
    }

private:
    // The server's own queue has the waiter.
    double pass_on_advisory_lock() {
        if (!is_held_) first_.execute("select pg_advisory_lock(8)");
        is_held_ = true;
        second_.send("select pg_advisory_lock(8)");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const auto begin = clock::now();
        first_.send("select pg_advisory_unlock(8)");
        second_.finish();
        const auto span = microseconds_since(begin);
        first_.finish();
        std::swap(first_, second_);
        return span;
    }

    std::string kind_;
    std::string place_;
    connection first_;
    connection second_;
    std::vector<connection> listeners_;
    bool is_held_ = false;
};

}  // namespace

std::unique_ptr<baseline> make_postgres(const std::string& kind, const std::string& place) {
    return std::make_unique<postgres_baseline>(kind, place);
}

}  // namespace baselines
