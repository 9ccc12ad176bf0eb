// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "variants.hpp"

#include <pawl/guard/fence.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/open_database.hpp>
#include <pawl/guard/schema.hpp>
#include <pawl/guard/sqlite.hpp>
#include <pawl/guard/transaction.hpp>

#include <sqlite3.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace layers {

namespace guard = pawl::guard;
using namespace std::chrono_literals;

namespace {

// A file whose commits are counted and durable.
class counted_sqlite final : public guard::connection {
public:
    explicit counted_sqlite(const std::string& path) : handle_(open(path)) {
        view_.execute({"PRAGMA journal_mode = WAL"});
        view_.execute({"PRAGMA synchronous = FULL"});
        ::sqlite3_commit_hook(
            handle_,
            [](void* count) {
                ++*static_cast<std::int64_t*>(count);
                return 0;
            },
            &commits);
    }
    ~counted_sqlite() override { ::sqlite3_close(handle_); }
    counted_sqlite(const counted_sqlite&) = delete;
    counted_sqlite& operator=(const counted_sqlite&) = delete;

    guard::rows execute(const guard::statement& to_run) override { return view_.execute(to_run); }
    [[nodiscard]] guard::dialect dialect() const noexcept override { return view_.dialect(); }
    [[nodiscard]] bool in_transaction() const noexcept override { return view_.in_transaction(); }

    std::int64_t commits = 0;

private:
    static sqlite3* open(const std::string& path) {
        sqlite3* opened = nullptr;
        if (::sqlite3_open(path.c_str(), &opened) != SQLITE_OK)
            throw std::runtime_error(path + " cannot be opened");
        return opened;
    }

    sqlite3* handle_;
    guard::sqlite_connection view_{handle_};
};

class counting final : public guard::connection {
public:
    explicit counting(guard::connection& inner) : inner_(inner) {}
    guard::rows execute(const guard::statement& to_run) override {
        ++count;
        return inner_.execute(to_run);
    }
    [[nodiscard]] guard::dialect dialect() const noexcept override { return inner_.dialect(); }
    [[nodiscard]] bool in_transaction() const noexcept override { return inner_.in_transaction(); }

    std::int64_t count = 0;

private:
    guard::connection& inner_;
};

class database_store final : public store {
public:
    database_store(std::unique_ptr<guard::connection> opened, const std::int64_t* commits,
                   pawl::blocking::client& locks)
        : opened_(std::move(opened)), commits_(commits), locks_(locks) {
        guard::make_tables(db_);
        guard::check_tables(db_);
        db_.execute({"CREATE TABLE IF NOT EXISTS effects(id VARCHAR(80), body VARCHAR(80))"});
        db_.execute({"CREATE TABLE IF NOT EXISTS requests(id VARCHAR(80) PRIMARY KEY)"});
        (void)guard::once(db_, "repeated", {}, work_);
    }
    [[nodiscard]] const steps& variants() const override { return variants_; }
    [[nodiscard]] std::int64_t statements() const override { return db_.count; }
    [[nodiscard]] std::int64_t commits() const override {
        return commits_ == nullptr ? 0 : *commits_;
    }

private:
    // Never used before, also by another run of the program.
    std::string next_key() {
        return "order/" + std::to_string(begun_) + "/" + std::to_string(++key_);
    }
    [[nodiscard]] std::string insert(const std::string& into) const {
        const bool is_mysql = db_.dialect() == guard::dialect::mysql;
        const std::string first = is_mysql ? "?" : "$1", second = is_mysql ? "?" : "$2";
        return "INSERT INTO " + into + " VALUES(" + first +
               (into == "effects" ? ", " + second + ")" : ")");
    }
    void write() { db_.execute({insert("effects"), {"order", "the body of the order"}}); }

    void plain() {
        guard::transaction effect(db_);
        write();
        effect.commit();
    }
    void with_record() {
        guard::transaction effect(db_);
        db_.execute({insert("requests"), {next_key()}});
        write();
        effect.commit();
    }
    void fenced() {
        guard::transaction effect(db_);
        if (!guard::fence(db_, "order", pawl::fencing_token(++token_))) std::abort();
        write();
        effect.commit();
    }
    void once(const std::string& key, const guard::once_options& options) {
        if (!guard::once(db_, key, options, work_)) throw std::runtime_error("no effect");
    }
    void guarded(const std::string& key) {
        if (!guard::guarded_once(locks_, db_, key, key, {}, work_))
            throw std::runtime_error("no effect");
    }

    const std::unique_ptr<guard::connection> opened_;
    const std::int64_t* const commits_;
    pawl::blocking::client& locks_;
    counting db_{*opened_};
    const std::int64_t begun_ = pawl::boot_clock::now().time_since_epoch().count();
    std::int64_t key_ = 0;
    std::uint64_t token_ = static_cast<std::uint64_t>(begun_);
    const guard::once_work work_ = [this](const guard::attempt&) {
        write();
        return "made";
    };
    const steps variants_{
        {"plain", [this] { plain(); }},
        {"record", [this] { with_record(); }},
        {"fence", [this] { fenced(); }},
        {"lease_0", [this] { once(next_key(), {.lease = 0s}); }},
        {"first", [this] { once(next_key(), {}); }},
        {"first_direct", [this] { once(next_key(), {.looks_first = false}); }},
        {"replay", [this] { once("repeated", {}); }},
        {"replay_direct", [this] { once("repeated", {.looks_first = false}); }},
        {"guarded", [this] { guarded(next_key()); }},
        {"guarded_replay", [this] { guarded("repeated"); }},
    };
};

}  // namespace

std::unique_ptr<store> open_database_store(const std::string& url, pawl::blocking::client& locks) {
    const std::string scheme = "sqlite:";
    if (!url.starts_with(scheme))
        return std::make_unique<database_store>(guard::open_database(url), nullptr, locks);
    auto file = std::make_unique<counted_sqlite>(url.substr(scheme.size()));
    const auto* commits = &file->commits;
    return std::make_unique<database_store>(std::move(file), commits, locks);
}

}  // namespace layers
