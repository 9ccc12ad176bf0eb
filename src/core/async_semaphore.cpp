#include <pawl/semaphore.hpp>

#include "asking.hpp"
#include "semaphore.hpp"

namespace asio = boost::asio;

namespace pawl {
namespace {

using engine_ptr = std::shared_ptr<core::engine>;

asio::awaitable<held_lock> take(engine_ptr home, std::shared_ptr<core::permit_count> count,
                                std::string name, lock_options options, bool once) {
    auto mine = co_await core::take_permits(home, std::move(count), std::move(name), options, once);
    co_return held_lock(std::move(mine.what), mine.handle);
}

}  // namespace

semaphore::count_ptr semaphore::make_count(std::uint32_t permits) {
    return std::make_shared<core::permit_count>(core::permit_count{.all = permits});
}

void semaphore::start_acquire(client::lock_handler done, engine_ptr home, count_ptr count,
                              std::string name, lock_options options, bool once) {
    core::ask(home, take(home, std::move(count), std::move(name), options, once), std::move(done));
}

void semaphore::start_resize(held_lock::question_handler done, engine_ptr home, count_ptr count,
                             std::string name, std::uint32_t permits) {
    core::ask(home, core::resize(home, std::move(count), std::move(name), permits),
              std::move(done));
}

}  // namespace pawl
