// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../../core/util/random.hpp"

#include <memory>
#include <utility>

namespace pawl::redis::native {

std::unique_ptr<backend> make_backend(const options& server_options, const backend_context& context,
                                      const topology_factory& connect, const limits& bounds) {
    return std::make_unique<locks>(server_options, context, connect, bounds);
}

locks::locks(const options& server_options, backend_context context,
             const topology_factory& connect, const limits& bounds)
    : locks(server_options, context, connect, bounds, core::random_hex(*context.time, 8)) {}

locks::locks(const options& server_options, backend_context context,
             const topology_factory& connect, const limits& bounds, std::string client)
    : lock_base(server_options, std::move(context), connect,
                key_scheme(server_options.name_space, server_options.key, server_options.database)
                        .channel_prefix() +
                    client,
                bounds),
      scripts_(*this),
      channel_(scripts_.scheme().channel_prefix() + client),
      records_(scripts_, std::move(client), context_.process),
      latches_(options_, context_, scripts_.scheme(), *servers_, bounds_),
      queue_(*this, scripts_),
      releases_(*this, tasks_, scripts_, records_, queue_.waiters()),
      caller_values_(*this, scripts_, releases_) {}

void locks::on_message(std::string_view channel, std::string_view payload) {
    if (channel != channel_) return latches_.on_message(channel, payload);
    queue_.on_message(payload);
}

void locks::on_connected(const link& connected_link) {
    if (watch_.report_if_other_server(connected_link))
        releases_.repeat_recent_releases(connected_link);
    undos_.of(connected_link).retry_now();
    queue_.on_connected(connected_link);
    latches_.on_connected(connected_link);
}

std::string locks::unreachable_reason(std::string_view name) const {
    return servers_->link_of(key_of(name)).connection_failure();
}

spi::capabilities locks::capabilities() const noexcept {
    spi::capabilities result;
    result.loss_is_pushed = true;
    result.shared = result.permits = result.strictly_fair = result.downgrades = true;
    result.caller_values = true;
    // In a cluster, only a key template can put several names into one slot.
    result.acquire_batch = !servers_->has_slots() || scripts_.scheme().is_shared_with_others();
    result.replica_durability = result.disk_durability = true;
    result.latches = result.barriers = true;
    return result;
}

}  // namespace pawl::redis::native
