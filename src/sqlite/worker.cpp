// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "worker.hpp"

#include "core/util/exhausted.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/thread_pool.hpp>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <set>
#include <thread>

namespace asio = boost::asio;

namespace pawl::sqlite {
namespace {

std::unique_ptr<asio::thread_pool> start_thread() {
    // The program's own threads handle its signals.
    sigset_t all_signals{};
    sigset_t previous_signals{};
    ::sigfillset(&all_signals);
    ::pthread_sigmask(SIG_SETMASK, &all_signals, &previous_signals);
    std::unique_ptr<asio::thread_pool> pool;
    try {
        pool = std::make_unique<asio::thread_pool>(1);
    } catch (const std::exception& failed) {
        ::pthread_sigmask(SIG_SETMASK, &previous_signals, nullptr);
        throw core::exhausted("No thread can be started for the lock file", failed.what());
    }
    ::pthread_sigmask(SIG_SETMASK, &previous_signals, nullptr);
    return pool;
}

// The workers whose strands belong to one event loop.
class thread_registry {
public:
    void add(worker& added) {
        const std::lock_guard lock(mutex_);
        workers_.insert(&added);
    }
    void remove(worker& added) {
        const std::lock_guard lock(mutex_);
        workers_.erase(&added);
    }
    // Stopping one worker may destroy another, so each is looked up again.
    worker* first() {
        const std::lock_guard lock(mutex_);
        return workers_.empty() ? nullptr : *workers_.begin();
    }

private:
    std::mutex mutex_;
    std::set<worker*> workers_;
};

// Ends the workers before their event loop is destroyed.
class loop_service : public asio::execution_context::service {
public:
    using key_type = loop_service;
    static inline asio::execution_context::id id;

    explicit loop_service(asio::execution_context& context) : service(context) {}
    [[nodiscard]] const std::shared_ptr<thread_registry>& workers() const noexcept {
        return workers_;
    }

private:
    void shutdown() override {
        while (auto* remaining = workers_->first())
            remaining->stop();
    }

    std::shared_ptr<thread_registry> workers_ = std::make_shared<thread_registry>();
};

class worker_thread final : public worker {
public:
    worker_thread(asio::any_io_executor strand, std::function<void()> on_stop)
        : strand_(std::move(strand)),
          pool_(start_thread()),
          registry_(asio::use_service<loop_service>(asio::query(strand_, asio::execution::context))
                        .workers()),
          on_stop_(std::move(on_stop)) {
        registry_->add(*this);
    }
    ~worker_thread() override { stop(); }

    asio::any_io_executor executor() override { return pool_->get_executor(); }
    bool is_stopped() const noexcept override { return pool_ == nullptr; }

    void stop() noexcept override {
        if (!pool_) return;
        registry_->remove(*this);
        if (is_forked()) {
            // In a fork, the thread exists only in the parent and cannot be joined.
            static_cast<void>(pool_.release());
            return;
        }
        const auto stopping_pool = std::exchange(pool_, nullptr);
        // First: no job begins while the one before it may be left undelivered.
        stopping_pool->stop();
        is_stopping_ = true;
        stopping_pool->join();
        on_stop_();
        // What is destroyed here may own the owner of this object, so nothing else follows.
        const auto undelivered = std::move(undelivered_);
    }

private:
    void start(std::unique_ptr<job> next) override {
        asio::post(*pool_, [this, done = std::shared_ptr<job>(std::move(next)),
                            alive = asio::make_work_guard(strand_)] {
            done->run();
            if (!post_to_strand(done)) undelivered_ = done;
        });
    }
    // On the thread. The job has the caller's coroutine, which this thread must not destroy. So
    // while there is no memory for the post, it waits for some. False: `stop` came.
    [[nodiscard]] bool post_to_strand(const std::shared_ptr<job>& done) noexcept {
        do {
            try {
                asio::post(strand_, [done] { done->complete(); });
                return true;
            } catch (const std::bad_alloc&) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        } while (!is_stopping_);
        return false;
    }

    asio::any_io_executor strand_;
    std::unique_ptr<asio::thread_pool> pool_;
    std::shared_ptr<thread_registry> registry_;
    std::function<void()> on_stop_;
    std::atomic<bool> is_stopping_ = false;
    std::shared_ptr<job> undelivered_;  // which `stop` destroys
};

}  // namespace

std::unique_ptr<worker> start_worker_thread(asio::any_io_executor strand,
                                            std::function<void()> on_stop) {
    return std::make_unique<worker_thread>(std::move(strand), std::move(on_stop));
}

}  // namespace pawl::sqlite
