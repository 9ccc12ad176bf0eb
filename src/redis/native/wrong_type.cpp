// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "wrong_type.hpp"

#include "../topology/follow_key.hpp"
#include "../transport/server_errors.hpp"

namespace asio = boost::asio;

namespace pawl::redis::native {
namespace {

constexpr std::string_view other_data_advice =
    "for another program's data choose another name, namespace or key template";

error wrong_type_error(const typed_key& wanted, std::string_view actual_type) {
    const auto holds = std::string(wanted.key) + " holds a " + std::string(actual_type) +
                       ", where Pawl keeps " + std::string(wanted.purpose) + "; ";
    const bool is_of_redisson = wanted.purpose == "the lock" && actual_type == "hash";
    const std::string advice =
        is_of_redisson ? "for a lock of Redisson set layout=redisson in the URL, " : "";
    return {errc::wrong_type, holds + advice + std::string(other_data_advice) + "."};
}

// The server's word "zset" is replaced for users.
std::string_view type_in_words(std::string_view type) {
    return type == "zset" ? "sorted set" : type;
}

}  // namespace

std::array<typed_key, 6> typed_keys_of(const keys& lock_keys) noexcept {
    return {{{lock_keys.lock(), "string", "the lock"},
             {lock_keys.fence(), "string", "the counter of its tokens"},
             {lock_keys.queue(), "zset", "the queue of its waiters"},
             {lock_keys.waiters(), "hash", "its waiters"},
             {lock_keys.holders(), "zset", "the leases of its non-exclusive holders"},
             {lock_keys.details(), "hash", "its non-exclusive holders"}}};
}

asio::awaitable<void> throw_if_key_error(topology& servers, const reply& reply,
                                         std::span<const typed_key> keys, time_point give_up_at) {
    if (reply.type != reply::kind::error) co_return;
    if (is_wrong_type(reply)) {
        for (const auto& key : keys) {
            const std::array<std::string_view, 2> command{"TYPE", key.key};
            const auto type = co_await exec_at(servers, key.key, command, give_up_at);
            // A user without permission for TYPE gets a shorter error.
            if (type.type == reply::kind::error) break;
            if (type.text != key.type && type.text != "none")
                throw wrong_type_error(key, type_in_words(type.text));
        }
    }
    throw_if_error(reply, std::string(keys.front().key));
}

}  // namespace pawl::redis::native
