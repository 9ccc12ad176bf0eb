#include "latch_book.hpp"

#include "statements.hpp"

#include <algorithm>

namespace pawl::sqlite {
namespace {

// How long a place outlives the last look of its owner.
constexpr duration place_lease = std::chrono::seconds(20);

// The part of an entry that waiters look at.
core::latch_standing part_of(const core::latch_standing& whole) { return whole; }

}  // namespace

latch_book::entry latch_book::read(const std::string& name, time_point now) {
    statement row(*file_.database_,
                  "SELECT count, generation, first, parties, ttl, expires FROM latches "
                  "WHERE NOT " PAWL_ROW_ENDED " AND ns = ?3 AND name = ?4");
    row.with(file_.boot_, stored(now), file_.what_.name_space, name);
    entry found;
    if (!row.next()) return found;
    found.known = true;
    found.count = static_cast<std::uint64_t>(row.number(0));
    found.generation = static_cast<std::uint64_t>(row.number(1));
    found.first = static_cast<std::uint64_t>(row.number(2));
    found.parties = static_cast<std::uint32_t>(row.number(3));
    found.ttl = duration(row.number(4));
    found.expires = time_point(duration(row.number(5)));
    return found;
}

void latch_book::write(const std::string& name, entry& what, time_point now) {
    what.expires = after(now, what.ttl);
    statement(*file_.database_,
              "INSERT OR REPLACE INTO latches (ns, name, count, generation, first, parties, ttl, "
              "boot, expires, set_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(file_.what_.name_space, name, static_cast<std::int64_t>(what.count),
              static_cast<std::int64_t>(what.generation), static_cast<std::int64_t>(what.first),
              std::int64_t{what.parties}, std::int64_t{what.ttl.count()}, file_.boot_,
              stored(what.expires), stored(now))
        .write_row();
}

// The counter of the tokens numbers the generations too: none comes twice.
void latch_book::begin(entry& what, std::uint32_t count, std::uint32_t parties) {
    what.generation = static_cast<std::uint64_t>(file_.next_token());
    if (!what.known) what.first = what.generation;
    what.known = true;
    what.count = count;
    what.parties = parties;
}

// Each client once; it knows who of its own waits.
void latch_book::tell(const std::string& name, time_point now) {
    statement row(*file_.database_,
                  "SELECT DISTINCT client FROM latch_places "
                  "WHERE NOT " PAWL_ROW_ENDED " AND ns = ?3 AND name = ?4");
    row.with(file_.boot_, stored(now), file_.what_.name_space, name);
    while (row.next())
        file_.rings_.emplace_back(row.text(0), ring{ring::kind::latch, "-", name});
}

bool latch_book::try_set(const std::string& name, std::uint32_t count, duration ttl) {
    return file_.transact(durability::normal, [&](time_point now) {
        auto one = read(name, now);
        if (one.count > 0) return false;
        begin(one, count, 0);
        one.ttl = ttl;
        write(name, one, now);
        return true;
    });
}

latches::step latch_book::step(const std::string& name, std::uint32_t steps, std::uint32_t parties,
                               duration ttl) {
    return file_.transact(durability::normal, [&](time_point now) -> latches::step {
        auto one = read(name, now);
        if (parties == 0 && !one.known) throw core::unknown_latch(name);
        if (parties != 0) {
            if (one.count > 0 && one.parties != parties)
                throw core::other_parties(name, one.parties, parties);
            if (one.count == 0) begin(one, parties, parties);
            one.ttl = ttl;
        }
        const bool counting = one.count > 0;
        one.count -= std::min<std::uint64_t>(one.count, steps);
        const latches::step taken{one.generation, one.count};
        if (counting && one.count == 0) {
            if (one.parties != 0) begin(one, one.parties, one.parties);
            tell(name, now);
        }
        write(name, one, now);
        return taken;
    });
}

core::latch_standing latch_book::find(const std::string& name) {
    return file_.read([&](time_point now) { return part_of(read(name, now)); });
}

core::latch_standing latch_book::wait(const latch_place& where) {
    return file_.transact(durability::normal, [&](time_point now) {
        statement(*file_.database_,
                  "INSERT OR REPLACE INTO latch_places (ns, name, id, client, boot, expires, "
                  "set_at) VALUES (?, ?, ?, ?, ?, ?, ?)")
            .with(file_.what_.name_space, where.name, where.id, file_.bell_->address(), file_.boot_,
                  stored(now + place_lease), stored(now))
            .write_row();
        return part_of(read(where.name, now));
    });
}

void latch_book::leave(const latch_place& where) {
    file_.transact(durability::normal, [&](time_point) {
        statement(*file_.database_, "DELETE FROM latch_places WHERE ns = ? AND name = ? AND id = ?")
            .with(file_.what_.name_space, where.name, where.id)
            .run();
        return true;
    });
}

latch_info latch_book::inspect(const std::string& name) {
    return file_.read([&](time_point now) {
        latch_info found;
        found.name = name;
        statement row(*file_.database_,
                      "SELECT client FROM latch_places "
                      "WHERE NOT " PAWL_ROW_ENDED " AND ns = ?3 AND name = ?4");
        row.with(file_.boot_, stored(now), file_.what_.name_space, name);
        while (row.next())
            found.waiters += file_.bell_->look(row.text(0)) != doorbell::presence::gone ? 1U : 0U;
        const auto one = read(name, now);
        found.known = one.known;
        if (!one.known) return found;
        found.count = one.count;
        found.generation = one.generation;
        found.parties = one.parties;
        found.remaining = one.expires - now;
        return found;
    });
}

bool latch_book::reset(const std::string& name) {
    return file_.transact(durability::normal, [&](time_point now) {
        const bool known = read(name, now).known;
        statement(*file_.database_, "DELETE FROM latches WHERE ns = ? AND name = ?")
            .with(file_.what_.name_space, name)
            .run();
        if (known) tell(name, now);
        return known;
    });
}

}  // namespace pawl::sqlite
