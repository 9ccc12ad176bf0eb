// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The inspections for users and tools.
#include "store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <tuple>

namespace pawl::sqlite {

lock_info store::describe(const std::string& name, holder_set holders, time_point now) {
    lock_info info{name, {}, 0};
    info.permits = total_permits_of(name);
    std::sort(holders.records.begin(), holders.records.end(),
              [](const holder_record& a, const holder_record& b) {
                  return std::tie(a.token, a.since) < std::tie(b.token, b.since);
              });
    for (const auto& each : holders.records) {
        const holder shown{each.client_identity.host,
                           each.client_identity.pid,
                           each.client_identity.command,
                           each.since,
                           each.expires - now,
                           each.token,
                           each.owner.substr(0, 8),
                           1,
                           each.mode,
                           each.permits};
        if (info.held_by)
            info.others.push_back(shown);
        else
            info.held_by = shown;
    }
    auto& row = sql_->waiters.with(boot_id_, to_stored(now), settings_.name_space, name);
    while (row.next()) {
        if (notifier_->presence_of(row.text(0)) != notifier::presence::gone) ++info.waiters;
    }
    return info;
}

lock_info store::inspect(const std::string& name) {
    return read([&](time_point now) { return describe(name, find_holders(name, now), now); });
}

std::vector<lock_info> store::list(const std::string& prefix) {
    return read([&](time_point now) {
        std::vector<lock_info> locks;
        auto& row = sql_->names.with(settings_.name_space, prefix);
        while (row.next()) {
            const auto name = row.text(0);
            if (!name.starts_with(prefix)) break;
            auto holders = find_holders(name, now);
            if (!holders.records.empty()) locks.push_back(describe(name, std::move(holders), now));
        }
        row.reset();
        return locks;
    });
}

file_report store::examine() {
    file_report report;
    const auto began = transact(durability::full, [&](time_point now) {
        // This measures a write to the disk. SQLite writes nothing if nothing has changed, so one
        // token is skipped.
        database_->execute("UPDATE pawl SET last_token = last_token + 1");
        return now;
    });
    report.commit_time = time_.now() - began;
    read([&](time_point) {
        report.file_system = file_system_name(file_system_of(database_->path()));
        report.sqlite_version = ::sqlite3_libversion();
        report.journal_mode = database_->text("PRAGMA journal_mode");
        report.bytes =
            database_->number("PRAGMA page_count") * database_->number("PRAGMA page_size");
        report.integrity = database_->text("PRAGMA quick_check(1)");
        return 0;
    });
    report.rights = rights_of(database_->path());
    report.can_notify = notifier_->presence_of(notifier_->address()) == notifier::presence::present;
    return report;
}

}  // namespace pawl::sqlite
