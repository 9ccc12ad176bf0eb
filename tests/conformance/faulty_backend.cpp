#include "faulty_backend.hpp"

#include <pawl/backend.hpp>
#include <pawl/memory.hpp>

namespace tested {

namespace {

namespace asio = boost::asio;

class deaf : public pawl::loss_listener {
    void lost(std::string_view, pawl::loss_reason) override {}
};

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

class faulty_backend : public pawl::backend {
public:
    faulty_backend(const pawl::service& sound, pawl::backend_context context, fault which)
        : which_(which), time_(context.time) {
        if (is(fault::tells_no_victim)) context.listener = &deaf_;
        sound_ = sound.open(std::move(context));
    }

    asio::awaitable<std::optional<pawl::grant>> acquire(const pawl::claim& what,
                                                        pawl::time_point give_up_at) override {
        std::optional<pawl::grant> given;
        if (is(fault::gives_it_to_everybody)) {
            given.emplace();
            given->deadline = time_->now() + what.ttl - pawl::drift(what.ttl);
            given->token = pawl::fencing_token(next_number());
            co_return given;
        }
        const auto mine = shortened(what);
        if (is(fault::waits_too_little)) give_up_at = time_->now();
        const bool waits = give_up_at > time_->now();
        given = co_await sound_->acquire(mine, give_up_at);
        if (!given && waits) ++gave_up_;
        if (!given) co_return given;
        if (is(fault::tokens_go_back))
            given->token = pawl::fencing_token(1'000'000 - next_number());
        if (is(fault::no_tokens)) given->token = {};
        if (is(fault::gives_readers_tokens_of_their_own))
            given->token = pawl::fencing_token(next_number());
        if (is(fault::counts_from_too_late)) given->deadline += std::chrono::seconds(1);
        co_return given;
    }
    asio::awaitable<void> renew(std::span<pawl::renewal> batch) override {
        if (!is(fault::renews_only_in_words)) co_return co_await sound_->renew(batch);
        for (auto& each : batch) {
            each.result = pawl::renewal::outcome::extended;
            each.deadline = time_->now() + each.ttl - pawl::drift(each.ttl);
        }
    }
    asio::awaitable<pawl::release_result> release(const pawl::hold& what) override {
        if (is(fault::keeps_it_after_a_release) || is(fault::gives_it_to_everybody))
            co_return pawl::release_result::released;
        const pawl::hold mine{shortened(what.claim), what.grant};
        co_return co_await sound_->release(mine);
    }
    asio::awaitable<pawl::lock_info> inspect(std::string_view name) override {
        if (is(fault::breaks_down)) throw std::runtime_error("the backend fell over");
        auto found = co_await sound_->inspect(name);
        if (is(fault::forgets_no_waiter)) found.waiters += gave_up_;
        if (is(fault::names_the_wrong_holder) && found.held_by) found.held_by->pid = 1;
        co_return found;
    }
    asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view prefix) override {
        co_return co_await sound_->list(is(fault::lists_everything) ? "" : prefix);
    }
    asio::awaitable<std::optional<pawl::grant>> downgrade(const pawl::hold& what) override {
        if (is(fault::downgrades_only_in_words)) {
            pawl::grant same = what.grant;
            same.deadline = time_->now() + what.claim.ttl - pawl::drift(what.claim.ttl);
            co_return same;
        }
        const pawl::hold mine{shortened(what.claim), what.grant};
        co_return co_await sound_->downgrade(mine);
    }
    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        if (!is(fault::resizes_only_in_words)) co_await sound_->resize(name, permits);
    }
    asio::awaitable<bool> force_release(std::string_view name) override {
        const bool found = co_await sound_->force_release(name);
        co_return found || is(fault::forces_what_nobody_has);
    }
    asio::awaitable<pawl::examination> examine() override {
        if (is(fault::examines_nothing)) co_return pawl::examination();
        co_return co_await sound_->examine();
    }
    asio::awaitable<void> close(pawl::time_point give_up_at) override {
        co_await sound_->close(give_up_at);
    }
    pawl::promises promised() const noexcept override {
        auto said = faulty_promises;
        said.across_hosts = is(fault::promises_too_much);
        return said;
    }

private:
    [[nodiscard]] bool is(fault one) const noexcept { return which_ == one; }
    [[nodiscard]] pawl::claim shortened(pawl::claim what) const {
        if (is(fault::shortens_names)) what.name.resize(std::min<std::size_t>(what.name.size(), 1));
        if (is(fault::reads_alone)) what.mode = pawl::lock_mode::exclusive;
        if (is(fault::counts_each_as_one)) what.permits = std::min(what.permits, 1U);
        return what;
    }

    fault which_;
    pawl::runtime* time_;
    deaf deaf_;
    std::unique_ptr<pawl::backend> sound_;
    static inline std::atomic<std::uint64_t> gave_up_ = 0;  // of all clients
};

class faulty_service : public pawl::service::definition {
public:
    explicit faulty_service(fault which) : which_(which) {}
    std::unique_ptr<pawl::backend> open(pawl::backend_context context) const override {
        return std::make_unique<faulty_backend>(sound_, std::move(context), which_);
    }
    std::string describe() const override { return "faulty"; }

private:
    pawl::service sound_ = pawl::memory::make();
    fault which_;
};

}  // namespace

pawl::conformance::world faulty_world(fault which) {
    return {.where = pawl::service(std::make_shared<faulty_service>(which)),
            .url = {},
            .restart = {},
            .keep = {}};
}

}  // namespace tested
