// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "faulty_backend.hpp"

#include <pawl/memory.hpp>
#include <pawl/spi/backend.hpp>

namespace tested {

namespace {

namespace asio = boost::asio;

class ignoring_listener : public pawl::spi::loss_listener {
    void on_loss(std::string_view, pawl::loss_reason) override {}
    void on_possible_loss() override {}
};

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

class faulty_backend : public pawl::spi::backend {
public:
    faulty_backend(const pawl::service& correct_service, pawl::spi::backend_context context,
                   fault injected)
        : fault_(injected), time_(context.time) {
        if (has(fault::tells_no_victim)) context.listener = &ignoring_listener_;
        correct_ = correct_service.open(std::move(context));
    }

    asio::awaitable<std::optional<pawl::spi::grant>> acquire(const pawl::spi::claim& requested,
                                                             pawl::time_point give_up_at) override {
        std::optional<pawl::spi::grant> granted;
        if (has(fault::gives_it_to_everybody)) {
            granted.emplace();
            granted->deadline = time_->now() + requested.ttl - pawl::spi::drift(requested.ttl);
            granted->token = pawl::fencing_token(next_number());
            co_return granted;
        }
        const auto changed_claim = with_fault(requested);
        if (has(fault::waits_too_little)) give_up_at = time_->now();
        const bool may_wait = give_up_at > time_->now();
        granted = co_await correct_->acquire(changed_claim, give_up_at);
        if (!granted && may_wait) ++gave_up_;
        if (!granted) co_return granted;
        if (has(fault::tokens_go_back))
            granted->token = pawl::fencing_token(1'000'000 - next_number());
        if (has(fault::no_tokens)) granted->token = {};
        if (has(fault::gives_readers_tokens_of_their_own))
            granted->token = pawl::fencing_token(next_number());
        if (has(fault::counts_from_too_late)) granted->deadline += std::chrono::seconds(1);
        co_return granted;
    }
    asio::awaitable<void> renew(pawl::spi::renewal_batch& batch) override {
        if (!has(fault::renews_only_in_words)) co_return co_await correct_->renew(batch);
        for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
            const auto ttl = batch.renewals()[i].ttl;
            batch.settle(i, pawl::spi::renewal::outcome::extended,
                         time_->now() + ttl - pawl::spi::drift(ttl));
        }
    }
    asio::awaitable<pawl::release_result> release(const pawl::spi::hold& held) override {
        if (has(fault::keeps_it_after_a_release) || has(fault::gives_it_to_everybody))
            co_return pawl::release_result::released;
        const pawl::spi::hold changed_hold{with_fault(held.claim), held.grant};
        co_return co_await correct_->release(changed_hold);
    }
    asio::awaitable<pawl::lock_info> inspect(std::string_view name) override {
        if (has(fault::breaks_down)) throw std::runtime_error("the backend fell over");
        auto info = co_await correct_->inspect(name);
        if (has(fault::forgets_no_waiter)) info.waiters += gave_up_;
        if (has(fault::names_the_wrong_holder) && info.held_by) info.held_by->pid = 1;
        co_return info;
    }
    asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view prefix) override {
        co_return co_await correct_->list(has(fault::lists_everything) ? "" : prefix);
    }
    asio::awaitable<std::optional<pawl::spi::grant>> downgrade(
        const pawl::spi::hold& held) override {
        if (has(fault::downgrades_only_in_words)) {
            pawl::spi::grant unchanged = held.grant;
            unchanged.deadline = time_->now() + held.claim.ttl - pawl::spi::drift(held.claim.ttl);
            co_return unchanged;
        }
        const pawl::spi::hold changed_hold{with_fault(held.claim), held.grant};
        co_return co_await correct_->downgrade(changed_hold);
    }
    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        if (!has(fault::resizes_only_in_words)) co_await correct_->resize(name, permits);
    }
    asio::awaitable<bool> force_release(std::string_view name,
                                        pawl::fencing_token expected) override {
        const bool result = co_await correct_->force_release(name, expected);
        co_return result || has(fault::forces_what_nobody_has);
    }
    asio::awaitable<pawl::examination> examine() override {
        if (has(fault::examines_nothing)) co_return pawl::examination();
        co_return co_await correct_->examine();
    }
    asio::awaitable<void> close(pawl::time_point give_up_at) override {
        co_await correct_->close(give_up_at);
    }
    pawl::spi::capabilities capabilities() const noexcept override {
        auto claimed = sound_capabilities;
        claimed.across_hosts = has(fault::promises_too_much);
        return claimed;
    }

private:
    [[nodiscard]] bool has(fault asked_fault) const noexcept { return fault_ == asked_fault; }
    [[nodiscard]] pawl::spi::claim with_fault(pawl::spi::claim requested) const {
        if (has(fault::shortens_names))
            requested.name.resize(std::min<std::size_t>(requested.name.size(), 1));
        if (has(fault::reads_alone)) requested.mode = pawl::lock_mode::exclusive;
        if (has(fault::counts_each_as_one)) requested.permits = std::min(requested.permits, 1U);
        return requested;
    }

    fault fault_;
    pawl::spi::runtime* time_;
    ignoring_listener ignoring_listener_;
    std::unique_ptr<pawl::spi::backend> correct_;
    static inline std::atomic<std::uint64_t> gave_up_ = 0;  // of all clients
};

class faulty_service : public pawl::service::definition {
public:
    explicit faulty_service(fault injected) : fault_(injected) {}
    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context context) const override {
        return std::make_unique<faulty_backend>(correct_, std::move(context), fault_);
    }
    std::string describe() const override { return "faulty"; }

private:
    pawl::service correct_ = pawl::memory::at();
    fault fault_;
};

}  // namespace

pawl::conformance::test_service make_faulty_service(fault injected) {
    return {.target = pawl::service(std::make_shared<faulty_service>(injected)),
            .url = {},
            .restart = {},
            .owned = {}};
}

}  // namespace tested
