#include "ways.hpp"

#include "chance.hpp"
#include "validate.hpp"

namespace asio = boost::asio;

namespace pawl::core {
namespace {

asio::awaitable<std::shared_ptr<lease>> poll(engine::ptr home, std::string name,
                                             lock_options options, polling retry) {
    check_polling(retry);
    alarm pause(home->time(), home->strand());
    duration longest = retry.interval;
    for (auto left = retry.tries;; --left) {
        auto one = co_await home->acquire(name, options, true);
        if (one || left == 1) co_return one;
        const auto chosen = random_between(home->time(), longest / 2, longest);
        co_await pause.wait_until(home->time().now() + chosen);
        const auto grown = static_cast<double>(longest.count()) * retry.growth;
        longest = grown < static_cast<double>(retry.longest.count())
                      ? duration(static_cast<duration::rep>(grown))
                      : retry.longest;
    }
}

}  // namespace

request to_request(const try_options& options) {
    return {.options = {.ttl = options.ttl,
                        .wait = {},
                        .max_hold = options.max_hold,
                        .mode = options.mode,
                        .fenced = options.fenced},
            .once = options.retry};
}

asio::awaitable<std::shared_ptr<lease>> take(engine::ptr home, std::string name, request how) {
    if (how.once && how.once->tries != 1)
        return poll(std::move(home), std::move(name), how.options, *how.once);
    return home->acquire(std::move(name), how.options, how.once.has_value());
}

}  // namespace pawl::core
