// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/fork_mark.hpp"
#include "../core/util/in_flight.hpp"
#include "../core/util/spi.hpp"

#include <pawl/both.hpp>
#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace asio = boost::asio;

namespace pawl {
namespace {

// The holds of one owner in the two services.
struct hold_pair {
    hold first, second;
};

using renewals = std::vector<renewal>;

capabilities common_capabilities(const capabilities& first, const capabilities& second,
                                 tokens_of tokens) {
    const auto& of_tokens = tokens == tokens_of::first ? first : second;
    capabilities all;
    all.fencing = of_tokens.fencing;
    all.tokens_survive_data_loss = of_tokens.tokens_survive_data_loss;
    all.loss_is_pushed = first.loss_is_pushed && second.loss_is_pushed;
    all.names_holders = first.names_holders && second.names_holders;
    all.hands_over = all.modes_share_queue = false;
    all.across_processes = first.across_processes && second.across_processes;
    all.across_hosts = first.across_hosts && second.across_hosts;
    all.survives_failover = first.survives_failover && second.survives_failover;
    all.knows_remaining_time = first.knows_remaining_time && second.knows_remaining_time;
    all.least_ttl = std::max(first.least_ttl, second.least_ttl);
    all.most_ttl = std::min(first.most_ttl, second.most_ttl);
    all.ttl_granularity =
        duration(std::lcm(first.ttl_granularity.count(), second.ttl_granularity.count()));
    all.takeover_ttls = std::max(first.takeover_ttls, second.takeover_ttls);
    all.takeover_delay = std::max(first.takeover_delay, second.takeover_delay);
    all.order = fairness::none;
    all.shared = first.shared && second.shared;
    return all;
}

// One of the two did not confirm it.
bool is_ended(const renewal& answered) noexcept {
    return answered.is_settled && answered.result != renewal::outcome::unknown &&
           answered.result != renewal::outcome::extended;
}

release_result worse(release_result first, release_result second) noexcept {
    if (first == release_result::unknown || second == release_result::unknown)
        return release_result::unknown;
    return first == release_result::released ? second : first;
}

class two_services final : public std::enable_shared_from_this<two_services> {
public:
    two_services(const service& first_service, const service& second_service,
                 tokens_of token_source, const backend_context& context)
        : context_(context),
          operations_(*context.time, context.strand),
          first(first_service.open(context)),
          second(second_service.open(context)),
          tokens(token_source) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested, time_point give_up_at);
    asio::awaitable<void> renew(renewal_batch& batch);
    asio::awaitable<release_result> release(const std::string& owner);
    asio::awaitable<void> close(time_point give_up_at);
    [[nodiscard]] backend& of_tokens() const noexcept {
        return tokens == tokens_of::first ? *first : *second;
    }

    [[nodiscard]] backend& other() const noexcept {
        return tokens == tokens_of::first ? *second : *first;
    }

private:
    static asio::awaitable<void> undo_first(std::shared_ptr<two_services> self, hold granted);
    static asio::awaitable<void> end(std::shared_ptr<two_services> self, std::string owner);
    [[nodiscard]] grant combine(const hold_pair& holds) const;

    const backend_context context_;
    const core::fork_mark made_in_;
    core::in_flight operations_;
    std::map<std::string, std::shared_ptr<hold_pair>> holds_;  // by owner

public:
    const std::unique_ptr<backend> first, second;
    const tokens_of tokens;
};

grant two_services::combine(const hold_pair& holds) const {
    auto granted = tokens == tokens_of::first ? holds.first.grant : holds.second.grant;
    granted.deadline = std::min(holds.first.grant.deadline, holds.second.grant.deadline);
    granted.needs_renewal = holds.first.grant.needs_renewal || holds.second.grant.needs_renewal;
    return granted;
}

// The first hold is not renewed while the second one is requested, so this does not wait for it.
asio::awaitable<std::optional<grant>> two_services::acquire(const claim& requested,
                                                            time_point give_up_at) {
    const core::in_flight::guard operation(operations_);
    auto granted = co_await first->acquire(requested, give_up_at);
    if (!granted) co_return std::nullopt;
    const auto holds = std::make_shared<hold_pair>();
    holds->first = hold{requested, std::move(*granted)};
    std::optional<grant> also_granted;
    std::exception_ptr failure;
    try {
        also_granted = co_await second->acquire(requested, context_.time->now());
    } catch (...) {
        failure = std::current_exception();
    }
    if (!also_granted)
        asio::co_spawn(context_.strand, undo_first(shared_from_this(), holds->first),
                       asio::detached);
    if (failure) std::rethrow_exception(failure);
    if (!also_granted) co_return std::nullopt;
    holds->second = hold{requested, std::move(*also_granted)};
    const auto now = context_.time->now();
    std::erase_if(holds_, [&](const auto& each) { return combine(*each.second).deadline < now; });
    holds_[requested.owner] = holds;
    co_return combine(*holds);
}

asio::awaitable<void> two_services::undo_first(std::shared_ptr<two_services> self, hold granted) {
    const core::in_flight::guard operation(self->operations_);
    if (!self->made_in_.is_forked()) static_cast<void>(co_await self->first->release(granted));
}

asio::awaitable<void> two_services::renew(renewal_batch& batch) {
    const core::in_flight::guard operation(operations_);
    std::vector<std::shared_ptr<hold_pair>> held;
    renewals for_first, for_second;
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
        const auto& each = batch.renewals()[i];
        const auto position = holds_.find(each.held->claim.owner);
        if (position == holds_.end()) {
            batch.settle(i, renewal::outcome::refused);
            continue;
        }
        held.push_back(position->second);
        members.push_back(i);
        for_first.push_back(each);
        for_first.back().held = &held.back()->first;
        for_second.push_back(each);
        for_second.back().held = &held.back()->second;
    }
    renewal_batch first_batch(std::move(for_first)), second_batch(std::move(for_second));
    co_await first->renew(first_batch);
    co_await second->renew(second_batch);
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto& first_answer = first_batch.renewals()[i];
        const auto& second_answer = second_batch.renewals()[i];
        if (first_answer.result == renewal::outcome::extended)
            held[i]->first.grant.deadline = first_answer.deadline;
        if (second_answer.result == renewal::outcome::extended)
            held[i]->second.grant.deadline = second_answer.deadline;
        if (is_ended(first_answer) || is_ended(second_answer)) {
            batch.settle(members[i],
                         is_ended(first_answer) ? first_answer.result : second_answer.result);
            // The other service may still have its hold.
            asio::co_spawn(context_.strand,
                           end(shared_from_this(), batch.renewals()[members[i]].held->claim.owner),
                           asio::detached);
        } else if (first_answer.result == renewal::outcome::extended &&
                   second_answer.result == renewal::outcome::extended)
            batch.settle(members[i], renewal::outcome::extended,
                         std::min(first_answer.deadline, second_answer.deadline));
    }
}

// In the opposite order, so that a program that gets the first lock finds the second one free.
asio::awaitable<release_result> two_services::release(const std::string& owner) {
    const core::in_flight::guard operation(operations_);
    const auto position = holds_.find(owner);
    if (position == holds_.end()) co_return release_result::expired;
    const auto holds = position->second;
    holds_.erase(position);
    const auto second_result = co_await second->release(holds->second);
    const auto first_result = co_await first->release(holds->first);
    co_return worse(first_result, second_result);
}

asio::awaitable<void> two_services::end(std::shared_ptr<two_services> self, std::string owner) {
    if (!self->made_in_.is_forked()) static_cast<void>(co_await self->release(owner));
}

asio::awaitable<void> two_services::close(time_point give_up_at) {
    while (!made_in_.is_forked() && operations_.must_wait(give_up_at))
        co_await operations_.wait_until(give_up_at);
    co_await second->close(give_up_at);
    co_await first->close(give_up_at);
}

// Every coroutine keeps the services.
class both_backend final : public backend {
public:
    explicit both_backend(std::shared_ptr<two_services> services)
        : services_(std::move(services)) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto services = services_;
        auto granted = co_await services->acquire(requested, give_up_at);
        co_return granted;
    }
    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto services = services_;
        co_await services->renew(batch);
    }
    [[nodiscard]] std::size_t renewals_at_once() const noexcept override {
        return std::min(services_->first->renewals_at_once(),
                        services_->second->renewals_at_once());
    }
    asio::awaitable<release_result> release(const hold& held) override {
        const auto services = services_;
        const auto result = co_await services->release(held.claim.owner);
        co_return result;
    }
    // The first service, unless the lock is free there.
    asio::awaitable<lock_info> inspect(std::string_view name) override {
        const auto services = services_;
        auto info = co_await services->of_tokens().inspect(name);
        if (info.held_by) co_return info;
        auto other_info = co_await services->other().inspect(name);
        co_return other_info;
    }
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        const auto services = services_;
        auto locks = co_await services->first->list(prefix);
        auto more = co_await services->second->list(prefix);
        for (auto& each : more) {
            const auto is_known = [&](const lock_info& known) { return known.name == each.name; };
            if (std::ranges::none_of(locks, is_known)) locks.push_back(std::move(each));
        }
        co_return locks;
    }
    // With a token, the hold of the same owner in the other service ends, too.
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        const auto services = services_;
        if (!expected) {
            const bool was_first = co_await services->first->force_release(name, {});
            const bool was_second = co_await services->second->force_release(name, {});
            co_return was_first || was_second;
        }
        const auto before = co_await services->of_tokens().inspect(name);
        const bool was_held = co_await services->of_tokens().force_release(name, expected);
        if (!was_held) co_return false;
        const auto after = co_await services->other().inspect(name);
        const bool is_same = before.held_by && after.held_by && after.held_by->token &&
                             before.held_by->token == expected &&
                             before.held_by->owner == after.held_by->owner;
        if (is_same) co_await services->other().force_release(name, after.held_by->token);
        co_return true;
    }
    asio::awaitable<examination> examine() override {
        const auto services = services_;
        auto result = co_await services->first->examine();
        const auto more = co_await services->second->examine();
        result.findings.insert(result.findings.end(), more.findings.begin(), more.findings.end());
        result.nodes.insert(result.nodes.end(), more.nodes.begin(), more.nodes.end());
        result.guarantees =
            services->tokens == tokens_of::first ? result.guarantees : more.guarantees;
        co_return result;
    }
    asio::awaitable<void> close(time_point give_up_at) override {
        const auto services = services_;
        co_await services->close(give_up_at);
    }
    [[nodiscard]] std::string unreachable_reason(std::string_view name) const override {
        const auto reason = services_->first->unreachable_reason(name);
        return reason.empty() ? services_->second->unreachable_reason(name) : reason;
    }
    [[nodiscard]] spi::capabilities capabilities() const noexcept override {
        return common_capabilities(services_->first->capabilities(),
                                   services_->second->capabilities(), services_->tokens);
    }

private:
    const std::shared_ptr<two_services> services_;
};

class both_definition final : public service::definition {
public:
    both_definition(service first, service second, tokens_of tokens)
        : first_(std::move(first)), second_(std::move(second)), tokens_(tokens) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        return std::make_unique<both_backend>(
            std::make_shared<two_services>(first_, second_, tokens_, context));
    }
    std::string describe() const override {
        return first_.describe() + " and " + second_.describe();
    }

private:
    const service first_, second_;
    const tokens_of tokens_;
};

}  // namespace

service both(service first, service second, tokens_of tokens) {
    if (first.describe() == second.describe() && !first.describe().starts_with("memory:"))
        throw error(errc::bad_option,
                    "Both services are " + first.describe() + "; name two different ones.");
    return service(std::make_shared<both_definition>(std::move(first), std::move(second), tokens));
}

}  // namespace pawl
