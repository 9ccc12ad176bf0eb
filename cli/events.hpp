// What the front of `pawl run` waits for: signals, the keeper, and CLOCK_BOOTTIME, which goes on
// while the machine is suspended. One thread; the signals are blocked as long as this lives.
#pragma once

#include "descriptor.hpp"
#include "keeper.hpp"

#include <csignal>
#include <vector>

namespace pawl::cli {

struct happening {
    std::vector<report> reports;
    std::vector<int> signals;
};

// Lets a blocked signal that is pending act now; returns when it let us go on.
void deliver(int signal) noexcept;
// Stops this process as SIGTSTP does.
void stop_self() noexcept;
[[nodiscard]] bool ends_a_wait(int signal) noexcept;

class events {
public:
    events();
    ~events();
    events(const events&) = delete;
    events& operator=(const events&) = delete;

    // The keeper's end of the conversation; waits for it from then on.
    void listen_to(int channel) noexcept { channel_ = channel; }
    // Nothing more comes from the keeper: it ended.
    [[nodiscard]] bool keeper_gone() const noexcept { return keeper_gone_; }
    // The mask that we were started with, for the command.
    [[nodiscard]] const sigset_t& inherited() const noexcept { return inherited_; }

    // Returns when something happened, at `until` at the latest.
    [[nodiscard]] happening wait(time_point until);

private:
    void read_reports(happening& into);
    void read_signals(happening& into);

    sigset_t inherited_{};
    descriptor signals_;
    descriptor timer_;
    int channel_ = -1;
    bool keeper_gone_ = false;
};

}  // namespace pawl::cli
