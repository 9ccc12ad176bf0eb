// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "refusals.hpp"

#include "../common/lock_base.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/store/permits.hpp"

#include <pawl/error.hpp>

#include <array>
#include <charconv>
#include <limits>

namespace pawl::redis::redisson {
namespace {

constexpr std::array refusal_words{"OTHERKIND ", "BADCOUNTER", "NOPERMITS", "OTHERCOUNT ",
                                   "TOOMANY "};

// The word is at the begin of the reply, or after the "ERR " of servers before version 7.
bool is_refusal(const reply& reply, std::string_view word) {
    return reply.type == reply::kind::error && reply.text.find(word) <= 4;
}

// The number at the end of the reply.
std::uint32_t count_in(const reply& reply) {
    const auto digits = std::string_view(reply.text).substr(reply.text.find_last_of(' ') + 1);
    std::uint32_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

}  // namespace

bool is_refused_by_script(const reply& reply) {
    if (is_wrong_type(reply)) return true;
    for (const auto* word : refusal_words) {
        if (is_refusal(reply, word)) return true;
    }
    return false;
}

void throw_if_refused(const reply& reply, const object_names& keys) {
    if (is_refusal(reply, "OTHERKIND lock"))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": is held as a lock of Redisson, not as a ReadWriteLock; leave out "
                        "object=readwrite, or choose another name.");
    if (is_refusal(reply, "OTHERKIND readwrite"))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": is held as a ReadWriteLock of Redisson; add object=readwrite to "
                        "the URL, or choose another name.");
    if (is_refusal(reply, "OTHERKIND semaphore"))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": is a semaphore in Redisson's layout, or another object that is kept as "
                        "a number, and no lock; ask for permits of it, with object=semaphore in "
                        "the URL for Redisson's Semaphore, or choose another name.");
    if (is_refusal(reply, "OTHERKIND other"))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": is no semaphore in Redisson's layout, but a lock or something else; "
                        "ask for no permits of it, or choose another name.");
    if (is_refusal(reply, "BADCOUNTER"))
        throw error(errc::wrong_type, keys.counter +
                                          ": the counter of the tokens holds something else; "
                                          "delete that key, or ask without a token.");
    if (is_wrong_type(reply))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": holds something that is no such lock or semaphore of Redisson; for a "
                        "lock of Pawl's native layout or another SET NX PX library leave out "
                        "layout=redisson, for another program's data choose another name.");
    throw_if_error(reply, keys.lock);
}

void throw_if_permits_refused(const reply& reply, const claim& requested) {
    if (is_refusal(reply, "NOPERMITS")) throw core::no_total_error(requested);
    if (is_refusal(reply, "OTHERCOUNT ")) throw core::other_total_error(requested, count_in(reply));
    if (is_refusal(reply, "TOOMANY ")) throw core::too_many_error(requested, count_in(reply));
}

void check_permit_count(std::uint32_t permits) {
    constexpr auto max_permits = std::numeric_limits<std::int32_t>::max();
    if (permits > max_permits)
        throw error(errc::bad_option, "Redisson counts no further than " +
                                          std::to_string(max_permits) + " permits; " +
                                          std::to_string(permits) + " are too many.");
}

void check_entry_count(const claim& requested) {
    constexpr std::uint32_t max_permits = 10'000;
    if (requested.permits > max_permits)
        throw error(errc::bad_option,
                    "Redisson's expirable semaphore has an entry for each permit that is lent; ask "
                    "for at most " +
                        std::to_string(max_permits) + " at once, not " +
                        std::to_string(requested.permits) + ".");
}

}  // namespace pawl::redis::redisson
