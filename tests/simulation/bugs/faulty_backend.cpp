// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "faulty_backend.hpp"

#include "../server/service_from.hpp"
#include "../server/simulated_link.hpp"
#include "../server/spread_servers.hpp"
#include "faulty_topology.hpp"
#include "forwarding_backend.hpp"

#include <core/util/wakeup.hpp>
#include <pawl/error.hpp>
#include <redis/topology/single_server.hpp>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

// A destructor that allocates memory.
class allocating_destructor {
public:
    explicit allocating_destructor(bool allocates) noexcept : allocates_(allocates) {}
    ~allocating_destructor() {
        // Called as functions, because a compiler may omit a pair of new and delete expressions.
        if (allocates_) ::operator delete(::operator new(sizeof(std::string)));
    }
    allocating_destructor(const allocating_destructor&) = delete;
    allocating_destructor& operator=(const allocating_destructor&) = delete;

private:
    const bool allocates_;
};

// For possible_loss_ignored.
class deaf_listener final : public loss_listener {
public:
    explicit deaf_listener(loss_listener& core) noexcept : core_(core) {}
    void on_loss(std::string_view owner, loss_reason reason) override {
        core_.on_loss(owner, reason);
    }
    void on_possible_loss() override {}

private:
    loss_listener& core_;
};

class faulty_backend final : public forwarding_backend {
public:
    faulty_backend(std::unique_ptr<loss_listener> listener, std::unique_ptr<backend> actual,
                   const backend_context& context, injected_bug bug)
        : forwarding_backend(std::move(actual)),
          listener_(std::move(listener)),
          time_(*context.time),
          bug_(bug),
          never_notified_(*context.time, context.strand) {
        never_notified_.prepare();
    }
    ~faulty_backend() override { actual_.reset(); }  // before its listener

    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const allocating_destructor at_the_end(bug_ == injected_bug::dies_without_memory);
        if (bug_ == injected_bug::registrations_leak) leaked_.push_back(requested.owner);
        std::optional<grant> granted;
        bool out_of_memory = false;
        try {
            granted = co_await actual_->acquire(requested, give_up_at);
        } catch (const std::bad_alloc&) {
            if (bug_ != injected_bug::silent_without_memory) throw;
            out_of_memory = true;
        } catch (const error& failed) {
            // About the size of a coroutine's frame.
            if (bug_ == injected_bug::failures_leak)
                leaked_.push_back(failed.what() + std::string(1000, '.'));
            throw;
        }
        if (out_of_memory) co_await never_notified_.wait_until(time_point::max());
        if (!granted) co_return granted;
        const auto full_deadline = time_.now() + requested.ttl - drift(requested.ttl);
        if (bug_ == injected_bug::deadline_from_reply && !granted->needs_renewal)
            granted->deadline = full_deadline;
        if (bug_ == injected_bug::claim_window_taken_for_ttl &&
            std::exchange(granted->needs_renewal, false))
            granted->deadline = full_deadline;
        if (bug_ == injected_bug::token_of_previous_holder)
            granted->token = fencing_token(granted->token.value() - 1);
        co_return granted;
    }

    asio::awaitable<void> renew(renewal_batch& batch) override {
        if (bug_ == injected_bug::renewals_not_sent) co_return;
        if (bug_ != injected_bug::renewal_deadline_from_reply &&
            bug_ != injected_bug::unknown_taken_for_extended &&
            bug_ != injected_bug::refusal_ignored &&
            bug_ != injected_bug::renewals_settled_together) {
            co_await actual_->renew(batch);
            co_return;
        }
        const auto requested = batch.renewals();
        renewal_batch correct(std::vector<renewal>(requested.begin(), requested.end()));
        co_await actual_->renew(correct);
        for (std::size_t i = 0; i < requested.size(); ++i) {
            const auto& entry = correct.renewals()[i];
            const bool wrong = (bug_ == injected_bug::renewal_deadline_from_reply &&
                                entry.result == renewal::outcome::extended) ||
                               (bug_ == injected_bug::unknown_taken_for_extended &&
                                entry.result == renewal::outcome::unknown) ||
                               (bug_ == injected_bug::refusal_ignored &&
                                entry.result == renewal::outcome::refused);
            if (wrong)
                batch.settle(i, renewal::outcome::extended,
                             time_.now() + entry.ttl - drift(entry.ttl));
            else
                batch.settle(i, entry.result, entry.deadline);
        }
    }

    asio::awaitable<release_result> release(const hold& held) override {
        if (bug_ == injected_bug::release_not_sent) co_return release_result::released;
        try {
            const auto result = co_await actual_->release(held);
            const bool had_ended =
                result == release_result::expired || result == release_result::taken_over;
            co_return bug_ == injected_bug::late_release_untold&& had_ended
                ? release_result::unknown
                : result;
        } catch (const std::bad_alloc&) {
            if (bug_ != injected_bug::reports_release_without_memory) throw;
        }
        co_return release_result::released;
    }

    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        return actual_->force_release(
            name, bug_ == injected_bug::forced_release_of_any ? fencing_token() : expected);
    }
    asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> requested,
                                                      time_point give_up_at) override {
        auto grants = co_await actual_->acquire_batch(requested, give_up_at);
        if (bug_ == injected_bug::batch_swaps_tokens && grants.size() > 1)
            std::swap(grants.front().token, grants.back().token);
        co_return grants;
    }

private:
    const std::unique_ptr<loss_listener> listener_;  // of `actual_`; may be null
    runtime& time_;
    injected_bug bug_;
    std::vector<std::string> leaked_;  // for registrations_leak and failures_leak
    core::wakeup never_notified_;
};

redis::topology_factory topology_of(const std::vector<simulated_network*>& servers,
                                    simulated_process& process, const redis::options& options,
                                    const backend_context& context, injected_bug bug) {
    std::vector<redis::link_factory> links;
    for (auto* each : servers)
        links.push_back(simulated_link_factory(*each, process, context, options, bug));
    if (links.size() == 1) return redis::single_server_factory(std::move(links.front()));
    auto connect = spread_servers_factory(std::move(links));
    return is_topology_bug(bug) ? faulty_topology_factory(std::move(connect), bug) : connect;
}

}  // namespace

service simulated_service(std::vector<simulated_network*> servers, simulated_process& process,
                          const redis::options& options, redis::limits limits, injected_bug bug) {
    if (bug == injected_bug::no_back_off || bug == injected_bug::redisson_no_back_off)
        limits.longest_pause = limits.first_pause;
    return service_from("simulated", [=, &process](backend_context context) {
        std::unique_ptr<loss_listener> deaf;
        if (bug == injected_bug::possible_loss_ignored) {
            deaf = std::make_unique<deaf_listener>(*context.listener);
            context.listener = deaf.get();
        }
        auto inner = make_redis_backend(
            options, context, topology_of(servers, process, options, context, bug), limits);
        return std::make_unique<faulty_backend>(std::move(deaf), std::move(inner), context, bug);
    });
}

service simulated_service(simulated_network& network, simulated_process& process,
                          const redis::options& options, const redis::limits& limits,
                          injected_bug bug) {
    return simulated_service(std::vector{&network}, process, options, limits, bug);
}

}  // namespace pawl::simulation
