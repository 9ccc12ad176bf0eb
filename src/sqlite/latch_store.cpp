// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_store.hpp"

#include <algorithm>

namespace pawl::sqlite {
namespace {

// How long a waiter's row outlives its last refresh.
constexpr duration latch_waiter_lease = std::chrono::seconds(20);

// The part of an entry that waiters read.
core::latch_state state_of(const core::latch_state& entry) { return entry; }

}  // namespace

latch_store::latch_entry latch_store::read(const std::string& name, time_point now) {
    statement row(*file_.database_,
                  "SELECT count, generation, first, parties, ttl, expires FROM latches "
                  "WHERE NOT " PAWL_ROW_EXPIRED " AND ns = ?3 AND name = ?4");
    row.with(file_.boot_id_, to_stored(now), file_.settings_.name_space, name);
    latch_entry entry;
    if (!row.next()) return entry;
    entry.known = true;
    entry.count = static_cast<std::uint64_t>(row.number(0));
    entry.generation = static_cast<std::uint64_t>(row.number(1));
    entry.first = static_cast<std::uint64_t>(row.number(2));
    entry.parties = static_cast<std::uint32_t>(row.number(3));
    entry.ttl = duration(row.number(4));
    entry.expires = time_point(duration(row.number(5)));
    return entry;
}

void latch_store::write(const std::string& name, latch_entry& entry, time_point now) {
    entry.expires = saturating_add(now, entry.ttl);
    statement(*file_.database_,
              "INSERT OR REPLACE INTO latches (ns, name, count, generation, first, parties, ttl, "
              "boot, expires, set_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(file_.settings_.name_space, name, static_cast<std::int64_t>(entry.count),
              static_cast<std::int64_t>(entry.generation), static_cast<std::int64_t>(entry.first),
              std::int64_t{entry.parties}, std::int64_t{entry.ttl.count()}, file_.boot_id_,
              to_stored(entry.expires), to_stored(now))
        .write_row();
}

// The token counter also numbers the generations, so that no number repeats.
void latch_store::start_generation(latch_entry& entry, std::uint32_t count, std::uint32_t parties) {
    entry.generation = static_cast<std::uint64_t>(file_.issue_token());
    if (!entry.known) entry.first = entry.generation;
    entry.known = true;
    entry.count = count;
    entry.parties = parties;
}

// One notification for each client; the client finds its own waiters.
void latch_store::notify_waiters(const std::string& name, time_point now) {
    statement row(*file_.database_,
                  "SELECT DISTINCT client FROM latch_places "
                  "WHERE NOT " PAWL_ROW_EXPIRED " AND ns = ?3 AND name = ?4");
    row.with(file_.boot_id_, to_stored(now), file_.settings_.name_space, name);
    while (row.next())
        file_.pending_notifications_.emplace_back(
            row.text(0), notification{notification::kind::latch, "-", name});
}

bool latch_store::try_set(const std::string& name, std::uint32_t count, duration ttl) {
    return file_.transact(durability::normal, [&](time_point now) {
        auto entry = read(name, now);
        if (entry.count > 0) return false;
        start_generation(entry, count, 0);
        entry.ttl = ttl;
        write(name, entry, now);
        return true;
    });
}

latches::step latch_store::step(const std::string& name, std::uint32_t steps, std::uint32_t parties,
                                duration ttl) {
    return file_.transact(durability::normal, [&](time_point now) -> latches::step {
        auto entry = read(name, now);
        if (parties == 0 && !entry.known) throw core::unknown_latch_error(name);
        if (parties != 0) {
            if (entry.count > 0 && entry.parties != parties)
                throw core::other_parties_error(name, entry.parties, parties);
            if (entry.count == 0) start_generation(entry, parties, parties);
            entry.ttl = ttl;
        }
        const bool counting = entry.count > 0;
        entry.count -= std::min<std::uint64_t>(entry.count, steps);
        const latches::step step_taken{entry.generation, entry.count};
        if (counting && entry.count == 0) {
            if (entry.parties != 0) start_generation(entry, entry.parties, entry.parties);
            notify_waiters(name, now);
        }
        write(name, entry, now);
        return step_taken;
    });
}

core::latch_state latch_store::read_state(const std::string& name) {
    return file_.read([&](time_point now) { return state_of(read(name, now)); });
}

core::latch_state latch_store::join(const latch_waiter_key& waiter) {
    return file_.transact(durability::normal, [&](time_point now) {
        statement(*file_.database_,
                  "INSERT OR REPLACE INTO latch_places (ns, name, id, client, boot, expires, "
                  "set_at) VALUES (?, ?, ?, ?, ?, ?, ?)")
            .with(file_.settings_.name_space, waiter.name, waiter.id, file_.notifier_->address(),
                  file_.boot_id_, to_stored(now + latch_waiter_lease), to_stored(now))
            .write_row();
        return state_of(read(waiter.name, now));
    });
}

void latch_store::leave(const latch_waiter_key& waiter) {
    file_.transact(durability::normal, [&](time_point) {
        statement(*file_.database_, "DELETE FROM latch_places WHERE ns = ? AND name = ? AND id = ?")
            .with(file_.settings_.name_space, waiter.name, waiter.id)
            .run();
        return true;
    });
}

latch_info latch_store::inspect(const std::string& name) {
    return file_.read([&](time_point now) {
        latch_info info;
        info.name = name;
        statement row(*file_.database_,
                      "SELECT client FROM latch_places "
                      "WHERE NOT " PAWL_ROW_EXPIRED " AND ns = ?3 AND name = ?4");
        row.with(file_.boot_id_, to_stored(now), file_.settings_.name_space, name);
        while (row.next())
            info.waiters +=
                file_.notifier_->presence_of(row.text(0)) != notifier::presence::gone ? 1U : 0U;
        const auto entry = read(name, now);
        info.known = entry.known;
        if (!entry.known) return info;
        info.count = entry.count;
        info.generation = entry.generation;
        info.parties = entry.parties;
        info.remaining = entry.expires - now;
        return info;
    });
}

bool latch_store::reset(const std::string& name) {
    return file_.transact(durability::normal, [&](time_point now) {
        const bool was_known = read(name, now).known;
        statement(*file_.database_, "DELETE FROM latches WHERE ns = ? AND name = ?")
            .with(file_.settings_.name_space, name)
            .run();
        if (was_known) notify_waiters(name, now);
        return was_known;
    });
}

}  // namespace pawl::sqlite
