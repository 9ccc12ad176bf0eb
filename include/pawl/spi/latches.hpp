// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The interface of a backend's latches, which are optional. For authors of backends:
// docs/contributing/writing-a-backend.md, "Latches".
//
// As in backend.hpp, all calls come from one strand, several may be in flight at once, and
// arguments outlive the coroutine. The core has checked names, counts and options. Functions throw
// pawl::error.
#pragma once

#include <pawl/detail/asio_settings.hpp>
#include <pawl/latch_options.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string_view>

namespace pawl::spi {

// A latch has no owner and no lease. When its count reaches 0, every waiter is released. Then it
// can be set again, which begins its next generation. A service that numbers generations
// (capabilities::barriers) distinguishes a latch at 0 from a forgotten one; other services do not.
class latches {
public:
    virtual ~latches() = default;

    // Begins a generation with this count. False: a generation is counting.
    virtual boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                                 duration ttl) = 0;

    // The result of a step.
    struct step {
        std::uint64_t generation = 0;  // the generation in which the step counted
        std::uint64_t count = 0;       // its remaining count
    };
    // Subtracts `steps`, to 0 at the least, and at 0 wakes every waiter. The step counts once,
    // however often it was sent. errc::unreachable: it is not known whether it counted. errc::lost:
    // the service does not know the latch.
    virtual boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) = 0;

    // One of `parties` arrives. The first arrival begins a generation. The last one wakes every
    // waiter, and begins the next generation in the same step. errc::bad_option: the barrier has
    // another number of parties.
    virtual boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                                duration ttl) = 0;

    // Waits until this generation has reached 0; a push ends the wait. Generation 0 is the present
    // one. False: the generation did not end until `give_up_at`. If `give_up_at` is not in the
    // future, the latch is checked once. errc::lost: the service does not know the latch or this
    // generation, or the latch was reset meanwhile.
    virtual boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                              time_point give_up_at) = 0;

    // The state of the latch. An unknown latch is no error.
    virtual boost::asio::awaitable<latch_info> inspect(std::string_view name) = 0;

    // Removes the latch, and wakes its waiters. False: the latch did not exist.
    virtual boost::asio::awaitable<bool> reset(std::string_view name) = 0;
};

}  // namespace pawl::spi
