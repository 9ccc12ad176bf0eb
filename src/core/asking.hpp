// How the asynchronous face runs a coroutine of the engine for a caller's completion handler.
#pragma once

#include "engine.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

namespace pawl::core {

using plain_handler = boost::asio::any_completion_handler<void(boost::system::error_code)>;

// The handler's cancellation slot cancels the operation on the strand. The slot stays as it is
// afterwards: only its own thread may touch it. It may outlive the event loop, and so holds nothing
// of the engine.
template <class Handler>
std::shared_ptr<engine::operation> connect(const engine::ptr& home, Handler& done) {
    auto operation = std::make_shared<engine::operation>(home);
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
        slot.assign([weak = std::weak_ptr(operation)](boost::asio::cancellation_type) {
            if (auto alive = weak.lock()) {
                const auto strand = alive->home().strand();
                boost::asio::post(strand, [alive = std::move(alive)] { alive->cancel(); });
            }
        });
    }
    return operation;
}

// The caller's code runs on the caller's executor, never inside our strand.
template <class Handler, class Answer>
void finish(const engine::ptr& home, Handler done, boost::system::error_code ec, Answer answer) {
    boost::asio::post(home->outside(), boost::asio::append(std::move(done), ec, std::move(answer)));
}

// Of a question whose answer is that it was carried out.
inline void finish(const engine::ptr& home, plain_handler done, boost::system::error_code ec,
                   bool) {
    boost::asio::post(home->outside(), boost::asio::append(std::move(done), ec));
}

// A caller's handler while its coroutine runs. Asio destroys a coroutine, and this with it, when
// there is no memory to begin what it is about to wait for: then that is the answer. Not so where
// the event loop itself is destroyed.
template <class Handler, class... Answers>
class owed_answer {
public:
    owed_answer(engine::ptr home, Handler done) noexcept
        : home_(std::move(home)), done_(std::move(done)) {}
    ~owed_answer() {
        if (!home_ || home_->abandoned()) return;
        try {
            const boost::system::error_code ec = make_error_code(errc::exhausted);
            boost::asio::post(home_->outside(),
                              boost::asio::append(std::move(done_), ec, Answers{}...));
        } catch (...) {}
    }
    owed_answer(const owed_answer&) = delete;
    owed_answer& operator=(const owed_answer&) = delete;

    [[nodiscard]] Handler take() noexcept {
        home_.reset();
        return std::move(done_);
    }

private:
    engine::ptr home_;
    Handler done_;
};

template <class Handler, class Answer>
struct owed_of {
    using type = owed_answer<Handler, Answer>;
};
template <class Answer>
struct owed_of<plain_handler, Answer> {
    using type = owed_answer<plain_handler>;
};

template <class Answer, class Handler>
boost::asio::awaitable<void> answer(engine::ptr home, std::shared_ptr<engine::operation> operation,
                                    boost::asio::awaitable<Answer> question, Handler done) {
    typename owed_of<Handler, Answer>::type owed(home, std::move(done));
    boost::system::error_code ec;
    Answer found{};
    try {
        operation->begin();
        operation.reset();
        found = co_await std::move(question);
    } catch (...) {
        ec = home->failed(std::current_exception());
    }
    finish(home, owed.take(), ec, std::move(found));
}

// Asio touches the slot until this is called: the operation, which has the slot, must live until
// then.
struct end_operation {
    std::shared_ptr<engine::operation> operation;
    void operator()(const std::exception_ptr&) const { operation->end(); }
};

template <class Answer, class Handler>
void ask(const engine::ptr& home, boost::asio::awaitable<Answer> question, Handler done) {
    auto operation = connect(home, done);
    const auto slot = operation->slot();
    boost::asio::co_spawn(home->strand(),
                          answer(home, operation, std::move(question), std::move(done)),
                          boost::asio::bind_cancellation_slot(slot, end_operation{operation}));
}

}  // namespace pawl::core
