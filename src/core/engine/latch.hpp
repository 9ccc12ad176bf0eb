// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The operations on latches, behind both APIs.
#pragma once

#include "../store/latch_state.hpp"
#include "../util/spi.hpp"
#include "engine.hpp"

#include <string>

namespace pawl::core {

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
