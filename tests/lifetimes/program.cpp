// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "program.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <future>
#include <stop_token>

namespace lifetimes {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

class program::self_destroying_handle {
public:
    explicit self_destroying_handle(pawl::held_lock lock)
        : handle_(std::make_shared<std::optional<pawl::held_lock>>(std::move(lock))),
          on_loss_((*handle_)->lost(), destroyer{handle_}) {}

private:
    struct destroyer {
        std::shared_ptr<std::optional<pawl::held_lock>> handle;
        void operator()() const { handle->reset(); }
    };

    const std::shared_ptr<std::optional<pawl::held_lock>> handle_;
    const std::stop_callback<destroyer> on_loss_;
};

program::program(pawl::service tested, disturbance disturb, std::uint64_t seed,
                 std::size_t loop_threads)
    : choices_(seed), tested_(std::move(tested)), disturb_(std::move(disturb)) {
    loop_.emplace();
    make_client();
    for (std::size_t i = 0; i < loop_threads; ++i)
        loop_threads_.emplace_back([this] {
            const auto guard = asio::make_work_guard(*loop_);
            loop_->run();
        });
}

program::~program() { end(); }

void program::make_client() {
    pawl::client_options options;
    options.drain = 20ms;
    options.log = [alive = mark_](std::string_view) {};
    clients_.push_back(std::make_unique<pawl::client>(loop_->get_executor(), tested_, options));
}

void program::act(std::size_t actions) {
    for (std::size_t i = 0; i < actions; ++i) {
        act_once();
        turn_loop();
    }
}

void program::act_once() {
    const auto choice = choices_.below(100);
    if (choice < 50) return request();
    if (choice < 70) return use_handle();
    if (choice < 75) return start_coroutine();
    if (choice < 80) return disturb_(choices_);
    if (choice < 85 && clients_.size() < 4) return make_client();
    if (choice < 90 && !clients_.empty()) {
        clients_.erase(clients_.begin() +
                       static_cast<std::ptrdiff_t>(choices_.below(clients_.size())));
        return;
    }
    if (choice < 92 && !clients_.empty())
        return clients_[choices_.below(clients_.size())]->async_close(
            [alive = mark_] { (void)alive; });
    if (!signals_.empty())
        signals_[choices_.below(signals_.size())]->emit(asio::cancellation_type::terminal);
}

pawl::lock_options program::any_options() {
    pawl::lock_options options;
    options.ttl = choices_.any_of<pawl::duration>({40ms, 200ms, 10s});
    options.wait = choices_.any_of<pawl::duration>({0ms, 10ms, 100ms, pawl::forever});
    options.fair = choices_.percent(10);
    if (choices_.percent(20)) options.mode = pawl::lock_mode::shared;
    if (choices_.percent(10)) options.max_hold = 50ms;
    return options;
}

asio::cancellation_slot program::any_slot() {
    if (choices_.percent(50)) return {};
    signals_.push_back(std::make_unique<asio::cancellation_signal>());
    return signals_.back()->slot();
}

auto program::keeping() {
    return asio::bind_cancellation_slot(
        any_slot(), [this, alive = mark_](error_code, pawl::held_lock received) {
            if (received) keep(std::move(received));
        });
}

auto program::ignoring() {
    return asio::bind_cancellation_slot(any_slot(), [alive = mark_](auto&&...) {});
}

void program::keep(pawl::held_lock received) {
    const std::lock_guard lock(mutex_);
    handles_.push_back(std::move(received));
}

std::optional<pawl::held_lock> program::take_handle() {
    const std::lock_guard guard(mutex_);
    if (handles_.empty()) return std::nullopt;
    std::swap(handles_[choices_.below(handles_.size())], handles_.back());
    auto lock = std::move(handles_.back());
    handles_.pop_back();
    return lock;
}

void program::request() {
    if (clients_.empty()) make_client();
    auto& client = *clients_[choices_.below(clients_.size())];
    const auto name = choices_.any_of<std::string>({"one", "two", "three"});
    switch (choices_.below(8)) {
    case 0: return client.async_inspect(name, ignoring());
    case 1: return client.async_force_release(name, ignoring());
    case 2: return client.async_wait_change(name, {}, 20ms, ignoring());
    case 3: return request_shared_object(client, name);
    default: return request_hold(client, name);
    }
}

void program::request_hold(pawl::client& client, const std::string& name) {
    const auto options = any_options();
    switch (choices_.below(6)) {
    case 0: return client.async_try_acquire(name, {.ttl = options.ttl}, keeping());
    case 1: return client.async_acquire_all({"one", name + "s", "four"}, options, ignoring());
    case 2:
        owners_.emplace_back(client);
        return owners_[choices_.below(owners_.size())].async_acquire(name, options, keeping());
    case 3:
        return pawl::election(client, name, {.ttl = options.ttl, .fair = options.fair})
            .async_campaign(options.wait, keeping());
    default: return client.async_acquire(name, options, keeping());
    }
}

void program::request_shared_object(pawl::client& client, const std::string& name) {
    switch (choices_.below(5)) {
    case 0: return client.async_list("", ignoring());
    case 1: return pawl::latch(client, "latch " + name).async_try_set(2, ignoring());
    case 2: return pawl::latch(client, "latch " + name).async_arrive_and_wait(100ms, ignoring());
    case 3: return client.async_examine(ignoring());
    default:
        const auto options = any_options();
        return pawl::semaphore(client, "semaphore " + name, 2,
                               {.ttl = options.ttl, .fair = options.fair})
            .async_acquire(1, options.wait, keeping());
    }
}

void program::use_handle() {
    auto handle = take_handle();
    if (!handle) return;
    auto& lock = *handle;
    switch (choices_.below(7)) {
    case 0: lock.async_release([alive = mark_](pawl::release_result) {}); break;
    case 1: lock.async_renew([alive = mark_](error_code) {}); break;
    case 2: lock.async_downgrade([alive = mark_](error_code) {}); break;
    case 3: lock.async_wait_lost(ignoring()); break;
    case 4:
        self_destroying_.push_back(std::make_unique<self_destroying_handle>(std::move(lock)));
        return;
    case 5: destroyers_.emplace_back([moved = std::move(lock)] { (void)moved; }); return;
    default: return;  // destroys it
    }
    if (choices_.percent(70)) keep(std::move(lock));
}

namespace {

// Owns its client and its lock, so the end of the event loop destroys both.
asio::awaitable<void> work_under_a_lock(std::unique_ptr<pawl::client> client, std::string name,
                                        pawl::lock_options options,
                                        [[maybe_unused]] std::shared_ptr<int> alive) {
    asio::steady_timer pause(co_await asio::this_coro::executor);
    for (int i = 0; i < 5; ++i) {
        auto lock = co_await client->async_acquire(name, options, asio::deferred);
        pause.expires_after(1ms);
        co_await pause.async_wait(asio::deferred);
        (void)co_await lock.async_release(asio::deferred);
    }
}

}  // namespace

void program::start_coroutine() {
    make_client();
    auto client = std::move(clients_.back());
    clients_.pop_back();
    const auto name = choices_.any_of<std::string>({"one", "two", "three"});
    asio::co_spawn(*loop_, work_under_a_lock(std::move(client), name, any_options(), mark_),
                   asio::detached);
}

void program::turn_loop() {
    const auto handlers = choices_.below(12);
    for (std::size_t i = 0; i < handlers; ++i) {
        if (loop_threads_.empty()) {
            loop_->restart();
            loop_->run_one_for(std::chrono::milliseconds(choices_.below(3)));
        } else {
            std::promise<void> turned;
            asio::post(*loop_, [&turned] { turned.set_value(); });
            turned.get_future().wait();
        }
    }
}

void program::stop_threads() {
    if (loop_) loop_->stop();
    for (auto& each : loop_threads_)
        each.join();
    loop_threads_.clear();
}

void program::end() {
    stop_threads();
    std::vector<std::function<void()>> endings{[this] { loop_.reset(); },
                                               [this] { clients_.clear(); },
                                               [this] { handles_.clear(); },
                                               [this] { owners_.clear(); },
                                               [this] { signals_.clear(); },
                                               [this] { self_destroying_.clear(); },
                                               [this] {
                                                   for (auto& each : destroyers_)
                                                       each.join();
                                                   destroyers_.clear();
                                               }};
    choices_.shuffle(endings);
    for (const auto& each : endings) {
        each();
        if (loop_ && choices_.percent(50)) turn_loop();
    }
    handles_.clear();  // of handlers that ran after the first time
}

}  // namespace lifetimes
