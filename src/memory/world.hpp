// The locks of one world, and who waits for them. All clients of the world call in here.
#pragma once

#include "core/alarm.hpp"

#include <pawl/backend.hpp>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pawl::memory {

// One client, as the world knows it.
struct session {
    boost::asio::any_io_executor strand;
    runtime* time = nullptr;
    loss_listener* listener = nullptr;
    identity who;
    std::shared_ptr<counters> count;  // a request for each step that another service would be asked
};

// Thread-safe: one mutex, never held while anything waits.
class world {
public:
    struct waiter {
        waiter(const claim& asked, std::shared_ptr<session> who)
            : what(asked), by(std::move(who)), alarm(*by->time, by->strand) {}

        const claim& what;
        std::shared_ptr<session> by;
        core::alarm alarm;  // of the client's strand
        std::optional<grant> given;
        bool too_many = false;  // it asks for more permits than there are by now
    };

    // What a waiter has to do next.
    struct outlook {
        std::optional<grant> given;
        time_point look_at = time_point::max();  // when the next lease ends, for the first in line
    };

    // Those three throw errc::bad_option for permits that can never be had.
    std::optional<grant> take(const claim& what, const std::shared_ptr<session>& by);
    outlook join(const std::shared_ptr<waiter>& one);
    outlook look(const std::shared_ptr<waiter>& one);
    // Out of the line. Passes on what was given but not wanted any more.
    void leave(const std::shared_ptr<waiter>& one, bool wanted) noexcept;

    void renew(std::span<renewal> batch, time_point now);
    release_result release(const claim& what, time_point now);
    std::optional<grant> downgrade(const claim& what, time_point now);
    void resize(std::string_view name, std::uint32_t permits, time_point now);
    bool force_release(std::string_view name, time_point now);
    lock_info inspect(std::string_view name, time_point now);
    std::vector<lock_info> list(std::string_view prefix, time_point now);

private:
    struct tenure {
        std::string owner;
        fencing_token token;
        time_point expires{};
        std::chrono::system_clock::time_point since{};
        identity who;
        std::weak_ptr<session> by;
        lock_mode mode = lock_mode::exclusive;
        std::uint32_t permits = 0;
    };
    struct slot {
        std::vector<tenure> held;  // all in one mode, the oldest first
        std::list<std::shared_ptr<waiter>> line;
    };
    using slots = std::map<std::string, slot, std::less<>>;

    static tenure* find(slot& at, const std::string& owner);
    void check_permits(const claim& what);
    [[nodiscard]] bool fits(const slot& at, const claim& what) const;
    grant give(slot& to, const claim& what, const std::shared_ptr<session>& by, time_point now);
    void drop(slot& at, const tenure& one, time_point now);
    // Lets in whoever is first in line, as long as that fits.
    void serve(slot& at, time_point now);
    void settle(slot& at, time_point now);
    void tidy(slots::iterator at);
    outlook outlook_of(const slot& at, const std::shared_ptr<waiter>& one) const;
    static void tell_forced(const tenure& victim);
    [[nodiscard]] lock_info describe(std::string_view name, const slot& at, time_point now) const;

    std::mutex mutex_;
    slots slots_;
    std::map<std::string, std::uint32_t, std::less<>> permits_;  // in all, once somebody has said
    // One counter for all names: a name that nobody holds needs no memory, and its tokens still
    // only go up. From the clock, they go on above those of the process before.
    std::uint64_t last_token_ = 0;
};

}  // namespace pawl::memory
