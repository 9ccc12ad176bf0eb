// The suite itself is tried on a backend that gives everything to everybody: it must be caught.
#include <pawl/backend.hpp>
#include <pawl/conformance.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using pawl::conformance::promise;

class careless_backend : public pawl::backend {
public:
    explicit careless_backend(pawl::backend_context context) : context_(std::move(context)) {}

    boost::asio::awaitable<std::optional<pawl::grant>> acquire(const pawl::claim& what,
                                                               pawl::time_point) override {
        pawl::grant given;
        given.deadline = context_.time->now() + what.ttl - pawl::drift(what.ttl);
        given.token = pawl::fencing_token(7);
        given.proof = "anything";
        co_return given;
    }
    boost::asio::awaitable<void> renew(std::span<pawl::renewal> batch) override {
        for (auto& each : batch) {
            each.result = pawl::renewal::outcome::extended;
            each.deadline = context_.time->now() + each.ttl - pawl::drift(each.ttl);
        }
        co_return;
    }
    boost::asio::awaitable<pawl::release_result> release(const pawl::hold&) override {
        co_return pawl::release_result::released;
    }
    boost::asio::awaitable<pawl::lock_info> inspect(std::string_view name) override {
        pawl::lock_info nothing;
        nothing.name = name;
        co_return nothing;
    }
    boost::asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view) override {
        co_return std::vector<pawl::lock_info>();
    }
    boost::asio::awaitable<bool> force_release(std::string_view) override { co_return true; }
    boost::asio::awaitable<pawl::examination> examine() override { co_return pawl::examination(); }
    boost::asio::awaitable<void> close() override { co_return; }
    pawl::promises promised() const noexcept override { return {.across_processes = false}; }

private:
    pawl::backend_context context_;
};

class careless_service : public pawl::service::definition {
public:
    std::unique_ptr<pawl::backend> open(pawl::backend_context context) const override {
        return std::make_unique<careless_backend>(std::move(context));
    }
    std::string describe() const override { return "careless"; }
};

class careless_fixture : public pawl::conformance::fixture {
public:
    pawl::conformance::world fresh() override {
        return {.where = pawl::service(std::make_shared<careless_service>()),
                .url = {},
                .restart = {},
                .keep = {}};
    }
    const pawl::promises& promised() const override { return promised_; }

private:
    pawl::promises promised_{.across_processes = false};
};

// Those that cannot wait for what a careless backend never does.
constexpr std::string_view judged[] = {
    "threads_never_overlap",
    "clients_never_overlap",
    "held_is_busy_for_everybody_else",
    "nobody_releases_anothers_lock",
    "try_asks_once",
    "wait_of_zero_asks_once",
    "bounded_wait_ends_after_its_time",
    "a_lease_is_renewed_while_held",
    "force_release_of_a_free_lock_says_so",
    "tokens_grow_over_releases",
    "tokens_grow_over_expiry_and_force",
    "odd_names_do_not_collide",
    "inspect_tells_the_truth",
    "list_shows_what_is_held",
    "examine_says_what_it_is_worth",
    "a_mutex_is_lockable",
    "std_lock_backs_off",
    "a_timed_mutex_waits_for_its_time",
};

TEST(Careless, IsCaughtByEveryPromiseThatItBreaks) {
    careless_fixture careless;
    for (const promise& each : pawl::conformance::all_promises()) {
        if (std::find(std::begin(judged), std::end(judged), each.name) == std::end(judged))
            continue;
        EXPECT_THROW(each.run(careless), pawl::conformance::broken) << each.name;
    }
}

TEST(Careless, EveryJudgedPromiseExists) {
    const auto all = pawl::conformance::all_promises();
    for (const std::string_view name : judged)
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const promise& it) {
            return it.name == name;
        })) << name;
}

TEST(Careless, PromisesHaveNamesOfTheirOwn) {
    std::vector<std::string_view> names;
    for (const promise& each : pawl::conformance::all_promises()) {
        names.push_back(each.name);
        EXPECT_TRUE(each.asked_of != nullptr && each.run != nullptr) << each.name;
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
    EXPECT_GT(names.size(), 60U);
}

}  // namespace
