#include "planted_backend.hpp"

#include "simulated_link.hpp"

#include <pawl/backend.hpp>
#include <redis/redisson/backend.hpp>

#include <utility>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

class planted_backend final : public backend {
public:
    planted_backend(std::unique_ptr<backend> right, runtime& time, planted bug)
        : right_(std::move(right)), time_(time), bug_(bug) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                  time_point give_up_at) override {
        auto given = co_await right_->acquire(what, give_up_at);
        if (!given) co_return given;
        const auto whole = time_.now() + what.ttl - drift(what.ttl);
        if (bug_ == planted::deadline_from_reply && !given->confirm) given->deadline = whole;
        if (bug_ == planted::claim_window_taken_for_ttl && std::exchange(given->confirm, false))
            given->deadline = whole;
        if (bug_ == planted::token_from_before)
            given->token = fencing_token(given->token.value() - 1);
        co_return given;
    }

    asio::awaitable<void> renew(std::span<renewal> batch) override {
        if (bug_ == planted::renewals_not_sent) co_return;
        co_await right_->renew(batch);
        for (auto& one : batch) {
            const bool wrong =
                (bug_ == planted::renewal_deadline_from_reply &&
                 one.result == renewal::outcome::extended) ||
                (bug_ == planted::silence_taken_for_extended &&
                 one.result == renewal::outcome::unknown) ||
                (bug_ == planted::refusal_ignored && one.result == renewal::outcome::refused);
            if (!wrong) continue;
            one.result = renewal::outcome::extended;
            one.deadline = time_.now() + one.ttl - drift(one.ttl);
        }
    }

    asio::awaitable<release_result> release(const hold& what) override {
        if (bug_ == planted::release_not_sent) co_return release_result::released;
        const auto found = co_await right_->release(what);
        co_return found;
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        return right_->inspect(name);
    }
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        return right_->list(prefix);
    }
    asio::awaitable<bool> force_release(std::string_view name) override {
        return right_->force_release(name);
    }
    asio::awaitable<std::vector<grant>> acquire_several(std::span<const claim> what,
                                                        time_point give_up_at) override {
        auto given = co_await right_->acquire_several(what, give_up_at);
        if (bug_ == planted::several_swaps_tokens && given.size() > 1)
            std::swap(given.front().token, given.back().token);
        co_return given;
    }
    asio::awaitable<std::optional<grant>> downgrade(const hold& what) override {
        return right_->downgrade(what);
    }
    asio::awaitable<examination> examine() override { return right_->examine(); }
    asio::awaitable<void> close(time_point give_up_at) override {
        return right_->close(give_up_at);
    }
    latches* counted() noexcept override { return right_->counted(); }
    promises promised() const noexcept override { return right_->promised(); }
    std::size_t renewals_at_once() const noexcept override { return right_->renewals_at_once(); }

private:
    std::unique_ptr<backend> right_;
    runtime& time_;
    planted bug_;
};

class definition final : public service::definition {
public:
    definition(simulated_network& network, process& home, redis::options where,
               const redis::limits& bounds, planted bug)
        : network_(network), home_(home), where_(std::move(where)), bounds_(bounds), bug_(bug) {
        if (bug == planted::no_back_off) bounds_.longest_pause = bounds_.first_pause;
    }

    std::unique_ptr<backend> open(backend_context context) const override {
        auto connect = simulated_link_factory(network_, home_, context, where_, bug_);
        const bool java = where_.layout == redis::key_layout::redisson;
        auto right = java ? redis::redisson::make_backend(where_, context, connect, bounds_)
                          : redis::make_backend(where_, context, connect, bounds_);
        return std::make_unique<planted_backend>(std::move(right), *context.time, bug_);
    }
    std::string describe() const override { return "simulated"; }

private:
    simulated_network& network_;
    process& home_;
    const redis::options where_;
    redis::limits bounds_;
    const planted bug_;
};

}  // namespace

service simulated_service(simulated_network& network, process& home, const redis::options& where,
                          const redis::limits& bounds, planted bug) {
    return service(std::make_shared<definition>(network, home, where, bounds, bug));
}

}  // namespace pawl::simulation
