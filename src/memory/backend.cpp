#include "latches.hpp"
#include "world.hpp"

#include "core/fork_mark.hpp"

#include <pawl/error.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::memory {
namespace {

// In line until it goes out of scope, however that comes about.
class place {
public:
    place(world& where, const claim& what, const std::shared_ptr<session>& by)
        : where_(where), mine_(std::make_shared<world::waiter>(what, by)) {}
    ~place() { where_.leave(mine_, wanted_); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    const std::shared_ptr<world::waiter>& operator*() const noexcept { return mine_; }
    void keep() noexcept { wanted_ = true; }

private:
    world& where_;
    std::shared_ptr<world::waiter> mine_;
    bool wanted_ = false;
};

class memory_backend final : public backend {
public:
    memory_backend(std::shared_ptr<world> where, const std::shared_ptr<latch_book>& book,
                   backend_context context)
        : where_(std::move(where)),
          me_(std::make_shared<session>(session{std::move(context.strand), context.time,
                                                context.listener, std::move(context.who),
                                                std::move(context.count)})),
          latches_(book, me_) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                  time_point give_up_at) override {
        refuse_fork();
        // The frame may be destroyed after this backend, with the event loop.
        const auto where = where_;
        const auto me = me_;
        ++me->count->requests;
        if (auto at_once = where->take(what, me); at_once || give_up_at <= me->time->now())
            co_return at_once;
        place mine(*where, what, me);
        auto next = where->join(*mine);
        while (!next.given && me->time->now() < give_up_at) {
            co_await (*mine)->alarm.wait_until(std::min(give_up_at, next.look_at));
            next = where->look(*mine);
            ++(next.given ? me->count->pushes : me->count->requests);
        }
        if (next.given) {
            mine.keep();
            ++me->count->hand_offs;
        }
        co_return next.given;
    }

    asio::awaitable<void> renew(std::span<renewal> batch) override {
        if (forked()) co_return;
        ++me_->count->requests;
        where_->renew(batch, now());
    }

    asio::awaitable<release_result> release(const hold& what) override {
        if (forked()) co_return release_result::unknown;
        ++me_->count->requests;
        co_return where_->release(what.claim, now());
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        refuse_fork();
        ++me_->count->requests;
        co_return where_->inspect(name, now());
    }

    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        refuse_fork();
        ++me_->count->requests;
        co_return where_->list(prefix, now());
    }

    asio::awaitable<std::optional<grant>> downgrade(const hold& what) override {
        refuse_fork();
        ++me_->count->requests;
        co_return where_->downgrade(what.claim, now());
    }

    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        refuse_fork();
        ++me_->count->requests;
        where_->resize(name, permits, now());
        co_return;
    }

    asio::awaitable<bool> force_release(std::string_view name) override {
        refuse_fork();
        ++me_->count->requests;
        co_return where_->force_release(name, now());
    }

    asio::awaitable<examination> examine() override {
        refuse_fork();
        examination found;
        found.findings.push_back(
            {finding::grade::note, "where", "in the memory of this process",
             "use a service that other processes can reach for anything but tests"});
        auto& row = found.guarantees;
        row.backend = "memory";
        row.holder_crash = "holds: all ends with the process";
        row.holder_pause = "holds for holders that stop when told";
        row.server_crash = row.failover = row.partition = "does not apply";
        row.clock_jump = "holds (boot clock)";
        row.token = "never goes back in one process";
        co_return found;
    }

    asio::awaitable<void> close(time_point) override { co_return; }

    latches* counted() noexcept override { return &latches_; }

    promises promised() const noexcept override {
        promises made;
        made.survives_restart = made.across_processes = made.across_hosts = false;
        made.loss_is_pushed = true;
        made.shared = made.permits = made.strictly_fair = made.downgrades = true;
        made.latches = made.barriers = true;
        return made;
    }

private:
    time_point now() const noexcept { return me_->time->now(); }
    bool forked() const noexcept { return core::fork_generation() != born_in_; }
    void refuse_fork() const {
        if (forked())
            throw error(
                errc::unsupported,
                "This process is a fork, and the locks in memory belong to its parent; make a new "
                "client here.");
    }

    std::shared_ptr<world> where_;
    std::shared_ptr<session> me_;
    memory_latches latches_;
    std::uint32_t born_in_ = core::fork_generation();
};

class memory_service final : public service::definition {
public:
    explicit memory_service(std::string name) : name_(std::move(name)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        return std::make_unique<memory_backend>(world_, latches_, std::move(context));
    }
    std::string describe() const override { return "memory:" + name_; }

private:
    std::string name_;
    std::shared_ptr<world> world_ = std::make_shared<world>();
    std::shared_ptr<latch_book> latches_ = std::make_shared<latch_book>();
};

}  // namespace

service make() { return service(std::make_shared<memory_service>("")); }

service named(const std::string& name) {
    static std::mutex mutex;
    static std::map<std::string, service> worlds;
    const std::lock_guard lock(mutex);
    const auto known = worlds.find(name);
    if (known != worlds.end()) return known->second;
    return worlds.emplace(name, service(std::make_shared<memory_service>(name))).first->second;
}

}  // namespace pawl::memory
