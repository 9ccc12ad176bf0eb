// How the blocking face asks the engine while the caller waits.
#pragma once

#include "engine.hpp"
#include "loop.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <new>
#include <optional>
#include <stop_token>
#include <utility>

namespace pawl::blocking {

[[noreturn]] void rethrow(const std::shared_ptr<core::engine>& home, const std::exception_ptr& why);

// Throws errc::unsupported in a fork of the client's process.
void refuse_fork(const loop& home);

// The end of a coroutine that a caller waits for. Asio destroys a coroutine, and this with it, when
// there is no memory to begin what it is about to wait for: then that is the answer.
class answered_at_the_end {
public:
    answered_at_the_end(loop::call& waiting, std::exception_ptr& failure,
                        std::shared_ptr<core::engine::operation> operation) noexcept
        : waiting_(&waiting), failure_(&failure), operation_(std::move(operation)) {}
    answered_at_the_end(answered_at_the_end&& other) noexcept
        : waiting_(std::exchange(other.waiting_, nullptr)),
          failure_(other.failure_),
          operation_(std::move(other.operation_)) {}
    answered_at_the_end& operator=(answered_at_the_end&&) = delete;
    ~answered_at_the_end() {
        if (waiting_ != nullptr) (*this)(std::make_exception_ptr(std::bad_alloc()));
    }

    void operator()(std::exception_ptr thrown) {
        if (operation_) operation_->end();
        if (thrown) *failure_ = std::move(thrown);
        std::exchange(waiting_, nullptr)->answered();
    }

private:
    loop::call* waiting_;
    std::exception_ptr* failure_;
    std::shared_ptr<core::engine::operation> operation_;
};

// Runs a coroutine on the engine's strand while the caller waits, and brings its answer or
// exception back.
template <class Answer>
class question {
public:
    question(loop& home, std::shared_ptr<core::engine> to)
        : call_(home),
          operation_(std::make_shared<core::engine::operation>(to)),
          to_(std::move(to)) {}

    void cancel() {
        boost::asio::post(to_->strand(), [operation = operation_] { operation->cancel(); });
    }

    Answer ask(boost::asio::awaitable<Answer> what) {
        auto running = run(std::move(what));
        answered_at_the_end end(call_, failure_, operation_);
        // Asio touches the slot until the completion handler is called or destroyed: not before
        // then may we go on, nor where the coroutine could not even begin.
        try {
            boost::asio::co_spawn(
                to_->strand(), std::move(running),
                boost::asio::bind_cancellation_slot(operation_->slot(), std::move(end)));
        } catch (...) {}
        call_.wait();
        if (failure_) rethrow(to_, failure_);
        return std::move(*answer_);
    }

private:
    boost::asio::awaitable<void> run(boost::asio::awaitable<Answer> what) {
        try {
            operation_->begin();
            answer_.emplace(co_await std::move(what));
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    loop::call call_;
    std::shared_ptr<core::engine::operation> operation_;
    std::shared_ptr<core::engine> to_;
    std::optional<Answer> answer_;
    std::exception_ptr failure_;
};

// Refuses a fork. Throws errc::cancelled when `cancel` is stopped.
template <class Answer>
Answer ask(loop& home, boost::asio::awaitable<Answer> what, const std::stop_token& cancel = {}) {
    refuse_fork(home);
    question<Answer> one(home, home.engine);
    const std::stop_callback give_up(cancel, [&one] { one.cancel(); });
    return one.ask(std::move(what));
}

}  // namespace pawl::blocking
