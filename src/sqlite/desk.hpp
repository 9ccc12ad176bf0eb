// One client's side of the protocol: who of ours waits, and what is still being undone.
#pragma once

#include "store.hpp"
#include "worker.hpp"

#include "core/alarm.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace pawl::sqlite {

// Used on the client's strand. Outlives the backend while something is being undone.
class desk : public std::enable_shared_from_this<desk> {
public:
    desk(store::settings what, backend_context context);
    ~desk();
    desk(const desk&) = delete;
    desk& operator=(const desk&) = delete;

    // With cancellation recorded but not thrown by every co_await: undoing takes some of them.
    boost::asio::awaitable<std::optional<grant>> acquire(const claim& what, time_point give_up_at);
    boost::asio::awaitable<release_result> release(const claim& what);
    boost::asio::awaitable<void> close(time_point give_up_at);

    // Called on the worker's thread when a latch is rung for: returns what is to be done on the
    // strand. To be set before the first job.
    std::function<std::function<void()>(store&, const std::string& name)> on_latch;

    // One job on the file.
    template <class Job>
    auto run(Job job) -> boost::asio::awaitable<std::invoke_result_t<Job&, store&>> {
        const busy here(*this);
        ++context_.count->requests;
        auto work = [file = file_.get(), job = std::move(job)]() mutable { return job(*file); };
        co_return co_await thread_.run(std::move(work));
    }

    [[nodiscard]] bool forked() const noexcept;
    void refuse_fork() const;

private:
    // A waiter of ours.
    struct waiting {
        core::alarm alarm;
        std::optional<standing> given;
    };
    class place;

    // Something that `close` has to wait for.
    class busy {
    public:
        explicit busy(desk& at) noexcept : at_(at) { ++at_.busy_; }
        ~busy() {
            if (--at_.busy_ == 0) at_.idle_.ring();
        }
        busy(const busy&) = delete;
        busy& operator=(const busy&) = delete;

    private:
        desk& at_;
    };

    void heard(const ring& news);
    void post_ring(std::function<void()> effect);
    void tell_lost(const std::string& owner);
    void wake(const std::string& owner, const std::optional<standing>& given);
    boost::asio::awaitable<standing> attempt(const claim& what, time_point give_up_at);
    boost::asio::awaitable<standing> wait_for_grant(const claim& what, time_point give_up_at,
                                                    standing found);
    boost::asio::awaitable<standing> look(const claim& what, standing before);
    boost::asio::awaitable<std::optional<standing>> leave(const claim& what, bool keep);
    void keep_trying_to_leave(const claim& what);
    static boost::asio::awaitable<void> leave_later(std::shared_ptr<desk> self, claim what);

    backend_context context_;
    std::uint32_t born_in_;
    std::unordered_map<std::string, waiting*> waiting_;
    std::size_t busy_ = 0;
    std::atomic<unsigned> rings_ = 0;  // that wait for the event loop
    core::alarm idle_;
    worker thread_;
    std::unique_ptr<store> file_;
};

}  // namespace pawl::sqlite
