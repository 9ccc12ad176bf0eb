// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../../core/util/random.hpp"

namespace pawl::redis::redisson {
namespace {

// A random UUID (version 4).
std::string random_uuid(runtime& source) {
    auto text = core::random_hex(source, 16);
    text[12] = '4';
    text[16] = "89ab"[text[16] % 4];
    for (const auto at : {20u, 16u, 12u, 8u})
        text.insert(at, 1, '-');
    return text;
}

}  // namespace

std::unique_ptr<backend> make_backend(const options& server_options, const backend_context& context,
                                      const topology_factory& connect, const limits& bounds) {
    return std::make_unique<locks>(server_options, context, connect, bounds);
}

locks::locks(const options& server_options, backend_context context,
             const topology_factory& connect, const limits& bounds)
    : lock_base(server_options, std::move(context), connect, "", bounds),
      naming_(options_.key),
      client_(random_uuid(time())),
      latches_(options_, context_, naming_, *servers_, bounds_) {}

void locks::on_message(std::string_view channel, std::string_view payload) {
    latches_.on_message(channel, payload);
    const auto [begin, end] = attempts_by_channel_.equal_range(channel);
    for (auto it = begin; it != end; ++it)
        it->second->wakeup.notify();
}

// Messages that are published while there is no connection are lost, so every waiter tries again.
void locks::on_connected(const link& connected_link) {
    watch_.report_if_other_server(connected_link);
    undos_.of(connected_link).retry_now();
    latches_.on_connected(connected_link);
    for (const auto& [channel, attempt] : attempts_by_channel_)
        if (&link_of(attempt->object.keys) == &connected_link) attempt->wakeup.notify();
}

std::string locks::unreachable_reason(std::string_view name) const {
    return link_of(naming_.names_of(name)).connection_failure();
}

// Java's counter of tokens does not follow a clock, so tokens may repeat after a restart. A release
// only frees the lock and notifies its waiters (of a fair lock, the first); a notified waiter must
// send another request. An owner is only a UUID and a number.
spi::capabilities locks::capabilities() const noexcept {
    spi::capabilities result;
    result.tokens_survive_data_loss = result.names_holders = result.hands_over =
        result.modes_share_queue = false;
    result.order = fairness::none;
    result.permits = result.latches = true;
    result.replica_durability = result.disk_durability = true;
    result.shared = result.downgrades = options_.object == redisson_object::readwrite;
    result.strictly_fair = !result.shared;
    return result;
}

std::string locks::capability_hint(lock_mode mode, bool fair) const {
    if (mode == lock_mode::shared && !fair)
        return "set object=readwrite in the URL, for Redisson's ReadWriteLock";
    if (mode == lock_mode::exclusive && fair)
        return "leave object=readwrite out of the URL, since of Redisson's objects only the lock "
               "can be strictly fair";
    return "of Redisson's objects only the lock can be strictly fair, and it is held alone";
}

}  // namespace pawl::redis::redisson
