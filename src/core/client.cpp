#include <pawl/client.hpp>

#include "asking.hpp"
#include "ways.hpp"

namespace asio = boost::asio;
using boost::system::error_code;

namespace pawl {
namespace {

using core::ask;
using core::connect;
using core::end_operation;
using core::engine;
using core::finish;
using engine_ptr = std::shared_ptr<engine>;

asio::awaitable<void> acquire(engine_ptr home, std::shared_ptr<engine::operation> operation,
                              std::shared_ptr<core::owner> who, std::string name, core::request how,
                              client::lock_handler done) {
    core::owed_answer<client::lock_handler, held_lock> owed(home, std::move(done));
    error_code ec;
    core::taken mine;
    try {
        operation->begin();
        operation.reset();
        mine = co_await core::take(home, std::move(who), std::move(name), how);
    } catch (...) {
        ec = home->failed(std::current_exception());
    }
    finish(home, owed.take(), ec, held_lock(std::move(mine.what), mine.handle));
}

asio::awaitable<held_lock> one_of(engine_ptr home, std::string name, core::request how) {
    auto mine = co_await core::take(home, nullptr, std::move(name), std::move(how));
    co_return held_lock(std::move(mine.what), mine.handle);
}

asio::awaitable<held_locks> all_of(engine_ptr home, std::shared_ptr<core::owner> who,
                                   std::vector<std::string> names, core::request how) {
    auto mine = co_await core::take_all(home, std::move(who), std::move(names), std::move(how));
    std::vector<held_lock> locks;
    for (auto& each : mine)
        locks.emplace_back(std::move(each.what), each.handle);
    co_return locks.empty() ? held_locks() : held_locks(std::move(locks));
}

}  // namespace

client::client(asio::any_io_executor on, service where)
    : engine_(engine::make(on, where, client_options())) {}

client::client(asio::any_io_executor on, service where, const client_options& options)
    : engine_(engine::make(on, where, options)) {}

client::~client() {
    if (!engine_) return;
    try {
        engine_->close({});
    } catch (...) {}  // without memory to close it: what is held ends with its handles
}

std::string client::last_failure() const { return engine_->last_failure(); }

statistics client::statistics() const noexcept { return engine_->statistics(); }

asio::any_io_executor client::executor_of(const engine& home) noexcept { return home.outside(); }

std::shared_ptr<core::owner> client::make_owner(const core::engine& home) {
    return std::make_shared<core::owner>(home);
}

void client::start_acquire(lock_handler done, engine_ptr home, owner_ptr who, std::string name,
                           lock_options options, std::optional<polling> once) {
    auto operation = connect(home, done);
    const auto slot = operation->slot();
    asio::co_spawn(
        home->strand(),
        acquire(home, operation, std::move(who), std::move(name), {options, once}, std::move(done)),
        asio::bind_cancellation_slot(slot, end_operation{operation}));
}

void client::start_acquire_as(lock_handler done, engine_ptr home, std::string name, chosen value,
                              lock_options options, std::optional<polling> once) {
    core::request how{options, once, std::move(value.value), value.adopting};
    ask(home, one_of(home, std::move(name), std::move(how)), std::move(done));
}

void client::start_acquire_all(answer_handler<held_locks> done, engine_ptr home, owner_ptr who,
                               std::vector<std::string> names, lock_options options,
                               std::optional<polling> once) {
    ask(home, all_of(home, std::move(who), std::move(names), {options, once}), std::move(done));
}

void client::start_inspect(answer_handler<lock_info> done, engine_ptr home, std::string name) {
    ask(home, home->inspect(std::move(name)), std::move(done));
}

void client::start_wait_change(answer_handler<lock_info> done, engine_ptr home, std::string name,
                               fencing_token seen, duration interval) {
    ask(home, core::wait_change(home, std::move(name), seen, interval), std::move(done));
}

void client::start_list(answer_handler<std::vector<lock_info>> done, engine_ptr home,
                        std::string prefix) {
    ask(home, home->list(std::move(prefix)), std::move(done));
}

void client::start_force_release(answer_handler<bool> done, engine_ptr home, std::string name) {
    ask(home, home->force_release(std::move(name)), std::move(done));
}

void client::start_resize(held_lock::question_handler done, engine_ptr home, std::string name,
                          std::uint32_t permits) {
    ask(home, home->resize(std::move(name), permits), std::move(done));
}

void client::start_close(asio::any_completion_handler<void()> done, engine_ptr home) {
    const auto at = home->outside();
    home->close([at, done = std::move(done)]() mutable { asio::post(at, std::move(done)); });
}

void client::start_examine(answer_handler<examination> done, engine_ptr home) {
    ask(home, home->examine(), std::move(done));
}

}  // namespace pawl
