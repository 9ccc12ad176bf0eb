#include "face.hpp"

#include <pawl/client.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace peers {

namespace {

namespace asio = boost::asio;
using pawl::boot_clock;

// Lives on the loop's one thread.
struct game {
    explicit game(asio::io_context& loop) : told(loop) {}
    round state;
    asio::steady_timer told;  // cancelled when a turn begins
};

asio::awaitable<void> play_pairs(pawl::client& locks, std::string name, pawl::time_point end,
                                 std::vector<double>* taken, pairs_result& result) {
    for (auto before = boot_clock::now(); before < end;) {
        pawl::held_lock lock = co_await locks.async_acquire(name, {}, asio::use_awaitable);
        co_await lock.async_release(asio::use_awaitable);
        const auto now = boot_clock::now();
        if (taken != nullptr) taken->push_back(microseconds(now - before));
        before = now;
        ++result.pairs;
    }
}

asio::awaitable<void> play_round(pawl::client& locks, game& all) {
    round& state = all.state;
    asio::steady_timer rest(co_await asio::this_coro::executor);
    while (!state.over) {
        pawl::held_lock lock = co_await locks.async_acquire("hand", {}, asio::use_awaitable);
        const auto mine = state.enter(boot_clock::now());
        all.told.cancel();
        if (!state.over) {
            rest.expires_after(pause());
            co_await rest.async_wait(asio::use_awaitable);
        }
        state.released = boot_clock::now();
        co_await lock.async_release(asio::use_awaitable);
        while (state.must_wait(mine)) {
            all.told.expires_at(asio::steady_timer::time_point::max());
            co_await all.told.async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }
}

asio::awaitable<void> stop_after(game& all, pawl::duration span) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_after(span);
    co_await timer.async_wait(asio::use_awaitable);
    all.state.over = true;
    all.told.cancel();
}

asio::awaitable<void> take_and_give(pawl::client& locks, std::string name,
                                    std::function<void()> got) {
    pawl::held_lock lock = co_await locks.async_acquire(name, {}, asio::use_awaitable);
    co_await lock.async_release(asio::use_awaitable);
    got();
}

class coroutines : public face {
public:
    explicit coroutines(std::string url) : url_(std::move(url)) {}

    ~coroutines() override {
        watched_.reset();
        held_.clear();
        clients_.clear();
        work_.reset();
        loop_.stop();
        runner_.join();
    }

    pairs_result pairs(int users, double seconds) override {
        pairs_result result;
        const auto began = boot_clock::now();
        const auto end = began + span(seconds);
        std::vector<std::future<void>> all;
        for (int user = 0; user < users; ++user) {
            all.push_back(asio::co_spawn(loop_,
                                         play_pairs(client(0), "pair/" + std::to_string(user), end,
                                                    users == 1 ? &result.us : nullptr, result),
                                         asio::use_future));
        }
        for (auto& each : all)
            each.get();
        result.seconds = microseconds(boot_clock::now() - began) / 1e6;
        return result;
    }

    std::vector<double> handoff(int users, int clients, double seconds) override {
        game all(loop_);
        std::vector<std::future<void>> players;
        for (int user = 0; user < users; ++user) {
            players.push_back(
                asio::co_spawn(loop_, play_round(client(user % clients), all), asio::use_future));
        }
        players.push_back(asio::co_spawn(loop_, stop_after(all, span(seconds)), asio::use_future));
        for (auto& each : players)
            each.get();
        return all.state.us;
    }

    void take(const std::string& name) override {
        held_[name] = client(0).async_acquire(name, {}, asio::use_future).get();
    }

    void give(const std::string& name) override {
        held_[name].async_release(asio::use_future).get();
        held_.erase(name);
    }

    void wait(const std::string& name, std::function<void()> got) override {
        asio::co_spawn(loop_, take_and_give(client(1), name, std::move(got)), asio::detached);
    }

    void watch(const std::string& name, pawl::duration ttl, std::function<void()> lost) override {
        held_[name] = client(0).async_acquire(name, {.ttl = ttl}, asio::use_future).get();
        watched_.emplace(held_[name].lost(), std::move(lost));
    }

private:
    static pawl::duration span(double seconds) {
        return std::chrono::duration_cast<pawl::duration>(std::chrono::duration<double>(seconds));
    }

    pawl::client& client(int number) {
        while (static_cast<int>(clients_.size()) <= number) {
            clients_.push_back(
                std::make_unique<pawl::client>(loop_.get_executor(), pawl::from_url(url_)));
        }
        return *clients_[static_cast<std::size_t>(number)];
    }

    std::string url_;
    asio::io_context loop_{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{
        asio::make_work_guard(loop_)};
    std::vector<std::unique_ptr<pawl::client>> clients_;
    std::map<std::string, pawl::held_lock> held_;
    std::optional<std::stop_callback<std::function<void()>>> watched_;
    std::thread runner_{[this] { loop_.run(); }};
};

}  // namespace

std::unique_ptr<face> make_coroutines(std::string url) {
    return std::make_unique<coroutines>(std::move(url));
}

}  // namespace peers
