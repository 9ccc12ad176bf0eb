// Drives one backend from a test's thread: a client with an event loop and a thread of its own.
#pragma once

#include "core/chance.hpp"

#include <pawl/backend.hpp>
#include <pawl/error.hpp>
#include <pawl/service.hpp>

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

inline pawl::claim ask(std::string name, pawl::duration ttl = 60s) {
    return {.name = std::move(name),
            .owner = pawl::core::random_hex(pawl::real_runtime(), 16),
            .ttl = ttl};
}

inline pawl::time_point now() { return pawl::real_runtime().now(); }

// What a coroutine came to. By value: the thread sanitizer cannot see how libstdc++ counts the
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
outcome<T> outcome_of(const std::exception_ptr& failed, T value) {
    outcome<T> got;
    try {
        if (failed) std::rethrow_exception(failed);
        got.value = std::move(value);
    } catch (const pawl::error& e) {
        got.reason = e.reason();
        got.sentence = e.what();
    } catch (const boost::system::system_error& e) {
        got.code = e.code();
    }
    return got;
}

template <class T>
std::future<outcome<T>> spawn(const asio::any_io_executor& on, asio::awaitable<T> what,
                              asio::cancellation_slot slot = {}) {
    auto promise = std::make_shared<std::promise<outcome<T>>>();
    auto answer = promise->get_future();
    asio::co_spawn(on, std::move(what),
                   asio::bind_cancellation_slot(
                       slot, [promise = std::move(promise)](std::exception_ptr failed, T value) {
                           promise->set_value(outcome_of(failed, std::move(value)));
                       }));
    return answer;
}

// All members may be called from any thread; the destructor closes the backend.
class client : private pawl::loss_listener {
public:
    explicit client(const pawl::service& where) : strand_(asio::make_strand(loop_)) {
        pawl::backend_context context;
        context.strand = strand_;
        context.time = &pawl::real_runtime();
        context.listener = this;
        context.who = {"here", ::getpid(), "test"};
        backend_ = where.open(std::move(context));
        thread_ = std::thread([this] { loop_.run(); });
    }
    ~client() {
        if (backend_) close();
        alive_.reset();
        thread_.join();
    }
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    // An acquire that is under way.
    class pending {
    public:
        pending(client& of, pawl::claim what, pawl::duration wait)
            : what_(std::make_shared<pawl::claim>(std::move(what))), strand_(of.strand_) {
            const auto give_up_at =
                wait == pawl::duration::max() ? pawl::time_point::max() : now() + wait;
            answer_ = spawn(strand_, start(*of.backend_, what_, give_up_at), stop_->slot());
        }
        // Empty: somebody else's. Throws what the backend threw; operation_aborted when cancelled.
        std::optional<pawl::hold> get() {
            auto given = answer_.get().get();
            if (!given) return std::nullopt;
            return pawl::hold{*what_, *given};
        }
        [[nodiscard]] bool done() const {
            return answer_.wait_for(0s) == std::future_status::ready;
        }
        void cancel() {
            asio::post(strand_, [stop = stop_] { stop->emit(asio::cancellation_type::terminal); });
        }
        [[nodiscard]] const pawl::claim& what() const noexcept { return *what_; }

    private:
        // Keeps the claim, as it has to outlive the call.
        static asio::awaitable<std::optional<pawl::grant>> start(pawl::backend& at,
                                                                 std::shared_ptr<pawl::claim> what,
                                                                 pawl::time_point give_up_at) {
            co_return co_await at.acquire(*what, give_up_at);
        }

        std::shared_ptr<pawl::claim> what_;
        asio::any_io_executor strand_;
        std::shared_ptr<asio::cancellation_signal> stop_ =
            std::make_shared<asio::cancellation_signal>();
        std::future<outcome<std::optional<pawl::grant>>> answer_;
    };

    pending start(pawl::claim what, pawl::duration wait = pawl::duration::max()) {
        return pending(*this, std::move(what), wait);
    }
    std::optional<pawl::hold> acquire(pawl::claim what, pawl::duration wait = 0s) {
        return start(std::move(what), wait).get();
    }
    pawl::hold take(const std::string& name, pawl::duration ttl = 60s) {
        return acquire(ask(name, ttl), pawl::duration::max()).value();
    }

    pawl::release_result release(const pawl::hold& what) { return wait(backend_->release(what)); }
    pawl::renewal renew(const pawl::hold& what, pawl::duration ttl) {
        pawl::renewal line{.what = &what, .ttl = ttl};
        wait(backend_->renew(std::span(&line, 1)));
        return line;
    }
    pawl::lock_info inspect(const std::string& name) { return wait(backend_->inspect(name)); }
    std::vector<pawl::lock_info> list(const std::string& prefix) {
        return wait(backend_->list(prefix));
    }
    bool force(const std::string& name) { return wait(backend_->force_release(name)); }
    void resize(const std::string& name, std::uint32_t permits) {
        wait(backend_->resize(name, permits));
    }
    pawl::examination examine() { return wait(backend_->examine()); }
    void close() {
        wait(backend_->close(now() + std::chrono::seconds(2)));
        // On the strand, where all else that knows the backend runs.
        asio::post(strand_, std::packaged_task<void()>([this] { backend_.reset(); })).get();
    }
    [[nodiscard]] pawl::backend& raw() noexcept { return *backend_; }
    [[nodiscard]] pawl::promises promised() const { return backend_->promised(); }

    [[nodiscard]] bool was_told_of(const std::string& owner, pawl::loss_reason why) const {
        const std::lock_guard lock(mutex_);
        return losses_.contains({owner, why});
    }

private:
    void lost(std::string_view owner, pawl::loss_reason why) override {
        const std::lock_guard lock(mutex_);
        losses_.emplace(owner, why);
    }
    template <class T>
    T wait(asio::awaitable<T> what) {
        return spawn(strand_, std::move(what)).get().get();
    }
    // Those that give nothing throw nothing either.
    void wait(asio::awaitable<void> what) {
        asio::co_spawn(strand_, std::move(what), asio::use_future).get();
    }

    asio::io_context loop_{1};
    asio::any_io_executor strand_;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> alive_{
        asio::make_work_guard(loop_)};
    std::unique_ptr<pawl::backend> backend_;
    mutable std::mutex mutex_;
    std::set<std::pair<std::string, pawl::loss_reason>> losses_;
    std::thread thread_;
};

}  // namespace backend_tests
