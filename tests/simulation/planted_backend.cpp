#include "planted_backend.hpp"

#include "simulated_link.hpp"

#include <core/alarm.hpp>
#include <pawl/backend.hpp>
#include <pawl/error.hpp>
#include <redis/redisson/backend.hpp>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

// A destructor that needs memory.
class clumsy {
public:
    explicit clumsy(bool is_planted) noexcept : is_planted_(is_planted) {}
    ~clumsy() {
        // Called as functions: a compiler may leave out the pair that an expression makes.
        if (is_planted_) ::operator delete(::operator new(sizeof(std::string)));
    }
    clumsy(const clumsy&) = delete;
    clumsy& operator=(const clumsy&) = delete;

private:
    const bool is_planted_;
};

class planted_backend final : public backend {
public:
    planted_backend(std::unique_ptr<backend> right, const backend_context& context, planted bug)
        : right_(std::move(right)),
          time_(*context.time),
          bug_(bug),
          never_(*context.time, context.strand) {
        never_.prepare();
    }

    asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                  time_point give_up_at) override {
        const clumsy at_the_end(bug_ == planted::dies_without_memory);
        if (bug_ == planted::registrations_leak) kept_.push_back(what.owner);
        std::optional<grant> given;
        bool out_of_memory = false;
        try {
            given = co_await right_->acquire(what, give_up_at);
        } catch (const std::bad_alloc&) {
            if (bug_ != planted::silent_without_memory) throw;
            out_of_memory = true;
        } catch (const error& failed) {
            // As much as the frame of a coroutine.
            if (bug_ == planted::failures_leak)
                kept_.push_back(failed.what() + std::string(1000, '.'));
            throw;
        }
        if (out_of_memory) co_await never_.wait_until(time_point::max());
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
        try {
            co_return co_await right_->release(what);
        } catch (const std::bad_alloc&) {
            if (bug_ != planted::told_released_without_memory) throw;
        }
        co_return release_result::released;
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
    std::vector<std::string> kept_;  // two planted bugs' own
    core::alarm never_;
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
        return std::make_unique<planted_backend>(std::move(right), context, bug_);
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
