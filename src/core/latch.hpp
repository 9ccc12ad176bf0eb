// The ways to use a latch, behind both faces; and the sentences that backends share.
#pragma once

#include "engine.hpp"

#include <pawl/latches.hpp>

#include <string>

namespace pawl::core {

struct latch_standing {
    bool known = false;
    std::uint64_t count = 0;
    std::uint64_t generation = 0;
    std::uint64_t first = 0;  // of the generations that the service knows
    time_point expires{};     // where the backend wants to know
};
// Whether that generation is over; 0 becomes the present one. Throws `unknown_latch`.
[[nodiscard]] bool is_over(const latch_standing& found, std::string_view name,
                           std::uint64_t& generation);

// errc::lost, where the service knows no such latch, or not any more.
[[nodiscard]] error unknown_latch(std::string_view name);
// errc::bad_option, where a barrier has another number of parties; 0: it is a latch.
[[nodiscard]] error other_parties(std::string_view name, std::uint64_t kept, std::uint64_t said);
[[nodiscard]] error latch_timed_out(const std::string& name);

// All on the engine's strand. They throw pawl::error.
boost::asio::awaitable<bool> set_latch(engine::ptr home, std::string name, std::uint32_t count,
                                       latch_options options);
boost::asio::awaitable<std::uint64_t> count_down(engine::ptr home, std::string name,
                                                 std::uint32_t steps);
boost::asio::awaitable<bool> latch_is_open(engine::ptr home, std::string name);
// False: not in time. The turn 0 is the present one.
boost::asio::awaitable<bool> wait_latch(engine::ptr home, std::string name, phase turn,
                                        duration wait);
boost::asio::awaitable<phase> arrive(engine::ptr home, std::string name, std::uint32_t parties,
                                     latch_options options);
// One step of a latch, and the wait for the rest. False: not in time.
boost::asio::awaitable<bool> step_and_wait(engine::ptr home, std::string name, duration wait);
boost::asio::awaitable<latch_info> inspect_latch(engine::ptr home, std::string name);
boost::asio::awaitable<bool> reset_latch(engine::ptr home, std::string name);

}  // namespace pawl::core
