// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A backend over another one, for bugs that change what the core requests or gets.
#pragma once

#include <core/util/spi.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {

class forwarding_backend : public backend {
public:
    template <class T>
    using awaitable = boost::asio::awaitable<T>;

    explicit forwarding_backend(std::unique_ptr<backend> actual) : actual_(std::move(actual)) {}

    awaitable<std::optional<grant>> acquire(const claim& claim, time_point give_up_at) override {
        return actual_->acquire(claim, give_up_at);
    }
    awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                time_point give_up_at) override {
        return actual_->acquire_batch(claims, give_up_at);
    }
    bool can_batch(std::span<const std::string> names) const override {
        return actual_->can_batch(names);
    }
    awaitable<void> confirm_durability(std::span<const hold* const> holds, durability wanted,
                                       time_point give_up_at) override {
        return actual_->confirm_durability(holds, wanted, give_up_at);
    }
    awaitable<void> renew(renewal_batch& batch) override { return actual_->renew(batch); }
    std::size_t renewals_at_once() const noexcept override { return actual_->renewals_at_once(); }
    std::size_t unanswered_renewals() const noexcept override {
        return actual_->unanswered_renewals();
    }
    awaitable<release_result> release(const hold& hold) override { return actual_->release(hold); }
    awaitable<lock_info> inspect(std::string_view name) override { return actual_->inspect(name); }
    awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        return actual_->list(prefix);
    }
    awaitable<std::optional<grant>> downgrade(const hold& hold) override {
        return actual_->downgrade(hold);
    }
    awaitable<std::optional<grant>> adopt(const claim& claim) override {
        return actual_->adopt(claim);
    }
    awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        return actual_->resize(name, permits);
    }
    awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        return actual_->force_release(name, expected);
    }
    awaitable<examination> examine() override { return actual_->examine(); }
    awaitable<void> close(time_point give_up_at) override { return actual_->close(give_up_at); }
    std::string unreachable_reason(std::string_view name) const override {
        return actual_->unreachable_reason(name);
    }
    spi::latches* latches() noexcept override { return actual_->latches(); }
    spi::capabilities capabilities() const noexcept override { return actual_->capabilities(); }
    bool resumes_on_strand() const noexcept override { return actual_->resumes_on_strand(); }
    std::string capability_hint(lock_mode mode, bool fair) const override {
        return actual_->capability_hint(mode, fair);
    }

protected:
    std::unique_ptr<backend> actual_;
};

}  // namespace pawl::simulation
