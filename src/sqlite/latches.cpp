#include "latches.hpp"

#include "core/chance.hpp"
#include "core/latch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sqlite {
namespace {

// The last resort where a ring was lost; it also keeps the place.
constexpr duration look_at_least = 4s;
constexpr duration look_at_most = 6s;

}  // namespace

// To be found by rings until it goes out of scope; the file is told in the background.
class file_latches::place {
public:
    place(file_latches& home, latch_place where)
        : home_(home),
          where_(std::move(where)),
          mine_{{home.time_, home.strand_}, {}},
          here_(home.waiting_->emplace(where_.name, &mine_)) {}
    ~place() {
        home_.waiting_->erase(here_);
        try {
            asio::co_spawn(home_.strand_, leave(home_.desk_, std::move(where_)), asio::detached);
        } catch (...) {}  // without memory: the place has an end of its own
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    waiting* operator->() noexcept { return &mine_; }

private:
    file_latches& home_;
    latch_place where_;
    waiting mine_;
    table::iterator here_;
};

file_latches::file_latches(std::shared_ptr<desk> at, const backend_context& context)
    : desk_(std::move(at)), strand_(context.strand), time_(*context.time) {
    // On the worker's thread. Anybody may ring: the file says how it stands.
    desk_->on_latch = [weak = std::weak_ptr(waiting_)](store& file, const std::string& name) {
        const auto found = latch_book(file).find(name);
        return [weak, name, found] {
            const auto all = weak.lock();
            if (!all) return;
            const auto [begin, end] = all->equal_range(name);
            for (auto one = begin; one != end; ++one) {
                one->second->rung = found;
                one->second->alarm.ring();
            }
        };
    };
}

asio::awaitable<void> file_latches::leave(std::shared_ptr<desk> at, latch_place where) {
    try {
        co_await at->run([&where](store& file) { return latch_book(file).leave(where), true; });
    } catch (const error&) {}  // the place has an end of its own
}

asio::awaitable<bool> file_latches::try_set(std::string_view name, std::uint32_t count,
                                            duration ttl) {
    const auto at = desk_;
    at->refuse_fork();
    const auto job = [name = std::string(name), count, ttl](store& file) {
        return latch_book(file).try_set(name, count, ttl);
    };
    co_return co_await at->run(job);
}

asio::awaitable<latches::step> file_latches::send_step(std::string_view name, std::uint32_t steps,
                                                       std::uint32_t parties, duration ttl) {
    const auto at = desk_;
    at->refuse_fork();
    const auto job = [name = std::string(name), steps, parties, ttl](store& file) {
        return latch_book(file).step(name, steps, parties, ttl);
    };
    co_return co_await at->run(job);
}

asio::awaitable<latches::step> file_latches::count_down(std::string_view name,
                                                        std::uint32_t steps) {
    return send_step(name, steps, 0, {});
}

asio::awaitable<latches::step> file_latches::arrive(std::string_view name, std::uint32_t parties,
                                                    duration ttl) {
    return send_step(name, 1, parties, ttl);
}

asio::awaitable<bool> file_latches::wait(std::string_view name, std::uint64_t generation,
                                         time_point give_up_at) {
    const auto at = desk_;
    at->refuse_fork();
    latch_place where;
    where.id = core::random_hex(time_, 16);
    where.name = name;
    place mine(*this, where);
    for (;;) {
        const bool rung = mine->rung.has_value();
        auto found = std::exchange(mine->rung, std::nullopt);
        if (!rung) found = co_await look(at, where);
        const bool over = found && core::is_over(*found, where.name, generation);
        if (over) co_return true;
        const auto now = time_.now();
        if (now >= give_up_at) co_return false;
        const auto pause = found ? core::random_between(time_, look_at_least, look_at_most)
                                 : core::random_between(time_, 300ms, 600ms);
        auto until = std::min(now + pause, give_up_at);
        if (found) until = std::min(until, found->expires);
        const bool woken = co_await mine->alarm.wait_until(until);
        if (!woken && time_.now() >= give_up_at) co_return false;
    }
}

// Empty: another process kept the file busy. The step that led here was counted, so that the wait
// has to go on.
asio::awaitable<std::optional<core::latch_standing>> file_latches::look(
    const std::shared_ptr<desk>& at, const latch_place& where) {
    const auto job = [where](store& file) { return latch_book(file).wait(where); };
    try {
        co_return co_await at->run(job);
    } catch (const database_error& failed) {
        if (!failed.passing) throw;
    }
    co_return std::nullopt;
}

asio::awaitable<latch_info> file_latches::inspect(std::string_view name) {
    const auto at = desk_;
    at->refuse_fork();
    const auto job = [name = std::string(name)](store& file) {
        return latch_book(file).inspect(name);
    };
    co_return co_await at->run(job);
}

asio::awaitable<bool> file_latches::reset(std::string_view name) {
    const auto at = desk_;
    at->refuse_fork();
    const auto job = [name = std::string(name)](store& file) {
        return latch_book(file).reset(name);
    };
    co_return co_await at->run(job);
}

}  // namespace pawl::sqlite
