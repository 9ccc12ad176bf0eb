// What is in the way where a key of Pawl's holds something else.
#pragma once

#include "keys.hpp"
#include "link.hpp"

#include <array>
#include <span>
#include <string_view>

namespace pawl::redis {

struct typed_key {
    std::string_view key;
    std::string_view type;     // as TYPE calls it
    std::string_view purpose;  // what Pawl keeps there
};

[[nodiscard]] std::array<typed_key, 6> typed(const keys& where) noexcept;

// Throws what an error of the server means for the first of these keys. Where one of them is of
// another type it asks which, and the sentence says so. Nothing, and no request, for other replies.
boost::asio::awaitable<void> refuse(link& over, const reply& answer,
                                    std::span<const typed_key> keys, time_point give_up_at);

}  // namespace pawl::redis
