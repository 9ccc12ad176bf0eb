#include "subscriptions.hpp"

#include "link.hpp"

#include <pawl/error.hpp>

namespace pawl::redis {

boost::asio::awaitable<void> link::subscribe(std::string, time_point) {
    throw error(errc::unsupported, "This link has no channels but its own.");
    co_return;
}

void link::unsubscribe(const std::string&) noexcept {}

void subscriptions::join(const std::string& channel) { ++channels_[channel].listeners; }

bool subscriptions::leave(std::string_view channel) {
    const auto found = channels_.find(channel);
    if (found == channels_.end() || --found->second.listeners > 0) return false;
    channels_.erase(found);
    return true;
}

bool subscriptions::heard(std::string_view channel) const {
    const auto found = channels_.find(channel);
    return found != channels_.end() && found->second.confirmed;
}

void subscriptions::confirm(std::string_view channel) {
    const auto found = channels_.find(channel);
    if (found != channels_.end()) found->second.confirmed = true;
}

void subscriptions::forget(std::string_view channel) {
    const auto found = channels_.find(channel);
    if (found != channels_.end()) found->second.confirmed = false;
}

void subscriptions::forget_all() noexcept {
    for (auto& [channel, about] : channels_)
        about.confirmed = false;
}

std::vector<std::string> subscriptions::all() const {
    std::vector<std::string> names;
    for (const auto& [channel, about] : channels_)
        names.push_back(channel);
    return names;
}

std::vector<std::string> subscriptions::greeted(std::vector<std::string> channels) {
    std::erase_if(channels, [this](const std::string& one) {
        confirm(one);
        return channels_.contains(one);
    });
    return channels;
}

}  // namespace pawl::redis
