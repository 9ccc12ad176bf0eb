// A thread of its own for the file, so that no write to the disk ever stops the event loop.
#pragma once

#include "database.hpp"

#include "core/fork_mark.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace pawl::sqlite {

class worker {
public:
    // What a job came to, carried between the threads by value.
    template <class T>
    struct answer {
        std::optional<T> value;
        errc reason = errc::unavailable;
        std::string sentence;
        bool passing = false;
    };

    // `ended` is called once by `stop`, after the last job and with the executor still there.
    worker(boost::asio::any_io_executor strand, std::function<void()> ended);
    ~worker() { stop(); }
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    // Of the thread; until `stop`.
    [[nodiscard]] boost::asio::any_io_executor executor() const { return pool_->get_executor(); }

    [[nodiscard]] bool stopped() const noexcept { return pool_ == nullptr; }

    // Runs the job on the thread, after those before it, and comes back to the strand. Throws what
    // it threw, as database_error. Cannot be cancelled: the caller must know what the job came to.
    template <class Job>
    boost::asio::awaitable<std::invoke_result_t<Job&>> run(Job job) {
        using result = std::invoke_result_t<Job&>;
        if (!pool_)
            throw database_error(errc::unavailable, "This client is closed; make a new one.",
                                 false);
        // Its thread stayed with the parent: nobody would ever answer.
        if (core::fork_generation() != born_in_)
            throw database_error(errc::unsupported, core::client_of_parent().what(), false);
        start<Job, result> begin{this, std::move(job)};
        auto got = co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>,
                                                        void(answer<result>)>(
            std::move(begin), boost::asio::use_awaitable);
        if (!got.value) throw database_error(got.reason, got.sentence, got.passing);
        co_return std::move(*got.value);
    }

    // Waits for the job that is running; those that have not begun are dropped, their callers never
    // continue. Also called when the event loop of the strand is destroyed. In a fork: does
    // nothing.
    void stop() noexcept;

private:
    class registry;
    class home;

    template <class Job, class T>
    struct start {
        worker* self;
        Job job;

        template <class Handler>
        void operator()(Handler&& done) {
            boost::asio::any_completion_handler<void(answer<T>)> back(std::forward<Handler>(done));
            boost::asio::post(*self->pool_,
                              [job = std::move(job), back = std::move(back), strand = self->strand_,
                               alive = boost::asio::make_work_guard(self->strand_)]() mutable {
                                  answer_on(strand, attempt<Job, T>(job), std::move(back));
                              });
        }
    };

    // Nothing may leave the pool's thread: it would end the process. A caller that cannot be
    // answered, for want of memory, is told by the end of its coroutine.
    template <class T, class Back>
    static void answer_on(const boost::asio::any_io_executor& strand, answer<T> got,
                          Back back) noexcept {
        try {
            boost::asio::post(strand, [back = std::move(back), got = std::move(got)]() mutable {
                std::move(back)(std::move(got));
            });
        } catch (...) {}
    }

    // Exceptions stay on the thread that threw them; only their words travel.
    template <class Job, class T>
    static answer<T> attempt(Job& job) noexcept {
        try {
            return attempt_with_words<Job, T>(job);
        } catch (...) {
            return {{}, errc::exhausted, {}, false};
        }
    }
    template <class Job, class T>
    static answer<T> attempt_with_words(Job& job) {
        try {
            return {job(), {}, {}, false};
        } catch (const database_error& failed) {
            return {{}, failed.reason(), failed.what(), failed.passing};
        } catch (const error& failed) {
            return {{}, failed.reason(), failed.what(), false};
        } catch (const std::bad_alloc&) {
            return {{}, errc::exhausted, "This program is out of memory.", false};
        } catch (const std::exception& failed) {
            return {{}, errc::unavailable, failed.what(), false};
        }
    }

    boost::asio::any_io_executor strand_;
    std::unique_ptr<boost::asio::thread_pool> pool_;
    std::shared_ptr<registry> registry_;
    std::function<void()> ended_;
    std::uint32_t born_in_;
};

}  // namespace pawl::sqlite
