// The channels that a link listens to besides its own, over any number of connections.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Used on one strand.
class subscriptions {
public:
    void join(const std::string& channel);
    // True: nobody listens any more.
    bool leave(std::string_view channel);

    // The server has confirmed it on the present connection.
    [[nodiscard]] bool heard(std::string_view channel) const;
    void confirm(std::string_view channel);
    void forget(std::string_view channel);
    // Of the connection that ended nothing is left.
    void forget_all() noexcept;

    [[nodiscard]] std::vector<std::string> all() const;
    // A new connection subscribed to these; answers with those that nobody wants any more.
    [[nodiscard]] std::vector<std::string> greeted(std::vector<std::string> channels);

private:
    struct state {
        unsigned listeners = 0;
        bool confirmed = false;
    };
    std::map<std::string, state, std::less<>> channels_;
};

}  // namespace pawl::redis
