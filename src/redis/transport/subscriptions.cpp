// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "subscriptions.hpp"

#include "link.hpp"

#include <pawl/error.hpp>

namespace pawl::redis {

boost::asio::awaitable<void> link::subscribe(std::string, time_point) {
    throw error(errc::unsupported, "This link has no channels but its own.");
    co_return;
}

void link::unsubscribe(const std::string&) noexcept {}

void subscriptions::add_listener(const std::string& channel) { ++channels_[channel].listeners; }

bool subscriptions::remove_listener(std::string_view channel) {
    const auto it = channels_.find(channel);
    if (it == channels_.end() || --it->second.listeners > 0) return false;
    channels_.erase(it);
    return true;
}

bool subscriptions::is_confirmed(std::string_view channel) const {
    const auto it = channels_.find(channel);
    return it != channels_.end() && it->second.is_confirmed;
}

void subscriptions::confirm(std::string_view channel) {
    const auto it = channels_.find(channel);
    if (it != channels_.end()) it->second.is_confirmed = true;
}

void subscriptions::mark_unconfirmed(std::string_view channel) {
    const auto it = channels_.find(channel);
    if (it != channels_.end()) it->second.is_confirmed = false;
}

void subscriptions::mark_all_unconfirmed() noexcept {
    for (auto& [channel, entry] : channels_)
        entry.is_confirmed = false;
}

std::vector<std::string> subscriptions::all() const {
    std::vector<std::string> names;
    for (const auto& [channel, entry] : channels_)
        names.push_back(channel);
    return names;
}

std::vector<std::string> subscriptions::confirm_resubscribed(std::vector<std::string> channels) {
    std::erase_if(channels, [this](const std::string& channel) {
        confirm(channel);
        return channels_.contains(channel);
    });
    return channels;
}

}  // namespace pawl::redis
