// This client's waiters that stand in line at the server, and the grants that are pushed to them.
#pragma once

#include "../core/alarm.hpp"
#include "keys.hpp"

#include <pawl/backend.hpp>

#include <map>
#include <string>
#include <string_view>

namespace pawl::redis {

struct waiter {
    waiter(runtime& time, const boost::asio::any_io_executor& on) : woken(time, on) {}

    // As acquired with.
    std::string name, owner, member, prefix;
    keys where;
    duration ttl{};
    duration window{};
    std::string want = "x";  // as the scripts say it: alone, "s" shared, "pK" K permits
    std::string of = "0";    // permits in all; 0 as the server keeps it
    bool inherits = false;   // a release of this process may name it

    // When the enqueueing reply was asked for, and the server's time in it: what bounds the instant
    // of a pushed grant from below. Unset until the first reply, and while a connection is new.
    time_point asked{};
    std::int64_t asked_server_ms = -1;

    // The server tells this waiter when the lock's key changes; it has told so; and until when the
    // waiter rests first, since it was told so before.
    bool tracks = false;
    bool told = false;
    time_point rests_until{};

    std::optional<grant> given;
    std::int64_t granted_server_ms = -1;  // of a grant that was pushed
    bool misled = false;                  // by a pushed grant that was not believed
    core::alarm woken;
};

// Used on one strand.
class waiter_table {
public:
    void add(waiter& one);
    void remove(waiter& one);
    [[nodiscard]] waiter* by_owner(std::string_view owner) const;
    [[nodiscard]] waiter* first_for(std::string_view name) const;
    void ring_all();
    [[nodiscard]] bool empty() const noexcept { return by_owner_.empty(); }
    // Rings those who track it, and no other waiters: a change of the key is the first one's
    // business. Empty: every key.
    void ring_key(std::string_view lock_key);

private:
    // The keys are the waiters' own.
    std::map<std::string_view, waiter*> by_owner_;
    std::multimap<std::string_view, waiter*> by_name_;
};

// A grant that was pushed: ours from an instant between two bounds, for the claim window.
[[nodiscard]] grant pushed_grant(const waiter& to, std::string_view token, std::int64_t server_ms,
                                 time_point received);

// Whether such a grant can be the server's: its time is between the last look and now, as far as
// the server's clock is known, and its token is what a token of that time would be. Readers share a
// token that may be older. A forged token far ahead would outrank all later ones.
[[nodiscard]] bool is_plausible(const waiter& to, fencing_token token, std::int64_t server_ms,
                                time_point now) noexcept;

}  // namespace pawl::redis
