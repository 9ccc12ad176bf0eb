#include "semaphore.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

// By a try, which is answered at once: who waits has nothing to say that a resize makes wrong.
// Empty: not free; or, where `count->said` is still false, the service is away and there is time.
asio::awaitable<taken> say(engine::ptr home, std::shared_ptr<permit_count> count, std::string name,
                           lock_options options, time_point give_up_at) {
    taken mine;
    options.of = count->all;
    try {
        mine = co_await home->acquire(name, options, true);
        count->said = true;
    } catch (const error& e) {
        if (!may_pass(e) || home->time().now() >= give_up_at) throw;
    }
    co_return mine;
}

asio::awaitable<bool> is_known(engine::ptr home, std::string name) {
    const auto found = co_await home->inspect(name);
    co_return found.permits != 0 || found.free_permits;
}

}  // namespace

asio::awaitable<taken> take_permits(engine::ptr home, std::shared_ptr<permit_count> count,
                                    std::string name, lock_options options, bool once) {
    options.mode = lock_mode::permits;
    if (once) options.wait = {};
    const auto give_up_at = plus(home->time().now(), options.wait);
    for (;;) {
        if (!count->said) {
            auto mine = co_await say(home, count, name, options, give_up_at);
            if (mine.what || once) co_return mine;
        }
        const bool said = count->said;
        auto asking = options;
        asking.of = said ? 0 : count->all;
        if (options.wait != forever)
            asking.wait = std::max(duration{}, give_up_at - home->time().now());
        std::optional<error> refused;
        try {
            auto mine = co_await home->acquire(name, asking, once);
            count->said = true;
            co_return mine;
        } catch (const error& e) {
            if (e.reason() == errc::timed_out) count->said = true;
            if (e.reason() != errc::bad_option || !said) throw;
            refused = e;
        }
        const bool known = co_await is_known(home, name);
        if (known) throw error(*refused);
        count->said = false;
    }
}

asio::awaitable<bool> resize(engine::ptr home, std::shared_ptr<permit_count> count,
                             std::string name, std::uint32_t permits) {
    co_await home->resize(std::move(name), permits);
    count->all = permits;
    count->said = true;
    co_return true;
}

}  // namespace pawl::core
