// The parts that Pawl's Redis scripts share, as src/redis/scripts/_*.lua: see twins.hpp.
#pragma once

#include "twins.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pawl::simulation {

[[nodiscard]] std::int64_t to_number(std::string_view text);
// The hexadecimal digits in front.
[[nodiscard]] std::string owner_in(std::string_view text);

// _keys.lua
struct lock_keys {
    std::string lock, fence, queue, waiters, holders, details;
};
[[nodiscard]] lock_keys keys_of(const script_call& s);

// _token.lua
[[nodiscard]] std::string next_token(script_call& s, std::string_view fence,
                                     std::string_view floor);
// Also a planted bug: the number of the holder before.
[[nodiscard]] std::string present_token(script_call& s, std::string_view fence,
                                        std::string_view floor);

// _holders.lua
enum class standing : std::uint8_t { free, exclusive, shared, permits };
// "PERMITS TOKEN VALUE"
struct holder_detail {
    std::string permits, token, value;
};
[[nodiscard]] std::optional<holder_detail> read_detail(const std::optional<std::string>& text);
[[nodiscard]] std::optional<std::int64_t> permits_in(const std::string& want);
void keep_until_the_last(script_call& s, const lock_keys& k);
void forget_holders(script_call& s, const lock_keys& k);
[[nodiscard]] bool expel(script_call& s, const lock_keys& k, const std::string& owner);
[[nodiscard]] standing settle(script_call& s, const lock_keys& k);
[[nodiscard]] bool fits(script_call& s, const lock_keys& k, standing state,
                        const std::string& want);

[[nodiscard]] std::int64_t permits_in_all(script_call& s, const lock_keys& k,
                                          const std::string& of);
struct beside {
    std::string detail;
    std::int64_t ends;  // ms
};
[[nodiscard]] std::optional<beside> held_beside(script_call& s, const lock_keys& k,
                                                const std::string& owner);

void keep_readers_token(script_call& s, const lock_keys& k, const std::string& token);

struct admission {
    std::string want, owner, value, ttl, floor;
};
[[nodiscard]] std::optional<std::string> admit(script_call& s, const lock_keys& k, standing state,
                                               const admission& who);

// _serve.lua
standing serve(script_call& s, const lock_keys& k, standing state, std::string_view floor,
               std::string_view channel);

// _stand_in_line.lua
struct place {
    const std::string& member;
    const std::string& prefix;
    const std::string& window;
    const std::string& lease;
    std::string want;
};
[[nodiscard]] redis::reply stand_in_line(script_call& s, const lock_keys& k, const place& p);

// _put_out_the_dead.lua: whether there were any
[[nodiscard]] bool put_out_the_dead(script_call& s, const lock_keys& k, std::int64_t lease);

// _ends_in.lua
[[nodiscard]] std::int64_t ends_in(script_call& s, const lock_keys& k, standing state,
                                   const std::string& member);

}  // namespace pawl::simulation
