// How large a reply may be, and the check of each element's head before its body is waited for.
#pragma once

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <string_view>

namespace pawl::redis {

struct reply_limits {
    std::size_t bytes;
    std::size_t nodes;
};

// Before the handshake is over, the server may be anything. HELLO lists the server's modules with
// their arguments, which is the longest of the answers.
inline constexpr reply_limits handshake_limits{.bytes = 64 << 10, .nodes = 1024};

// The largest replies that Pawl's own requests can have:
//   SCAN COUNT 1000    1000 keys and one bucket of the server's table, of up to 512 bytes of a name
//                      in escapes of 3 bytes each: 1.6 MB, 1002 nodes
//   inspect            4096 holders of 4 to 6 nodes and 450 bytes each: 1.9 MB, 24 589 nodes
//   renewals, several  256 and 257 integers or tokens
//   INFO, CONFIG GET   some KB of one section
// A message of a channel that others may write to is not larger than these either.
inline constexpr reply_limits session_limits{.bytes = 4 << 20, .nodes = 64 << 10};

// Of numbers, errors, statuses and heads. Redis itself writes no longer ones.
inline constexpr std::size_t line_limit = 64 << 10;

// One message from its first byte on.
class reply_checker {
public:
    explicit reply_checker(reply_limits limits) noexcept : limits_(limits) {}
    void set_limits(reply_limits limits) noexcept { limits_ = limits; }
    [[nodiscard]] const reply_limits& limits() const noexcept { return limits_; }

    // `rest` begins with an element's head, `at` bytes after the message's begin; the head may not
    // be there as a whole yet. Refuses what is too large as soon as it is announced, and what
    // Boost.Redis' parser cannot take.
    [[nodiscard]] boost::system::error_code check_head(std::string_view rest, std::size_t at);
    void next_message() noexcept { announced_ = 0; }

private:
    reply_limits limits_;
    std::size_t announced_ = 0;  // nodes of this message, whether they arrived or not
};

}  // namespace pawl::redis
