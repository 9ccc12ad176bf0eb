// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "store.hpp"

#include "lock_rows.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace pawl::sqlite {

store::store(settings store_settings, runtime& time, boost::asio::any_io_executor worker_executor,
             event_handlers handlers)
    : file_(std::move(store_settings), time, std::move(worker_executor),
            {std::move(handlers.on_notification), [this, on_loss = std::move(handlers.on_loss)] {
                 for (const auto& [owner, expires] : std::exchange(own_holds_, {}))
                     on_loss(owner);
             }}) {}

void store::close() noexcept {
    file_.close();
    own_holds_.clear();
}

template <class Step>
auto store::run(const std::string& name, sync_level level, Step step) {
    return file_.transact(level, [&](time_point now) {
        lock_rows rows(file_, name, now, level);
        core::lease_table table(rows, now);
        return step(table);
    });
}

template <class Step>
auto store::run_cheaply(const std::string& name, Step step) {
    const auto result = run(name, sync_level::normal, step);
    return result ? *result : *run(name, sync_level::full, step);
}

attempt_result store::remember_grant(const std::string& owner, attempt_result result) {
    if (result.outcome != attempt_result::kind::granted) return result;
    own_holds_.insert_or_assign(owner, result.expires);
    file_.note_token(result.token);
    return result;
}

attempt_result store::try_acquire(const claim& requested, bool may_wait, duration longest_wait) {
    file_.limit_wait(longest_wait);
    return remember_grant(requested.owner, run(requested.name, sync_level::full, [&](auto& table) {
                              return table.acquire(requested, may_wait);
                          }));
}

attempt_result store::refresh(const claim& requested) {
    if (auto granted = find_grant(requested.name, requested.owner)) return *granted;
    return remember_grant(requested.owner, run_cheaply(requested.name, [&](auto& table) {
                              return table.refresh(requested);
                          }));
}

std::optional<attempt_result> store::find_grant(const std::string& name, const std::string& owner) {
    return file_.read([&](time_point now) -> std::optional<attempt_result> {
        const auto own_hold = lock_rows(file_, name, now).find_holder(owner);
        if (!own_hold) return std::nullopt;
        return remember_grant(owner, {attempt_result::kind::granted, own_hold->expires,
                                      own_hold->token, true, false});
    });
}

std::optional<attempt_result> store::leave(const claim& requested, bool keep_grant) {
    const auto result = run_cheaply(
        requested.name, [&](auto& table) { return table.leave(requested, keep_grant); });
    if (result.outcome == attempt_result::kind::granted)
        return remember_grant(requested.owner, result);
    own_holds_.erase(requested.owner);
    return std::nullopt;
}

release_result store::release(const claim& requested) {
    const auto result =
        run_cheaply(requested.name, [&](auto& table) { return table.release(requested); });
    own_holds_.erase(requested.owner);
    return result;
}

void store::renew(std::span<renewal> batch) {
    const auto now = file_.transact(sync_level::normal, [&](time_point set_at) {
        for (auto& entry : batch) {
            const auto& requested = entry.held->claim;
            lock_rows rows(file_, requested.name, set_at);
            const bool is_held = own_holds_.contains(requested.owner) &&
                                 core::lease_table(rows, set_at).renew(requested, entry.ttl);
            entry.result = is_held ? renewal::outcome::extended : renewal::outcome::refused;
            entry.deadline = core::plus(set_at, entry.ttl) - drift(entry.ttl);
        }
        return set_at;
    });
    for (const auto& entry : batch) {
        if (entry.result == renewal::outcome::extended)
            own_holds_.insert_or_assign(entry.held->claim.owner, core::plus(now, entry.ttl));
    }
    std::erase_if(own_holds_, [now](const auto& each) { return each.second <= now; });
}

std::optional<attempt_result> store::downgrade(const claim& requested) {
    const auto result =
        run(requested.name, sync_level::normal, [&](auto& table) -> std::optional<attempt_result> {
            // A row of the same owner in another file does not count.
            if (!own_holds_.contains(requested.owner)) return std::nullopt;
            return table.downgrade(requested);
        });
    if (!result) return std::nullopt;
    return remember_grant(requested.owner, *result);
}

void store::resize(const std::string& name, std::uint32_t permits) {
    run(name, sync_level::full, [&](auto& table) {
        table.resize(permits);
        return true;
    });
}

bool store::force_release(const std::string& name, fencing_token expected) {
    return run(name, sync_level::full, [&](auto& table) { return table.force_release(expected); });
}

lock_info store::inspect(const std::string& name) {
    return file_.read([&](time_point now) {
        lock_rows rows(file_, name, now);
        return core::lease_table(rows, now).describe(name);
    });
}

std::vector<lock_info> store::list(const std::string& prefix) {
    return file_.read([&](time_point now) {
        std::vector<lock_info> locks;
        auto& row = file_.sql().names.with(file_.name_space(), prefix);
        while (row.next()) {
            const auto name = row.text(0);
            if (!name.starts_with(prefix)) break;
            lock_rows rows(file_, name, now);
            if (rows.holders().empty()) continue;
            locks.push_back(core::lease_table(rows, now).describe(name));
        }
        row.reset();
        return locks;
    });
}

file_report store::examine() {
    file_report report;
    const auto began = file_.transact(sync_level::full, [&](time_point now) {
        // This measures a write to the disk. SQLite writes nothing if nothing has changed, so one
        // token is skipped.
        file_.connection().execute("UPDATE pawl SET last_token = last_token + 1");
        return now;
    });
    report.commit_time = file_.time().now() - began;
    file_.read([&](time_point) {
        report.file_system = file_system_name(file_system_of(file_.connection().path()));
        report.sqlite_version = ::sqlite3_libversion();
        report.journal_mode = file_.connection().text("PRAGMA journal_mode");
        report.bytes = file_.connection().number("PRAGMA page_count") *
                       file_.connection().number("PRAGMA page_size");
        report.integrity = file_.connection().text("PRAGMA quick_check(1)");
        return 0;
    });
    report.rights = rights_of(file_.connection().path());
    report.can_notify = file_.can_notify();
    return report;
}

}  // namespace pawl::sqlite
