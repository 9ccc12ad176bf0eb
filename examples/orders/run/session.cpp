// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "session.hpp"

#include "database.hpp"
#include "lane.hpp"

#include <orders/outside_client.hpp>
#include <orders/tables.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace shop {
namespace {

// The service outside, in its process.
class outside_process {
public:
    explicit outside_process(const std::string& log)
        : process_("/proc/self/exe", {"outside", log}) {
        std::string line;
        char each = 0;
        while (::read(process_.output(), &each, 1) == 1 && each != '\n')
            line += each;
        if (!line.starts_with("listening "))
            throw std::runtime_error("The service outside does not start.");
        port_ = static_cast<std::uint16_t>(std::stoi(line.substr(10)));
    }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

private:
    support::child process_;
    std::uint16_t port_ = 0;
};

class story_run {
public:
    story_run(servers& started, const run_options& options,
              const std::function<void(int)>& on_progress)
        : servers_(started),
          options_(options),
          on_progress_(on_progress),
          visits_(visits_of(options.told, options.orders)),
          database_url_(started.make_database()),
          outside_(log()),
          counters_(folder_.path() / "counters") {
        const bool is_sale = options.told == story::sale;
        open_shop(open_database(database_url_)->view(), options.layers.has(layer::unique),
                  is_sale ? stripes : 1, items_of(options.told, options.orders));
    }

    run_figures run() {
        serve_all();
        if (options_.told == story::orders && options_.layers.has(layer::reconciliation))
            pass_night();
        figures_.statements = counters_->statements;
        figures_.waits = counters_->waits;
        figures_.lost_claims = counters_->lost_claims;
        figures_.late_results = counters_->late_results;
        figures_.calls = counters_->calls;
        figures_.most_open = counters_->most_open;
        const auto db = open_database(database_url_);
        figures_.audited = audit_run(options_.told, options_.layers, visits_, db->view(), log());
        return std::move(figures_);
    }

private:
    [[nodiscard]] std::string log() const { return folder_.path() / "outside.log"; }

    [[nodiscard]] worker_options options_of_workers() const {
        return {options_.told,   database_url_,           servers_.lock_url(),
                outside_.port(), folder_.path().string(), options_.layers.missing()};
    }

    void serve_all() {
        std::vector<std::thread> lanes;
        for (int i = 0; i < options_.lanes; ++i)
            lanes.emplace_back([this] { run_lane(); });
        for (auto& each : lanes)
            each.join();
        if (failure_) std::rethrow_exception(failure_);
    }

    void run_lane() {
        try {
            const int workers = options_.told == story::payment ? 3 : 2;
            lane served(options_of_workers(), workers,
                        [this](const visit& stopped) { on_stop(stopped); });
            for (;;) {
                const auto next = static_cast<std::size_t>(next_++);
                if (next >= visits_.size() || failure_seen_) break;
                serve(served, visits_[next]);
            }
            const std::lock_guard lock(mutex_);
            figures_.died += served.counts().died;
            figures_.stopped += served.counts().stopped;
            figures_.failures.insert(figures_.failures.end(), served.counts().failures.begin(),
                                     served.counts().failures.end());
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_seen_ = true;
            failure_ = std::current_exception();
        }
    }

    void serve(lane& served, const visit& each) {
        if (interrupted != 0) throw std::runtime_error("interrupted");
        bool is_done = served.play(each);
        // The delay queue, and a buyer, come again until they have an answer. The customer of an
        // order does not: that is what the night is for.
        const visit again{.order = each.order};
        for (int i = 0; !is_done && options_.told != story::orders && i < 100; ++i)
            is_done = served.play(again);
        const std::lock_guard lock(mutex_);
        on_progress_(++finished_);
    }

    // While the worker is stopped, the lock server is emptied, and a payment is refunded.
    void on_stop(const visit& stopped) {
        if (options_.told == story::payment)
            outside_source({outside_.port()}, "channel").set_state(stopped.order, "refunded");
        const std::lock_guard lock(mutex_);
        servers_.empty_locks();
        ++figures_.emptied;
    }

    // A repair may fail, because the outside does not answer. Then the next pass repeats it.
    void pass_night() {
        lane night(options_of_workers(), 1, [](const visit&) {});
        std::uint64_t half_done = 1;
        while (half_done > 0 && figures_.passes < 5) {
            std::istringstream words(night.ask("repair"));
            std::string word;
            std::uint64_t repaired = 0;
            if (!(words >> word >> half_done >> repaired) || word != "night")
                throw std::runtime_error("The reconciliation fails: " + words.str());
            if (figures_.passes++ == 0) figures_.half_done = half_done;
            figures_.repaired += repaired;
        }
    }

    servers& servers_;
    run_options options_;
    const std::function<void(int)>& on_progress_;
    support::temporary_folder folder_;
    std::vector<visit> visits_;
    std::string database_url_;
    outside_process outside_;
    shared_counters counters_;
    run_figures figures_;
    std::atomic<int> next_ = 0;
    std::atomic<bool> failure_seen_ = false;
    std::mutex mutex_;
    int finished_ = 0;
    std::exception_ptr failure_;
};

}  // namespace

volatile int interrupted = 0;

servers::servers([[maybe_unused]] bool wants_sqlite) {
#if PAWL_WITH_POSTGRES
    if (!wants_sqlite && !postgres_programs().empty())
        postgres_ = std::make_unique<private_postgres>(folder_.path());
#endif
    if (!postgres_ && !PAWL_WITH_SQLITE)
        throw std::runtime_error(
            "There is no database for the orders: leave out --sqlite and install the package "
            "postgresql, or build with SQLite.");
#if PAWL_WITH_REDIS
    redis_ = std::make_unique<support::private_redis>(folder_.path());
#endif
}

std::string servers::make_database() {
    const std::string name = "shop" + std::to_string(++databases_);
    if (!postgres_) return "sqlite:" + (folder() / (name + ".db")).string();
    open_database(postgres_->url())->view().execute({"CREATE DATABASE " + name});
    return postgres_->url(name);
}

std::string servers::lock_url() const {
    return redis_ ? redis_->url() : "sqlite:" + (folder() / "locks.db").string();
}

void servers::empty_locks() const {
    if (redis_) redis_->empty();
}

std::string servers::text() const {
    return std::string(postgres_ ? "PostgreSQL" : "SQLite") + " for the orders, " +
           (redis_ ? "Redis" : "SQLite") + " for the locks";
}

run_figures run_story(servers& started, const run_options& options,
                      const std::function<void(int)>& on_progress) {
    return story_run(started, options, on_progress).run();
}

}  // namespace shop
