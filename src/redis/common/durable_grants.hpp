// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The durability of a grant. It is confirmed after the grant, whoever wrote it, and so in the same
// way for an immediate grant, a hand-off and an adopted hold, in every layout of keys.
#pragma once

#include "acknowledgements.hpp"
#include "core/util/spi.hpp"
#include "server_access.hpp"

#include <pawl/durability.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace pawl::redis {

// Used on one strand, except for the destructor, which any thread may call after `close`.
class durable_grants {
public:
    // Renews the holds of the batch over the links of these servers.
    using renew_function =
        std::function<boost::asio::awaitable<void>(topology& servers, renewal_batch& batch)>;

    // `access` must outlive the object. Connects when the first request needs it.
    durable_grants(server_access& access, key_function key_of, renew_function renew)
        : access_(access), key_of_(std::move(key_of)), renew_(std::move(renew)) {}

    // As backend::confirm_durability.
    boost::asio::awaitable<void> confirm(std::span<const hold* const> holds, durability wanted,
                                         time_point give_up_at);
    boost::asio::awaitable<void> close(time_point give_up_at);

private:
    // Renews all of the holds at these servers.
    boost::asio::awaitable<renewal::outcome> write_to_holds(topology& servers,
                                                            std::span<const hold> holds);

    server_access& access_;
    const key_function key_of_;
    const renew_function renew_;
    std::unique_ptr<acknowledgements> acknowledgements_;  // made by the first request
};

}  // namespace pawl::redis
