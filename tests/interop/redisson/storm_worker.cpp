// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "storm.hpp"

#include "peer.hpp"

#include <real/record/journal.hpp>

#include <pawl/blocking.hpp>
#include <pawl/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <random>
#include <thread>

#include <unistd.h>

using namespace std::chrono_literals;

namespace interop {
namespace {

namespace asio = boost::asio;

constexpr std::array<const char*, 6> names{"lock", "fenced", "fair", "rw", "permits", "semaphore"};
constexpr std::array<const char*, 3> objects{"", "&object=readwrite", "&object=semaphore"};

std::size_t object_of(const std::string& name) {
    return name == "rw" ? 1 : name == "semaphore" ? 2 : 0;
}

// The plan of one round: what it requests, and how long it works; the same for the sync and the
// async API.
struct round_plan {
    std::string key;
    pawl::lock_options options;
    int steps = 0;
};

round_plan make_plan(const std::string& name, int round, pawl::duration ttl,
                     std::minstd_rand& dice) {
    round_plan result{name + "." + std::to_string(round), {.ttl = ttl, .wait = 60s}, 0};
    auto& options = result.options;
    // Now and then it gives up: its request must leave nothing behind.
    if (dice() % 6 == 0) options.wait = std::chrono::milliseconds(dice() % 200);
    options.fenced = name == "fenced" || name == "rw";
    options.fair = name == "fair";
    if (name == "rw" && dice() % 3 != 0) options.mode = pawl::lock_mode::shared;
    if (name == "permits" || name == "semaphore") {
        options.mode = pawl::lock_mode::permits;
        options.total_permits = name == "permits" ? permits : semaphore_permits;
        options.permits = name == "permits" ? 1 + dice() % 2 : 1;
    }
    result.steps = static_cast<int>(1 + dice() % 4);
    return result;
}

void note_acquire(const real::journal& journal_file, const std::string& name,
                  const round_plan& target) {
    const auto mode = target.options.mode;
    journal_file.note("take", target.key, name,
                      mode == pawl::lock_mode::shared    ? "shared"
                      : mode == pawl::lock_mode::permits ? "permits"
                                                         : "exclusive",
                      target.options.permits, real::now());
}

// The last belief about one hold.
class belief {
public:
    belief(const real::journal& journal_file, std::string key, pawl::duration ttl)
        : journal_(journal_file), key_(std::move(key)), ttl_(ttl) {}

    template <class Lock>
    bool observe(const Lock& lock) {
        const auto until = lock.safe_until();
        const auto now = pawl::boot_clock::now();
        if (lock.state() != pawl::lock_state::lost) {
            if (now >= until) return false;
            safe_until_ = until;
            journal_.note("at", key_, real::to_instant(now), real::to_instant(until));
            return true;
        }
        // A loss is reported some time before the deadline, but not half a lease. Another holder
        // can exist only after the deadline.
        const auto why = lock.why_lost();
        const bool was_taken = why == pawl::loss_reason::taken_over ||
                               why == pawl::loss_reason::missing ||
                               why == pawl::loss_reason::forced;
        if (now < safe_until_ - (was_taken ? 5ms : ttl_ / 2))
            journal_.note("robbed", key_, real::to_instant(safe_until_));
        return false;
    }

private:
    const real::journal& journal_;
    std::string key_;
    pawl::duration ttl_;
    pawl::time_point safe_until_ = pawl::time_point::min() + 24h;
};

class sync_worker : public storm_worker {
public:
    sync_worker(const std::string& url, pawl::duration ttl, const std::string& journal)
        : journal_(journal), ttl_(ttl) {
        for (const char* each : objects)
            clients_.push_back(
                std::make_unique<pawl::blocking::client>(pawl::from_url(url + each)));
        for (const char* each : names)
            members_.emplace_back(
                [this, each](const std::stop_token& stop) { contend(each, stop); });
    }
    void finish() override {
        for (auto& each : members_)
            each.request_stop();
        members_.clear();
        clients_.clear();
    }

private:
    void contend(const std::string& name, const std::stop_token& stop) {
        std::minstd_rand dice(std::random_device{}());
        for (int round = 0; !stop.stop_requested(); ++round) {
            const auto target = make_plan(name, round, ttl_, dice);
            note_acquire(journal_, name, target);
            try {
                hold_once(name, target, dice);
            } catch (const pawl::error&) {
                journal_.note("gone", target.key);
                std::this_thread::sleep_for(5ms);  // the server may be away
            }
        }
    }
    void hold_once(const std::string& name, const round_plan& round_options,
                   std::minstd_rand& dice) {
        auto lock = clients_[object_of(name)]->acquire(name, round_options.options);
        belief ours(journal_, round_options.key, ttl_);
        bool sure = ours.observe(lock);
        for (int i = 0; sure && i < round_options.steps; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1 + dice() % 20));  // work
            sure = ours.observe(lock);
        }
        journal_.note("leave", round_options.key);
        (void)lock.release();
        journal_.note("left", round_options.key);
    }

    real::journal journal_;
    pawl::duration ttl_;
    std::vector<std::unique_ptr<pawl::blocking::client>> clients_;
    std::vector<std::jthread> members_;
};

class async_worker : public storm_worker {
public:
    async_worker(const std::string& url, pawl::duration ttl, const std::string& journal)
        : journal_(journal), ttl_(ttl) {
        for (const char* each : objects)
            clients_.push_back(
                std::make_unique<pawl::client>(loop_.get_executor(), pawl::from_url(url + each)));
        for (const char* each : names) {
            ++running_;
            asio::co_spawn(loop_, contend(each), [this](const std::exception_ptr& problem) {
                if (problem) std::rethrow_exception(problem);
                if (--running_ != 0) return;
                for (const auto& client : clients_)
                    client->async_close(asio::detached);
            });
        }
        thread_ = std::jthread([this] { loop_.run(); });
    }
    void finish() override {
        stopping_ = true;
        thread_.join();
    }

private:
    asio::awaitable<void> contend(std::string name) {
        std::minstd_rand dice(std::random_device{}());
        for (int round = 0; !stopping_; ++round) {
            const auto target = make_plan(name, round, ttl_, dice);
            note_acquire(journal_, name, target);
            bool has_failed = false;
            try {
                co_await hold_once(name, target, dice);
            } catch (const boost::system::system_error&) {
                has_failed = true;
            }
            if (!has_failed) continue;
            journal_.note("gone", target.key);
            co_await work(5);
        }
    }
    asio::awaitable<void> hold_once(std::string name, const round_plan& round_options,
                                    std::minstd_rand& dice) {
        pawl::client& client = *clients_[object_of(name)];
        pawl::held_lock lock =
            co_await client.async_acquire(name, round_options.options, asio::use_awaitable);
        belief ours(journal_, round_options.key, ttl_);
        bool sure = ours.observe(lock);
        for (int i = 0; sure && i < round_options.steps; ++i) {
            co_await work(1 + dice() % 20);
            sure = ours.observe(lock);
        }
        journal_.note("leave", round_options.key);
        (void)co_await lock.async_release(asio::use_awaitable);
        journal_.note("left", round_options.key);
    }
    asio::awaitable<void> work(unsigned long ms) {
        asio::steady_timer pause(loop_, std::chrono::milliseconds(ms));
        co_await pause.async_wait(asio::use_awaitable);
    }

    real::journal journal_;
    pawl::duration ttl_;
    asio::io_context loop_;
    std::vector<std::unique_ptr<pawl::client>> clients_;
    std::atomic<bool> stopping_{false};
    int running_ = 0;
    std::jthread thread_;
};

}  // namespace

std::unique_ptr<storm_worker> make_storm_worker(const std::string& mode, const std::string& url,
                                                std::int64_t ttl_ms, const std::string& journal) {
    const auto ttl = std::chrono::milliseconds(ttl_ms);
    if (mode == "async") return std::make_unique<async_worker>(url, ttl, journal);
    return std::make_unique<sync_worker>(url, ttl, journal);
}

int run_storm_command(const std::string& journal) {
    if (::signal(SIGTERM, SIG_IGN) == SIG_ERR) return 1;
    const real::journal journal_file(journal);
    std::minstd_rand dice(std::random_device{}());
    const std::string key = "command." + std::to_string(::getpid());
    journal_file.note("take", key, "lock exclusive 1", real::now());
    for (auto left = 1 + dice() % 50; left > 0; --left) {
        journal_file.note("at", key, real::now(), 0);
        std::this_thread::sleep_for(1ms);  // work
    }
    journal_file.note("left", key);
    return 0;
}

}  // namespace interop
