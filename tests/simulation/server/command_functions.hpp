// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The functions behind the table of commands.cpp, and what they share.
#pragma once

#include "commands.hpp"

#include <optional>

namespace pawl::simulation::command_functions {

// Options are words in any case of letters.
[[nodiscard]] bool is_option(std::string_view word, std::string_view option) noexcept;
[[noreturn]] void throw_syntax_error();
// Throws `command_error` on overflow.
[[nodiscard]] std::int64_t sum_of(std::int64_t number, std::int64_t increment);
// Both indexes are in the range.
struct index_range {
    std::int64_t first = 0, last = 0;
    [[nodiscard]] std::size_t size() const noexcept {
        return static_cast<std::size_t>(last - first + 1);
    }
};
// The range of LRANGE, in which a negative index counts from the end; nullopt if it has no items.
[[nodiscard]] std::optional<index_range> clip_range(std::int64_t first, std::int64_t last,
                                                    std::size_t size) noexcept;

void del(const command_call& call);
void exists(const command_call& call);
void type(const command_call& call);
void pttl(const command_call& call);
void pexpire(const command_call& call);
void pexpireat(const command_call& call);
void persist(const command_call& call);

void get(const command_call& call);
void getrange(const command_call& call);
void set(const command_call& call);
void incr(const command_call& call);
void decr(const command_call& call);
void incrby(const command_call& call);
void decrby(const command_call& call);

void hget(const command_call& call);
void hmget(const command_call& call);
void hset(const command_call& call);
void hdel(const command_call& call);
void hexists(const command_call& call);
void hgetall(const command_call& call);
void hkeys(const command_call& call);
void hlen(const command_call& call);
void hincrby(const command_call& call);
void hrandfield(const command_call& call);

void lpush(const command_call& call);
void rpush(const command_call& call);
void lpop(const command_call& call);
void lindex(const command_call& call);
void llen(const command_call& call);
void lpos(const command_call& call);
void lrange(const command_call& call);
void lrem(const command_call& call);

void zadd(const command_call& call);
void zincrby(const command_call& call);
void zcard(const command_call& call);
void zcount(const command_call& call);
void zpopmin(const command_call& call);
void zrange(const command_call& call);
void zrevrange(const command_call& call);
void zrangebyscore(const command_call& call);
void zrank(const command_call& call);
void zrem(const command_call& call);
void zscore(const command_call& call);

void ping(const command_call& call);
void time(const command_call& call);
void publish(const command_call& call);
void spublish(const command_call& call);
void pubsub(const command_call& call);

}  // namespace pawl::simulation::command_functions
