// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Drives one backend from a test's thread: a client with its own event loop and thread.
#pragma once

#include "core/util/random.hpp"

#include <pawl/error.hpp>
#include <pawl/service.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/packaged_task.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

#include <unistd.h>

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace backend_tests {

namespace asio = boost::asio;
using namespace std::chrono_literals;

inline pawl::spi::claim make_claim(std::string name, pawl::duration ttl = 60s) {
    return {.name = std::move(name),
            .owner = pawl::core::random_hex(pawl::spi::real_runtime(), 16),
            .ttl = ttl};
}

inline pawl::time_point now() { return pawl::spi::real_runtime().now(); }

// The result of a coroutine. By value: the thread sanitizer cannot see how libstdc++ counts the
// references to an exception that two threads share.
template <class T>
struct outcome {
    std::optional<T> value;
    std::optional<pawl::errc> reason;
    boost::system::error_code code;
    std::string sentence;

    T get() && {
        if (reason) throw pawl::error(*reason, sentence);
        if (code) throw boost::system::system_error(code);
        return std::move(*value);
    }
};

template <class T>
outcome<T> outcome_of(const std::exception_ptr& exception, T value) {
    outcome<T> result;
    try {
        if (exception) std::rethrow_exception(exception);
        result.value = std::move(value);
    } catch (const pawl::error& e) {
        result.reason = e.reason();
        result.sentence = e.what();
    } catch (const boost::system::system_error& e) {
        result.code = e.code();
    }
    return result;
}

template <class T>
std::future<outcome<T>> spawn(const asio::any_io_executor& executor, asio::awaitable<T> operation,
                              asio::cancellation_slot slot = {}) {
    auto promise = std::make_shared<std::promise<outcome<T>>>();
    auto future = promise->get_future();
    asio::co_spawn(executor, std::move(operation),
                   asio::bind_cancellation_slot(
                       slot, [promise = std::move(promise)](std::exception_ptr failed, T value) {
                           promise->set_value(outcome_of(failed, std::move(value)));
                       }));
    return future;
}

// All members may be called from any thread; the destructor closes the backend.
class backend_runner : private pawl::spi::loss_listener {
public:
    explicit backend_runner(
        const pawl::service& service,
        std::shared_ptr<pawl::spi::counters> counts = std::make_shared<pawl::spi::counters>())
        : strand_(asio::make_strand(loop_)) {
        pawl::spi::backend_context context;
        context.counts = std::move(counts);
        context.strand = strand_;
        context.time = &pawl::spi::real_runtime();
        context.listener = this;
        context.process = {"here", ::getpid(), "test"};
        backend_ = service.open(std::move(context));
        thread_ = std::thread([this] { loop_.run(); });
    }
    ~backend_runner() {
        if (backend_) close();
        alive_.reset();
        thread_.join();
    }
    backend_runner(const backend_runner&) = delete;
    backend_runner& operator=(const backend_runner&) = delete;

    // An acquire that is under way.
    class pending {
    public:
        pending(backend_runner& runner, pawl::spi::claim requested, pawl::duration wait)
            : claim_(std::make_shared<pawl::spi::claim>(std::move(requested))),
              strand_(runner.strand_) {
            const auto deadline =
                wait == pawl::duration::max() ? pawl::time_point::max() : now() + wait;
            future_ =
                spawn(strand_, start(*runner.backend_, claim_, deadline), cancel_signal_->slot());
        }
        // Empty: held by another. Throws the backend's error; operation_aborted when cancelled.
        std::optional<pawl::spi::hold> get() {
            auto granted = future_.get().get();
            if (!granted) return std::nullopt;
            return pawl::spi::hold{*claim_, *granted};
        }
        [[nodiscard]] bool is_done() const {
            return future_.wait_for(0s) == std::future_status::ready;
        }
        void cancel() {
            asio::post(strand_,
                       [stop = cancel_signal_] { stop->emit(asio::cancellation_type::terminal); });
        }
        [[nodiscard]] const pawl::spi::claim& requested_claim() const noexcept { return *claim_; }

    private:
        // Keeps the claim, which must outlive the call.
        static asio::awaitable<std::optional<pawl::spi::grant>> start(
            pawl::spi::backend& at, std::shared_ptr<pawl::spi::claim> requested,
            pawl::time_point deadline) {
            co_return co_await at.acquire(*requested, deadline);
        }

        std::shared_ptr<pawl::spi::claim> claim_;
        asio::any_io_executor strand_;
        std::shared_ptr<asio::cancellation_signal> cancel_signal_ =
            std::make_shared<asio::cancellation_signal>();
        std::future<outcome<std::optional<pawl::spi::grant>>> future_;
    };

    pending start(pawl::spi::claim requested, pawl::duration wait = pawl::duration::max()) {
        return pending(*this, std::move(requested), wait);
    }
    std::optional<pawl::spi::hold> acquire(pawl::spi::claim requested, pawl::duration wait = 0s) {
        return start(std::move(requested), wait).get();
    }
    pawl::spi::hold acquire_hold(const std::string& name, pawl::duration ttl = 60s) {
        return acquire(make_claim(name, ttl), pawl::duration::max()).value();
    }

    pawl::release_result release(const pawl::spi::hold& released) {
        return wait(backend_->release(released));
    }
    pawl::spi::renewal renew(const pawl::spi::hold& renewed, pawl::duration ttl) {
        pawl::spi::renewal_batch batch({{.held = &renewed, .ttl = ttl}});
        wait(backend_->renew(batch));
        return batch.renewals().front();
    }
    std::optional<pawl::spi::grant> downgrade(const pawl::spi::hold& held) {
        return wait(backend_->downgrade(held));
    }
    pawl::lock_info inspect(const std::string& name) { return wait(backend_->inspect(name)); }
    std::vector<pawl::lock_info> list(const std::string& prefix) {
        return wait(backend_->list(prefix));
    }
    bool force_release(const std::string& name, pawl::fencing_token expected = {}) {
        return wait(backend_->force_release(name, expected));
    }
    void resize(const std::string& name, std::uint32_t permits) {
        wait(backend_->resize(name, permits));
    }
    pawl::examination examine() { return wait(backend_->examine()); }
    void close(pawl::duration drain = 2s) {
        wait(backend_->close(now() + drain));
        // On the strand, as all other uses of the backend.
        asio::post(strand_, std::packaged_task<void()>([this] { backend_.reset(); })).get();
    }
    [[nodiscard]] pawl::spi::backend& raw() noexcept { return *backend_; }
    [[nodiscard]] pawl::spi::capabilities capabilities() const { return backend_->capabilities(); }

    [[nodiscard]] bool has_lost(const std::string& owner, pawl::loss_reason why) const {
        const std::lock_guard lock(mutex_);
        return losses_.contains({owner, why});
    }

private:
    void on_possible_loss() override {}
    void on_loss(std::string_view owner, pawl::loss_reason why) override {
        const std::lock_guard lock(mutex_);
        losses_.emplace(owner, why);
    }
    template <class T>
    T wait(asio::awaitable<T> operation) {
        return spawn(strand_, std::move(operation)).get().get();
    }
    // For operations without a result, which do not throw.
    void wait(asio::awaitable<void> operation) {
        asio::co_spawn(strand_, std::move(operation), asio::use_future).get();
    }

    asio::io_context loop_{1};
    asio::any_io_executor strand_;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> alive_{
        asio::make_work_guard(loop_)};
    std::unique_ptr<pawl::spi::backend> backend_;
    mutable std::mutex mutex_;
    std::set<std::pair<std::string, pawl::loss_reason>> losses_;
    std::thread thread_;
};

}  // namespace backend_tests
