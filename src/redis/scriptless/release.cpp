// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../common/release_retry.hpp"
#include "../transport/server_errors.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <array>
#include <exception>

namespace asio = boost::asio;

namespace pawl::redis::scriptless {

// One request for each hold. They are written one after the other without a wait for a reply.
asio::awaitable<void> locks::renew_at(topology& servers, renewal_batch& batch) {
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < batch.renewals().size(); ++i)
        requests.push_back(renew_hold(servers, batch, i));
    co_await tasks_.run_all(std::move(requests));
}

asio::awaitable<void> locks::renew_hold(topology& servers, renewal_batch& batch,
                                        std::size_t index) {
    const auto& renewed = batch.renewals()[index];
    const auto lock_keys = scheme_.keys_of(renewed.held->claim.name);
    // A connection may have to be made first. The lease counts from the earliest time at which the
    // request can have been sent.
    const auto sent_at = now();
    try {
        const auto answer =
            co_await extend(servers, lock_keys.lock(), renewed.held->grant.stored_value,
                            renewed.ttl, renewed.useful_until);
        const bool is_gone = answer.type == reply::kind::nil || is_wrong_type(answer);
        if (answer.type == reply::kind::error && !is_gone) co_return;
        const auto outcome = is_gone
                                 ? renewals_.refusal_of(servers, lock_keys.lock(), answer, renewed)
                                 : renewal::outcome::extended;
        batch.settle(index, outcome, sent_at + renewed.ttl - drift(renewed.ttl));
    } catch (const std::exception& e) {
        log(std::string("a renewal was not answered: ") + e.what());
    }
}

asio::awaitable<release_result> locks::release(const hold& held) {
    const core::in_flight::guard operation(tasks_.operations());
    const auto lock_keys = scheme_.keys_of(held.claim.name);
    const auto give_up_at = release_deadline(held);
    try {
        const auto answer =
            co_await delete_value(lock_keys.lock(), held.grant.stored_value, give_up_at);
        if (is_wrong_type(answer)) co_return release_result::taken_over;
        if (answer.type == reply::kind::string) co_return release_result::released;
        if (answer.type == reply::kind::nil) {
            const std::array<std::string_view, 2> words{"EXISTS", lock_keys.lock()};
            const auto found = co_await exec_at(*servers_, lock_keys.lock(), words, give_up_at);
            if (found.type == reply::kind::integer)
                co_return found.number == 0 ? release_result::expired : release_result::taken_over;
            co_return release_result::unknown;
        }
    } catch (const error&) {}
    if (!tasks_.is_closing()) asio::co_spawn(context_.strand, release_later(held), asio::detached);
    co_return release_result::unknown;
}

asio::awaitable<void> locks::release_later(hold held) {
    const auto lock_keys = scheme_.keys_of(held.claim.name);
    const request_sender send = [this, &lock_keys, &held](time_point deadline) {
        return delete_value(lock_keys.lock(), held.grant.stored_value, deadline);
    };
    co_await retry_release(*this, tasks_, std::string(lock_keys.lock()), send, held.claim.ttl);
}

}  // namespace pawl::redis::scriptless
