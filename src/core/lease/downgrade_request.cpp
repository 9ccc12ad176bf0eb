// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "downgrade_request.hpp"

#include "../util/wakeup.hpp"
#include "renewal_times.hpp"

#include <pawl/error.hpp>

#include <string>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

error ended_in_downgrade(const lease& lease, const error& failure) {
    return {errc::lost, std::string(hold_ended(lease).what()) +
                            " The last request to downgrade it failed: " + failure.what()};
}

}  // namespace

// Until there is an answer, the hold at the service may be exclusive or shared. So the request is
// repeated, also if the hold was released meanwhile. That release was for an exclusive hold, so it
// released nothing if the downgrade was carried out and its answer was lost.
asio::awaitable<std::optional<grant>> request_downgrade(backend& backend, runtime& time,
                                                        asio::any_io_executor strand,
                                                        std::shared_ptr<lease> lease) {
    auto held = lease->granted_hold();
    for (;;) {
        held.claim.ttl = renewal_ttl(*lease, time.now(), backend.capabilities());
        try {
            co_return co_await backend.downgrade(held);
        } catch (const error& e) {
            const bool is_over = !is_kept_in_this_process(*lease) &&
                                 (!e.is_transient() || time.now() >= lease->deadline());
            if (lease->is_forked()) throw hold_ended(*lease);
            if (is_over) throw ended_in_downgrade(*lease, e);
            if (!e.is_transient()) throw;
        }
        wakeup pause(time, strand);
        const auto now = time.now();
        co_await pause.wait_until(now + retry_pause(*lease, now));
    }
}

}  // namespace pawl::core
