// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One decrement of a number in Redis: without a lock, and with one. The baseline is a plain DECR.
#include "workers.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/counters.hpp>
#include <pawl/guard/hiredis.hpp>

#include <functional>
#include <memory>
#include <stdexcept>

namespace bench {

namespace {

using namespace std::chrono_literals;
namespace guard = pawl::guard;

// Counts the commands of the view below it.
class counting_connection final : public guard::redis_connection {
public:
    explicit counting_connection(guard::redis_connection& inner) : inner_(inner) {}
    guard::redis_reply execute(const guard::redis_command& command) override {
        ++commands;
        return inner_.execute(command);
    }
    int commands = 0;

private:
    guard::redis_connection& inner_;
};

struct variant {
    const char* id;
    const char* label;
    std::function<void()> step;
    int more_commands = 0;  // over other connections
    std::vector<double> ratios{}, times{};
    int commands = 0;
};

std::vector<variant> make_variants(guard::redis_connection& server, guard::counters& values,
                                   pawl::blocking::client& locks) {
    const auto write_back = [&server] {
        const auto old_value = std::stoll(server.execute({"GET", "n"}).text);
        (void)server.execute({"SET", "n", std::to_string(old_value - 1)});
    };
    return {
        {"decr", "DECR",
         [&server] {
             (void)server.execute({"DECR", "n"});
         }},
        {"subtract", "subtract with a floor", [&values] { (void)values.subtract("n", 1); }},
        {"subtract_id", "the same with an id",
         [&values, id = 0]() mutable {
             (void)values.subtract("n", 1, {.keep = 1min}, std::to_string(++id));
         }},
        {"update", "update",
         [&values] {
             (void)values.update("n", [](const std::string& old_value) {
                 return std::to_string(std::stoll(old_value) - 1);
             });
         }},
        {"lock", "a lock, GET, SET, release",
         [&locks, write_back] {
             auto lock = locks.acquire("bench/no_lock", {.ttl = 30s});
             write_back();
             (void)lock.release();
         },
         2},
    };
}

}  // namespace

void measure_no_lock(const bench_context& context, std::vector<row>& rows) {
    const std::unique_ptr<redisContext, decltype(&redisFree)> connected(
        redisConnect("127.0.0.1", context.port), &redisFree);
    if (!connected || connected->err != 0) throw std::runtime_error("hiredis cannot connect");
    guard::hiredis_connection view(*connected);
    counting_connection server(view);
    guard::counters values(server);
    pawl::blocking::client locks(pawl::from_url(context.url));
    (void)server.execute({"SET", "n", "1000000000"});
    auto variants = make_variants(server, values, locks);
    const int steps = context.options.quick ? 50 : 2000;
    for (int round = 0; round < (context.options.quick ? 2 : 5); ++round) {
        for (variant& each : variants) {
            each.step();  // loads its scripts
            server.commands = 0;
            each.times.push_back(median(time_each(steps, each.step)));
            each.commands = server.commands / steps + each.more_commands;
            each.ratios.push_back(each.times.back() / variants.front().times.back());
        }
    }
    for (const variant& each : variants) {
        progress(std::string("one decrement, ") + each.label);
        rows.push_back({.id = std::string("no_lock.") + each.id,
                        .label = std::string("one decrement: ") + each.label + ", p50",
                        .unit = "µs",
                        .measured = median(each.times),
                        .baseline_name = "DECR",
                        .baseline = median(variants.front().times),
                        .ratio = median(each.ratios),
                        .note = std::to_string(each.commands) + " commands"});
    }
}

}  // namespace bench
