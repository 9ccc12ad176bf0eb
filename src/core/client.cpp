#include <pawl/client.hpp>

#include "ways.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

namespace asio = boost::asio;
using boost::system::error_code;

namespace pawl {
namespace {

using core::engine;
using engine_ptr = std::shared_ptr<engine>;

// The handler's cancellation slot cancels the operation on the strand. The slot stays as it is
// afterwards: only its own thread may touch it, and by then the operation is gone.
template <class Handler>
std::shared_ptr<engine::operation> connect(const engine_ptr& home, Handler& done) {
    auto operation = std::make_shared<engine::operation>(home);
    auto slot = asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
        slot.assign([home, weak = std::weak_ptr(operation)](asio::cancellation_type) {
            asio::post(home->strand(), [weak] {
                if (const auto alive = weak.lock()) alive->cancel();
            });
        });
    }
    return operation;
}

// The caller's code runs on the caller's executor, never inside our strand.
template <class Handler, class Answer>
void finish(const engine_ptr& home, Handler done, error_code ec, Answer answer) {
    asio::post(home->outside(), asio::append(std::move(done), ec, std::move(answer)));
}

asio::awaitable<void> acquire(engine_ptr home, std::shared_ptr<engine::operation> operation,
                              std::shared_ptr<core::owner> who, std::string name, core::request how,
                              client::lock_handler done) {
    error_code ec;
    core::taken mine;
    try {
        operation->begin();
        operation.reset();
        mine = co_await core::take(home, std::move(who), std::move(name), how);
    } catch (...) {
        ec = home->failed(std::current_exception());
    }
    finish(home, std::move(done), ec, held_lock(std::move(mine.what), mine.handle));
}

// Of a question whose answer is that it was carried out.
void finish(const engine_ptr& home, held_lock::question_handler done, error_code ec, bool) {
    asio::post(home->outside(), asio::append(std::move(done), ec));
}

template <class Answer, class Handler>
asio::awaitable<void> answer(engine_ptr home, std::shared_ptr<engine::operation> operation,
                             asio::awaitable<Answer> question, Handler done) {
    error_code ec;
    Answer found{};
    try {
        operation->begin();
        operation.reset();
        found = co_await std::move(question);
    } catch (...) {
        ec = home->failed(std::current_exception());
    }
    finish(home, std::move(done), ec, std::move(found));
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

// Asio touches the slot until this is called: the operation, which has the slot, must live until
// then.
struct end_operation {
    std::shared_ptr<engine::operation> operation;
    void operator()(const std::exception_ptr&) const { operation->end(); }
};

template <class Answer, class Handler>
void ask(const engine_ptr& home, asio::awaitable<Answer> question, Handler done) {
    auto operation = connect(home, done);
    const auto slot = operation->slot();
    asio::co_spawn(home->strand(), answer(home, operation, std::move(question), std::move(done)),
                   asio::bind_cancellation_slot(slot, end_operation{operation}));
}

}  // namespace

client::client(asio::any_io_executor on, service where, client_options options)
    : engine_(engine::make(on, where, std::move(options))) {}

client::~client() {
    if (engine_) engine_->close({});
}

std::string client::last_failure() const { return engine_->last_failure(); }

statistics client::statistics() const noexcept { return engine_->statistics(); }

asio::any_io_executor client::executor_of(const engine& home) noexcept { return home.outside(); }

std::shared_ptr<core::owner> client::make_owner(const core::engine& home) {
    return std::make_shared<core::owner>(home);
}

void client::start_acquire(engine_ptr home, std::shared_ptr<core::owner> who, std::string name,
                           lock_options options, std::optional<polling> once, lock_handler done) {
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

void client::start_examine(answer_handler<examination> done, engine_ptr home) {
    ask(home, home->examine(), std::move(done));
}

}  // namespace pawl
