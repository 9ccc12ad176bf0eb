// What a wait does while the service is away.
#pragma once

#include "alarm.hpp"
#include "wait_notice.hpp"

#include <pawl/error.hpp>

namespace pawl::core {

// True where the service may serve a little later: it is away, or cannot serve anybody now.
[[nodiscard]] bool may_pass(const error& trouble) noexcept;

// Of one wait; used on one strand.
class absence {
public:
    // `log` must outlive it, and may be empty.
    absence(runtime& time, boost::asio::any_io_executor strand, const wait_notice::logger& log,
            time_point give_up_at)
        : time_(time),
          timer_(time, std::move(strand)),
          notice_(time, log),
          give_up_at_(give_up_at) {}

    // Pauses before the service is asked again, longer each time, and says why in the log, once a
    // minute. Throws `trouble` where it is no absence, or no time is left: a service that is there
    // and cannot serve is its backend's to ask again, which knows a busy file from a damaged one.
    boost::asio::awaitable<void> ride_out(error trouble);

private:
    runtime& time_;
    alarm timer_;
    wait_notice notice_;
    const time_point give_up_at_;
    duration longest_ = std::chrono::milliseconds(100);
};

}  // namespace pawl::core
