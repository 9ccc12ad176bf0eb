// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The channels to which a link subscribes besides its own. The list outlives a connection.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Used on one strand.
class subscriptions {
public:
    void add_listener(const std::string& channel);
    // Returns true if the channel has no listener any more.
    bool remove_listener(std::string_view channel);

    // True: the server has confirmed the subscription on the present connection.
    [[nodiscard]] bool is_confirmed(std::string_view channel) const;
    void confirm(std::string_view channel);
    void mark_unconfirmed(std::string_view channel);
    // To be called when the connection has ended.
    void mark_all_unconfirmed() noexcept;

    [[nodiscard]] std::vector<std::string> all() const;
    // Confirms the channels to which a new connection has subscribed. Returns those that have no
    // listener any more.
    [[nodiscard]] std::vector<std::string> confirm_resubscribed(std::vector<std::string> channels);

private:
    struct state {
        unsigned listeners = 0;
        bool is_confirmed = false;
    };
    std::map<std::string, state, std::less<>> channels_;
};

}  // namespace pawl::redis
