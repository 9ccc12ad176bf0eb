// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch.hpp"

#include "validate.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::core {
namespace {

void check_ttl(const latch_options& options) {
    if (options.ttl < 1s || options.ttl > 366 * 24h)
        throw error(
            errc::bad_option,
            "The ttl of a latch is " +
                std::to_string(std::chrono::floor<std::chrono::milliseconds>(options.ttl).count()) +
                " ms; it must be between 1 s and 366 days.");
}

void check_positive(std::uint32_t number, const char* subject) {
    if (number == 0)
        throw error(errc::bad_option, std::string(subject) + " is 0; it must be 1 or more.");
}

}  // namespace

void check_wait(duration wait) {
    if (wait < 0s)
        throw error(errc::bad_option,
                    "The wait is less than 0; it must be 0 or more; 0 checks the count once.");
}

error latch_timeout_error(const std::string& name) {
    return {errc::timed_out,
            "The latch '" + name +
                "' did not reach 0 in time; wait longer, or see the remaining count with "
                "`inspect`."};
}

latches& engine::latches() {
    throw_if_closed();
    auto* backend_latches = backend_->latches();
    if (backend_latches == nullptr)
        throw error(errc::unsupported,
                    "This service has no latches; see the table in docs/guide/guarantees.md.");
    return *backend_latches;
}

asio::awaitable<bool> set_latch(engine::ptr engine, std::string name, std::uint32_t count,
                                latch_options options) {
    check_name(name);
    check_positive(count, "The count of a latch");
    check_ttl(options);
    co_return co_await engine->latches().try_set(name, count, options.ttl);
}

asio::awaitable<std::uint64_t> count_down(engine::ptr engine, std::string name,
                                          std::uint32_t steps) {
    check_name(name);
    check_positive(steps, "The number of steps");
    const auto step = co_await engine->latches().count_down(name, steps);
    co_return step.count;
}

asio::awaitable<bool> latch_is_open(engine::ptr engine, std::string name) {
    check_name(name);
    const auto info = co_await engine->latches().inspect(name);
    if (!info.known) throw unknown_latch_error(name);
    co_return info.count == 0;
}

asio::awaitable<bool> wait_latch(engine::ptr engine, std::string name, phase arrival,
                                 duration wait) {
    check_name(name);
    check_wait(wait);
    const auto give_up_at = plus(engine->time().now(), wait);
    co_return co_await engine->latches().wait(name, static_cast<std::uint64_t>(arrival),
                                              give_up_at);
}

asio::awaitable<phase> arrive(engine::ptr engine, std::string name, std::uint32_t parties,
                              latch_options options) {
    check_name(name);
    check_positive(parties, "The number of parties");
    check_ttl(options);
    const auto step = co_await engine->latches().arrive(name, parties, options.ttl);
    co_return static_cast<phase>(step.generation);
}

asio::awaitable<bool> count_down_and_wait(engine::ptr engine, std::string name, duration wait) {
    check_name(name);
    check_wait(wait);
    const auto give_up_at = plus(engine->time().now(), wait);
    auto& latches = engine->latches();
    const auto step = co_await latches.count_down(name, 1);
    if (step.count == 0) co_return true;
    co_return co_await latches.wait(name, step.generation, give_up_at);
}

asio::awaitable<latch_info> inspect_latch(engine::ptr engine, std::string name) {
    check_name(name);
    co_return co_await engine->latches().inspect(name);
}

asio::awaitable<bool> reset_latch(engine::ptr engine, std::string name) {
    check_name(name);
    co_return co_await engine->latches().reset(name);
}

}  // namespace pawl::core
