// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "core/util/spi.hpp"

#include <boost/asio/post.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace pawl::memory {

// One client of the service. Its backend owns it.
struct session {
    explicit session(backend_context context)
        : strand(std::move(context.strand)),
          time(context.time),
          listener(context.listener),
          client_identity(std::move(context.process)),
          try_limit(context.try_limit),
          request_counters(std::move(context.counts)) {}

    boost::asio::any_io_executor strand;
    runtime* const time;
    loss_listener* const listener;
    const identity client_identity;
    const duration try_limit;
    // Counts each step that would be a request to a server.
    const std::shared_ptr<counters> request_counters;

    // From any thread, such as that of another client: runs this on the strand, unless the client
    // has ended.
    template <class Notice>
    void post(Notice notice) {
        const std::lock_guard lock(mutex_);
        if (strand) boost::asio::post(strand, std::move(notice));
    }
    // The backend ends. Its event loop may end next.
    void end() noexcept {
        const std::lock_guard lock(mutex_);
        strand = {};
    }

private:
    std::mutex mutex_;  // of `strand`
};

}  // namespace pawl::memory
