// What a wait says in the log about a service that cannot serve it.
#pragma once

#include <pawl/runtime.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace pawl::core {

// Of one wait: the reason at once, and then once a minute. Tools know the lines by their beginning.
class wait_notice {
public:
    using logger = std::function<void(std::string_view)>;

    // Both must outlive it; `log` may be empty.
    wait_notice(runtime& time, const logger& log) noexcept : time_(time), log_(log) {}

    void say(std::string_view why) {
        const auto now = time_.now();
        if (!log_ || now < silent_until_) return;
        silent_until_ = now + std::chrono::minutes(1);
        log_("Waiting for the service: " + std::string(why));
    }

private:
    runtime& time_;
    const logger& log_;
    time_point silent_until_ = time_point::min();
};

}  // namespace pawl::core
