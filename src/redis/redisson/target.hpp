// What a claim is to Redisson: which of its objects, under which keys, by which scripts.
#pragma once

#include "names.hpp"

#include "../script.hpp"

#include <pawl/backend.hpp>
#include <pawl/redis.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::redisson {

enum class kind : std::uint8_t { lock, fair, read, write, permits, semaphore };

// Throws errc::unsupported for what the object has not.
[[nodiscard]] kind kind_of(const claim& what, redisson_object object);

// What one owner asks for, or holds.
struct target {
    // `owner` is the owner's field (of a writer with :write), or the first 12 bytes of the ids of
    // its permits.
    target(const claim& what, kind as, names under, std::string owner);

    kind what;
    names keys;
    std::string owner;
    std::string own_key;  // a reader's lease, or the receipt for permits without one; else empty
    std::string channel;  // where it is told that another attempt is worth while
    duration ttl;
    std::string ttl_ms, permits, of;
    bool fenced;

    // In the order of the scripts; the counter and the latch follow where they are wanted.
    [[nodiscard]] std::vector<std::string_view> script_keys() const;
    [[nodiscard]] std::string_view renewal_key() const;
    // How long what was taken must still be given back, if nobody could be told at once.
    [[nodiscard]] duration owed() const noexcept;
    // Where a release of it is published: a fair lock's goes on with whom it is for.
    [[nodiscard]] const std::string& release_channel() const;
};

[[nodiscard]] const script& acquire_script(kind what) noexcept;
[[nodiscard]] const script& release_script(kind what) noexcept;
// As the script for renewals calls it.
[[nodiscard]] std::string_view to_string(kind what) noexcept;

}  // namespace pawl::redis::redisson
