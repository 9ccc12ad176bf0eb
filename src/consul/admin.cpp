// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What operators ask: the state of locks, and their forced release.
#include "lock_client.hpp"

#include "errors.hpp"

#include <pawl/options.hpp>

#include <utility>

namespace asio = boost::asio;

namespace pawl::consul {
namespace {

// Each repetition means that another session has got the lock meanwhile.
constexpr int most_forced_releases = 5;

}  // namespace

// A session of another program has a name for its holder.
asio::awaitable<lock_info> lock_client::to_info(std::string name, entry stored) {
    lock_info info;
    info.name = std::move(name);
    if (stored.session.empty()) co_return info;
    auto shown = parse_value(stored.value);
    if (shown.owner.empty()) {
        shown.owner = stored.session.substr(0, 8);
        const auto described = co_await server_->describe_session(stored.session, try_deadline());
        if (described) {
            shown.host = described->node;
            shown.command = described->name;
        }
    }
    shown.token = fencing_token(stored.modify_index);
    shown.remaining = forever;  // that of the session is not shown
    info.held_by = std::move(shown);
    co_return info;
}

asio::awaitable<lock_info> lock_client::inspect(std::string name) {
    const core::in_flight::guard operation(operations_);
    auto seen = co_await server_->read(keys_.lock_key(name), try_deadline());
    auto stored = std::move(seen.stored).value_or(entry{});
    auto info = co_await to_info(std::move(name), std::move(stored));
    co_return info;
}

asio::awaitable<std::vector<lock_info>> lock_client::list(std::string prefix) {
    const core::in_flight::guard operation(operations_);
    const auto entries = co_await server_->list(keys_.list_key(prefix), try_deadline());
    std::vector<lock_info> locks;
    for (const auto& each : entries) {
        auto name = keys_.name_in(each.key);
        if (each.session.empty() || !name || !name->starts_with(prefix)) continue;
        auto info = co_await to_info(std::move(*name), each);
        locks.push_back(std::move(info));
    }
    co_return locks;
}

asio::awaitable<bool> lock_client::force_release(std::string name, fencing_token expected) {
    const core::in_flight::guard operation(operations_);
    const auto key = keys_.lock_key(name);
    for (int i = 0; i < most_forced_releases; ++i) {
        const auto seen = co_await server_->read(key, try_deadline());
        if (!seen.stored || seen.stored->session.empty()) co_return false;
        const auto index = seen.stored->modify_index;
        if (expected && expected.value() != index) co_return false;
        const held_key target{key, index, nullptr, {}};
        const bool was_held = co_await delete_key(target, try_deadline());
        if (was_held) co_return true;
    }
    throw error(errc::unavailable, "The lock '" + name +
                                       "' changes its holder faster than it can be released; try "
                                       "again.");
}

}  // namespace pawl::consul
