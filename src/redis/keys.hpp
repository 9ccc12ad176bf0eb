// Which keys a lock has. All of one lock share one hash slot.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis {

struct keys {
    std::string lock;     // STRING: the holder's value
    std::string fence;    // STRING: the counter
    std::string queue;    // ZSET: waiter -> time of arrival
    std::string waiters;  // HASH: waiter -> its lease, claim window, wish and value
    std::string holders;  // ZSET: who holds it beside others -> when the lease ends
    std::string details;  // HASH: the same -> permits, token, value; how many permits there are

    // As most scripts want them.
    [[nodiscard]] std::array<std::string_view, 6> all() const noexcept {
        return {lock, fence, queue, waiters, holders, details};
    }
};

// For SCAN's MATCH: means itself.
[[nodiscard]] std::string glob_escape(std::string_view text);

class key_scheme {
public:
    // `pattern` as options::key. Throws errc::bad_option.
    key_scheme(std::string name_space, std::string pattern, std::uint32_t database = 0);

    [[nodiscard]] keys of(std::string_view name) const;
    // Of the lock's key; empty when the key is none of ours.
    [[nodiscard]] std::optional<std::string> name_of(std::string_view lock_key) const;
    // For SCAN: the locks whose names begin with `prefix`.
    [[nodiscard]] std::string glob(std::string_view prefix) const;
    // NAMESPACE:c:DATABASE: — a client's id follows. A server has keys for each database, and
    // channels for all together.
    [[nodiscard]] const std::string& channel_prefix() const noexcept { return channels_; }
    // What tells of changes of that key.
    [[nodiscard]] std::string channel_of(std::string_view key) const;
    // Other libraries may hold and release locks of this scheme.
    [[nodiscard]] bool shared_with_others() const noexcept { return plain_; }

private:
    std::string space_;
    std::string before_, after_;  // of the lock's key, around the name
    std::string channels_;
    std::uint32_t database_;
    bool plain_;  // the name stands in the key as it is
};

}  // namespace pawl::redis
