// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Stock in Redis without a lock. The environment variable PAWL_URL is redis://HOST:PORT.
#include <pawl/guard/counters.hpp>
#include <pawl/guard/hiredis.hpp>
#include <pawl/guard/redis_once.hpp>
#include <pawl/guard/script.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>

namespace guard = pawl::guard;
using namespace std::chrono_literals;

int main() {
    std::signal(SIGPIPE, SIG_IGN);
    const char* configured = std::getenv("PAWL_URL");
    const std::string url = configured != nullptr ? configured : "redis://127.0.0.1:6379";
    const auto colon = url.rfind(':');
    const std::unique_ptr<redisContext, decltype(&redisFree)> context(
        redisConnect(url.substr(8, colon - 8).c_str(), std::stoi(url.substr(colon + 1))),
        &redisFree);
    if (!context || context->err != 0) return 69;
    guard::hiredis_connection redis(*context);

    // Two books are left. A buyer whose answer was lost asks again, with the same id.
    guard::counters stock(redis);
    stock.create("{sale-7}:books", 2);
    stock.subtract("{sale-7}:books", 1, {}, "order 41");
    const auto left = stock.subtract("{sale-7}:books", 1, {}, "order 41");
    const auto sold_out = stock.subtract("{sale-7}:books", 5);
    std::cout << left.value_or(-1) << " left; five more: " << (sold_out ? "sold" : "refused")
              << '\n';

    // A value that is a function of the old one.
    redis.execute({"SET", "{sale-7}:note", "open"});
    const auto note = stock.update(
        "{sale-7}:note", [](const std::string& old_value) { return old_value + ", nearly over"; });

    // Two keys of one hash tag.
    const guard::script<std::int64_t> sell(
        "redis.call('RPUSH', KEYS[2], ARGV[1])\n"
        "return redis.call('DECR', KEYS[1])",
        2);
    const auto after = sell.run(redis, {"{sale-7}:books", "{sale-7}:buyers"}, {"bert"});

    // The same, once for each order, however often it is requested.
    const guard::redis_effect take("return redis.call('INCRBY', KEYS[1], ARGV[1])", 1);
    const auto refund = [&](const guard::attempt&) { return take({"{sale-7}:books"}, {1}); };
    const guard::once_key key("refund/41", "one book", "sale-7");
    const auto first = guard::once(redis, key, {.lease = 30s}, refund);
    const auto second = guard::once(redis, key, {.lease = 30s}, refund);
    std::cout << note << "; " << after << " left; after the refund " << second.value << '\n';
    return left == 1 && !sold_out && after == 0 && first.value == second.value ? 0 : 1;
}
