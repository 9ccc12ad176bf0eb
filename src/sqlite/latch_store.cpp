// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_store.hpp"

namespace pawl::sqlite {
namespace {

// How long a waiter's row outlives its last refresh.
constexpr duration latch_waiter_lease = std::chrono::seconds(20);

}  // namespace

core::latch_entry latch_rows::read() {
    statement row(file_.connection(),
                  "SELECT count, generation, first, parties, ttl, expires FROM latches "
                  "WHERE NOT " PAWL_ROW_EXPIRED " AND ns = ?3 AND name = ?4");
    row.with(file_.boot_id(), to_stored(now_), file_.name_space(), name_);
    core::latch_entry entry;
    if (!row.next()) return entry;
    entry.known = true;
    entry.count = static_cast<std::uint64_t>(row.number(0));
    entry.generation = static_cast<std::uint64_t>(row.number(1));
    entry.first = static_cast<std::uint64_t>(row.number(2));
    entry.parties = static_cast<std::uint32_t>(row.number(3));
    entry.ttl = duration(row.number(4));
    entry.expires = from_stored(row.number(5));
    return entry;
}

void latch_rows::write(const core::latch_entry& entry) {
    statement(file_.connection(),
              "INSERT OR REPLACE INTO latches (ns, name, count, generation, first, parties, ttl, "
              "boot, expires, set_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(file_.name_space(), name_, static_cast<std::int64_t>(entry.count),
              static_cast<std::int64_t>(entry.generation), static_cast<std::int64_t>(entry.first),
              std::int64_t{entry.parties}, std::int64_t{entry.ttl.count()}, file_.boot_id(),
              to_stored(entry.expires), to_stored(now_))
        .write_row();
}

void latch_rows::erase() {
    statement(file_.connection(), "DELETE FROM latches WHERE ns = ? AND name = ?")
        .with(file_.name_space(), name_)
        .run();
}

void latch_rows::notify_waiters() {
    statement row(file_.connection(),
                  "SELECT DISTINCT client FROM latch_places "
                  "WHERE NOT " PAWL_ROW_EXPIRED " AND ns = ?3 AND name = ?4");
    row.with(file_.boot_id(), to_stored(now_), file_.name_space(), name_);
    while (row.next())
        file_.notify(row.text(0), {notification::kind::latch, "-", name_});
}

std::uint64_t latch_rows::count_waiters() {
    statement row(file_.connection(),
                  "SELECT client FROM latch_places "
                  "WHERE NOT " PAWL_ROW_EXPIRED " AND ns = ?3 AND name = ?4");
    row.with(file_.boot_id(), to_stored(now_), file_.name_space(), name_);
    std::uint64_t count = 0;
    while (row.next())
        count += file_.is_alive(row.text(0)) ? 1U : 0U;
    return count;
}

void latch_rows::insert_waiter(const std::string& id) {
    statement(file_.connection(),
              "INSERT OR REPLACE INTO latch_places (ns, name, id, client, boot, expires, "
              "set_at) VALUES (?, ?, ?, ?, ?, ?, ?)")
        .with(file_.name_space(), name_, id, file_.address(), file_.boot_id(),
              to_stored(now_ + latch_waiter_lease), to_stored(now_))
        .write_row();
}

void latch_rows::erase_waiter(const std::string& id) {
    statement(file_.connection(), "DELETE FROM latch_places WHERE ns = ? AND name = ? AND id = ?")
        .with(file_.name_space(), name_, id)
        .run();
}

core::latch_state latch_store::read_state(const std::string& name) {
    return file_.read([&](time_point now) -> core::latch_state {
        return latch_rows(file_, name, now).read().state();
    });
}

core::latch_state latch_store::join(const latch_waiter_key& waiter) {
    return file_.transact(sync_level::normal, [&](time_point now) -> core::latch_state {
        latch_rows rows(file_, waiter.name, now);
        rows.insert_waiter(waiter.id);
        return rows.read().state();
    });
}

void latch_store::leave(const latch_waiter_key& waiter) {
    file_.transact(sync_level::normal, [&](time_point now) {
        latch_rows(file_, waiter.name, now).erase_waiter(waiter.id);
        return true;
    });
}

latch_info latch_store::inspect(const std::string& name) {
    return file_.read([&](time_point now) {
        latch_rows rows(file_, name, now);
        return table(rows, name, now).describe();
    });
}

}  // namespace pawl::sqlite
