// What people and tools ask for.
#include "statements.hpp"
#include "store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <tuple>

namespace pawl::sqlite {

lock_info store::describe(const std::string& name, tenants held, time_point now) {
    lock_info info{name, {}, 0};
    info.permits = permits_of(name);
    std::sort(held.live.begin(), held.live.end(), [](const tenancy& a, const tenancy& b) {
        return std::tie(a.token, a.since) < std::tie(b.token, b.since);
    });
    for (const auto& each : held.live) {
        const holder one{each.who.host,      each.who.pid, each.who.command,        each.since,
                         each.expires - now, each.token,   each.owner.substr(0, 8), 1,
                         each.mode,          each.permits};
        if (info.held_by)
            info.others.push_back(one);
        else
            info.held_by = one;
    }
    auto& row = sql_->line.with(boot_, stored(now), what_.name_space, name);
    while (row.next()) {
        if (bell_->look(row.text(0)) != doorbell::presence::gone) ++info.waiters;
    }
    return info;
}

lock_info store::inspect(const std::string& name) {
    return read([&](time_point now) { return describe(name, find(name, now), now); });
}

std::vector<lock_info> store::list(const std::string& prefix) {
    return read([&](time_point now) {
        std::vector<lock_info> all;
        auto& row = sql_->names.with(what_.name_space, prefix);
        while (row.next()) {
            const auto name = row.text(0);
            if (!name.starts_with(prefix)) break;
            auto held = find(name, now);
            if (!held.live.empty()) all.push_back(describe(name, std::move(held), now));
        }
        row.reset();
        return all;
    });
}

facts store::examine() {
    facts found;
    const auto begun = transact(durability::full, [&](time_point now) {
        // One token goes unused: SQLite does not write what has not changed.
        database_->execute("UPDATE pawl SET last_token = last_token + 1");
        return now;
    });
    found.commit = time_.now() - begun;
    read([&](time_point) {
        found.file_system = file_system_name(file_system_of(database_->path()));
        found.version = ::sqlite3_libversion();
        found.journal = database_->text("PRAGMA journal_mode");
        found.bytes =
            database_->number("PRAGMA page_count") * database_->number("PRAGMA page_size");
        found.check = database_->text("PRAGMA quick_check(1)");
        return 0;
    });
    found.rights = rights_of(database_->path());
    found.rings = bell_->look(bell_->address()) == doorbell::presence::there;
    return found;
}

}  // namespace pawl::sqlite
