// How the blocking face asks the engine while the caller waits.
#pragma once

#include "engine.hpp"
#include "loop.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <optional>
#include <stop_token>

namespace pawl::blocking {

[[noreturn]] void rethrow(const std::shared_ptr<core::engine>& home, const std::exception_ptr& why);

// Throws errc::unsupported in a fork of the client's process.
void refuse_fork(const loop& home);

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
        // Asio touches the slot until the completion handler is called: not before then may we go
        // on.
        boost::asio::co_spawn(
            to_->strand(), run(std::move(what)),
            boost::asio::bind_cancellation_slot(operation_->slot(), finish{this, operation_}));
        call_.wait();
        if (failure_) rethrow(to_, failure_);
        return std::move(*answer_);
    }

private:
    struct finish {
        question* asked;
        std::shared_ptr<core::engine::operation> operation;
        void operator()(const std::exception_ptr&) const {
            operation->end();
            asked->call_.answered();
        }
    };

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
