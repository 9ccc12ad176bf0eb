// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The operations on latches, behind both APIs, and the errors that backends share.
#pragma once

#include "engine.hpp"

#include <pawl/spi/latches.hpp>

#include <string>

namespace pawl::core {

struct latch_state {
    bool known = false;
    std::uint64_t count = 0;
    std::uint64_t generation = 0;
    std::uint64_t first = 0;  // the oldest generation that the service knows
    time_point expires{};     // optional; set by backends that need it
};
// True if the generation is over. 0 means the present generation, and is set to its number. Throws
// `unknown_latch_error`.
[[nodiscard]] bool is_over(const latch_state& state, std::string_view name,
                           std::uint64_t& generation);

// errc::lost: the service does not know the latch.
[[nodiscard]] error unknown_latch_error(std::string_view name);
// errc::bad_option: the barrier has another number of parties. 0 stored parties: it is a latch.
[[nodiscard]] error other_parties_error(std::string_view name, std::uint64_t stored,
                                        std::uint64_t requested);
[[nodiscard]] error latch_timeout_error(const std::string& name);

// Throws errc::bad_option for a wait of less than 0.
void check_wait(duration wait);

// All run on the engine's strand and throw pawl::error.
boost::asio::awaitable<bool> set_latch(engine::ptr engine, std::string name, std::uint32_t count,
                                       latch_options options);
boost::asio::awaitable<std::uint64_t> count_down(engine::ptr engine, std::string name,
                                                 std::uint32_t steps);
boost::asio::awaitable<bool> latch_is_open(engine::ptr engine, std::string name);
// False: the wait has timed out. The phase 0 means the present generation.
boost::asio::awaitable<bool> wait_latch(engine::ptr engine, std::string name, phase arrival,
                                        duration wait);
boost::asio::awaitable<phase> arrive(engine::ptr engine, std::string name, std::uint32_t parties,
                                     latch_options options);
// Subtracts one step, and waits for the count 0. False: the wait has timed out.
boost::asio::awaitable<bool> count_down_and_wait(engine::ptr engine, std::string name,
                                                 duration wait);
boost::asio::awaitable<latch_info> inspect_latch(engine::ptr engine, std::string name);
boost::asio::awaitable<bool> reset_latch(engine::ptr engine, std::string name);

}  // namespace pawl::core
