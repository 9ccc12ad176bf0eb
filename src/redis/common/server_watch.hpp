// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Notices that a link has reached another server than before, which may lack holds.
#pragma once

#include "../transport/link.hpp"
#include "core/util/spi.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace pawl::redis {

// Used on one strand. The context must outlive it.
class server_watch {
public:
    explicit server_watch(const backend_context& context) noexcept : context_(context) {}

    // Call this for every new connection. Reports a possible loss, unless this is the link's first
    // connection, or the run id is known and run id and epoch equal those of the connection before.
    // True: the epoch is another one, so there was a failover. A node of a cluster also has another
    // epoch after it has got a slot.
    bool report_if_other_server(const link& connected_link);
    // The last answer about the hold came before the failover of which the link learned last.
    [[nodiscard]] bool was_confirmed_before_failover(const link& server_link,
                                                     const renewal& refused) const;

private:
    struct known_server {
        std::string run_id;
        std::uint64_t epoch = 0;
        time_point epoch_since =
            time_point::min();  // the connection at which the epoch had changed
    };

    const backend_context& context_;
    std::map<const link*, known_server> known_servers_;  // of each link's last connection
};

}  // namespace pawl::redis
