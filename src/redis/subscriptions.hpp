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
    // Counts one who listens, from here to its end, or for good after `keep`.
    class listening {
    public:
        listening(subscriptions& to, std::string channel);
        ~listening();
        listening(const listening&) = delete;
        listening& operator=(const listening&) = delete;
        void keep() noexcept { kept_ = true; }

    private:
        subscriptions& to_;
        const std::string channel_;
        bool kept_ = false;
    };

    // True: nobody listens any more.
    bool leave(std::string_view channel);

    // The server has confirmed it on the present connection.
    [[nodiscard]] bool heard(std::string_view channel) const;
    void confirm(std::string_view channel);
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
