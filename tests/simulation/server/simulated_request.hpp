// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One command of a simulated link.
#pragma once

#include "../kernel/process_resources.hpp"
#include "simulated_network.hpp"

#include <core/util/wakeup.hpp>
#include <redis/transport/link.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::simulation {

// One command from its sending until its reply or its failure.
struct request {
    request(runtime& time, const boost::asio::any_io_executor& executor)
        : completed(time, executor) {}
    shared_words command;
    core::wakeup completed;
    std::optional<redis::reply> received;
    std::string failure;
};

// The real link does not keep the words until the reply, so their memory is not counted.
inline words copy_words(std::span<const std::string_view> from) {
    const uncounted_allocations uncounted;
    return {from.begin(), from.end()};
}

inline shared_words share_uncounted(words command) {
    const uncounted_allocations uncounted;
    return share(std::move(command));
}

}  // namespace pawl::simulation
