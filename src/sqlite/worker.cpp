#include "worker.hpp"

#include "core/exhausted.hpp"
#include "core/fork_mark.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <pthread.h>
#include <signal.h>

#include <mutex>
#include <set>

namespace asio = boost::asio;

namespace pawl::sqlite {
namespace {

std::unique_ptr<asio::thread_pool> start_thread() {
    // The program's signals are for the program's threads.
    sigset_t all{};
    sigset_t before{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::unique_ptr<asio::thread_pool> pool;
    try {
        pool = std::make_unique<asio::thread_pool>(1);
    } catch (const std::exception& failed) {
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw core::exhausted("No thread can be started for the file of the locks", failed.what());
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return pool;
}

}  // namespace

// The workers whose strands belong to one event loop.
class worker::registry {
public:
    void add(worker& one) {
        const std::lock_guard lock(mutex_);
        all_.insert(&one);
    }
    void remove(worker& one) {
        const std::lock_guard lock(mutex_);
        all_.erase(&one);
    }
    // Stopping one may destroy another, so each is looked up anew.
    worker* any() {
        const std::lock_guard lock(mutex_);
        return all_.empty() ? nullptr : *all_.begin();
    }

private:
    std::mutex mutex_;
    std::set<worker*> all_;
};

// Ends the workers before their event loop goes away under them.
class worker::home : public asio::execution_context::service {
public:
    using key_type = home;
    static inline asio::execution_context::id id;

    explicit home(asio::execution_context& of) : service(of) {}
    [[nodiscard]] const std::shared_ptr<registry>& workers() const noexcept { return workers_; }

private:
    void shutdown() override {
        while (auto* one = workers_->any())
            one->stop();
    }

    std::shared_ptr<registry> workers_ = std::make_shared<registry>();
};

worker::worker(asio::any_io_executor strand, std::function<void()> ended)
    : strand_(std::move(strand)),
      pool_(start_thread()),
      registry_(asio::use_service<home>(asio::query(strand_, asio::execution::context)).workers()),
      ended_(std::move(ended)),
      born_in_(core::fork_generation()) {
    registry_->add(*this);
}

void worker::stop() noexcept {
    if (!pool_) return;
    registry_->remove(*this);
    if (core::fork_generation() != born_in_) {
        // The thread stayed with the parent, and cannot be joined here.
        static_cast<void>(pool_.release());
        return;
    }
    const auto ending = std::exchange(pool_, nullptr);
    ending->stop();
    ending->join();
    ended_();
}

}  // namespace pawl::sqlite
