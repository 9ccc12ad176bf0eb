#include "engine.hpp"

#include "chance.hpp"
#include "exhausted.hpp"
#include "guard.hpp"
#include "identity.hpp"
#include "permits.hpp"
#include "validate.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

namespace asio = boost::asio;

namespace pawl::core {

engine::engine(const asio::any_io_executor& on, client_options options, bool serial)
    : options_(std::move(options)),
      serial_(serial),
      outside_(on),
      strand_(serial ? on : asio::any_io_executor(asio::make_strand(on))),
      room_(options_.time != nullptr ? *options_.time : real_runtime(), strand_),
      closing_tick_(options_.time != nullptr ? *options_.time : real_runtime(), strand_) {
    if (options_.time == nullptr) options_.time = &real_runtime();
}

engine::ptr engine::make(const asio::any_io_executor& on, const service& where,
                         client_options options, bool serial) {
    try {
        ptr made(new engine(on, std::move(options), serial));
        made->prepare(where);
        made->registry_ = engine_registry::of(on);
        made->registry_->add(made);
        return made;
    } catch (const error&) {
        throw;
    } catch (const boost::system::system_error& failed) {
        throw exhausted("A client cannot be made", failed.what());
    } catch (const std::system_error& failed) {
        throw exhausted("A client cannot be made", failed.what());
    }
}

// All that the client needs of the system, so that no lock is asked for that could not be kept.
void engine::prepare(const service& where) {
    if (time().passes_by_itself()) guard::prepare();
    backend_context context;
    context.strand = strand_;
    context.time = options_.time;
    context.listener = this;
    context.who = who_am_i(options_.command);
    if (options_.pid != 0) context.who.pid = options_.pid;
    context.log = options_.log;
    count_ = context.count;
    backend_ = where.open(std::move(context));
    using leased = const std::shared_ptr<lease>&;
    keeper_ = std::make_unique<lease_keeper>(
        time(), strand_, *backend_, count_->renewals,
        lease_keeper::hooks{.on_loss = [this](leased lost) { tell_loss(lost); },
                            .on_orphan = [this](leased one) { end(one); },
                            .on_renewal = [this](leased one) { look_for_own_waiters(*one); }});
    keeper_->prepare();
    closing_tick_.prepare();
}

engine::~engine() {
    if (registry_) registry_->remove(*this);
}

error engine::not_in_time(const std::string& name) const {
    const auto why = backend_->absence();
    // What the service itself said is a sentence, which has its advice already.
    const auto rest = why.ends_with('.') ? "" : "; check that it runs there and the URL is right.";
    if (!why.empty())
        return {errc::unreachable,
                "The lock '" + name +
                    "' was not acquired in time, and the service is away: " + why + rest};
    return {errc::timed_out, "The lock '" + name +
                                 "' was not free in time; wait longer, or see who has it with "
                                 "`pawl status`."};
}

// Each attempt is another owner: what the service still has of an earlier one is not this one's.
asio::awaitable<std::optional<grant>> engine::ask_backend(claim& what, const lock_options& options,
                                                          time_point give_up_at) {
    auto away = absence_until(give_up_at);
    for (;;) {
        std::optional<error> trouble;
        refuse_fork();
        try {
            auto given = co_await backend_->acquire(what, give_up_at);
            refuse_fork();
            co_return given;
        } catch (const error& e) {
            trouble = e;
        }
        refuse_fork();
        co_await away.ride_out(*trouble);
        what = claim_of(what.name, options);
    }
}

asio::awaitable<taken> engine::acquire(std::string name, lock_options options, bool once) {
    check_name(name);
    check_options(options);
    check_mode(options, *backend_);
    refuse_closed();
    const auto began = time().now();
    const auto give_up_at = once ? began : plus(began, options.wait);
    auto what = claim_of(name, options);
    auto kept = place_for(what, options.max_hold);
    std::optional<grant> given;
    // Who may hold it beside others, or must not go before others, stands in line at the service.
    const bool alone = once || options.fair || options.mode != lock_mode::exclusive;
    if (alone) {
        const waiting_names::entry waits(waiting_, once ? std::string() : name);
        given = co_await ask_backend(what, options, give_up_at);
        if (!given && once) co_return taken{};
    } else {
        waiting_room::place mine(room_, name);
        bool first = mine.is_first();
        if (!first) first = co_await mine.until_first(give_up_at);
        if (first) given = co_await ask_backend(what, options, give_up_at);
    }
    if (!given) throw not_in_time(name);
    co_return keep(kept, std::move(what.owner), std::move(*given));
}

asio::awaitable<std::vector<taken>> engine::acquire_several(const std::vector<std::string>& names,
                                                            lock_options options,
                                                            time_point give_up_at) {
    refuse_closed();
    std::vector<claim> all;
    std::vector<lease_keeper::place> kept;
    std::vector<taken> mine;
    all.reserve(names.size());
    kept.reserve(names.size());
    mine.reserve(names.size());
    for (const auto& name : names) {
        all.push_back(claim_of(name, options));
        kept.push_back(place_for(all.back(), options.max_hold));
    }
    auto given = co_await backend_->acquire_several(all, give_up_at);
    refuse_fork();
    for (std::size_t i = 0; i < given.size(); ++i)
        mine.push_back(keep(kept[i], std::move(all[i].owner), std::move(given[i])));
    co_return mine;
}

asio::awaitable<taken> engine::acquire_as(std::string name, std::string value, lock_options options,
                                          bool adopting) {
    check_name(name);
    check_options(options);
    check_value(value, options, backend_->promised());
    refuse_closed();
    auto what = claim_of(std::move(name), options);
    what.value = std::move(value);
    auto kept = place_for(what, options.max_hold);
    std::optional<grant> given;
    if (adopting)
        given = co_await backend_->adopt(what);
    else
        given = co_await backend_->acquire(what, time().now());
    refuse_fork();
    if (!given) co_return taken{};
    co_return keep(kept, std::move(what.owner), std::move(*given));
}

void engine::refuse_closed() const {
    refuse_fork();
    if (closed_) throw error(errc::cancelled, "The client is closed; make a new one.");
}

void engine::refuse_fork() const {
    if (forked()) throw client_of_parent();
}

claim engine::claim_of(std::string name, const lock_options& options) const {
    return {.name = std::move(name),
            .owner = random_hex(time(), 16),
            .ttl = std::min<duration>(options.ttl, options.max_hold),
            .mode = options.mode,
            .fenced = options.fenced,
            .fair = options.fair,
            .permits = options.permits,
            .of = options.of};
}

// The end of the keeper's coroutine, also where Asio destroys it for want of memory: it is begun
// anew, at the latest by the next claim. Until then it is the guard that tells of losses.
class engine::keeping {
public:
    explicit keeping(ptr home) noexcept : home_(std::move(home)), number_(++home_->keepers_) {}
    keeping(keeping&& other) noexcept = default;
    keeping& operator=(keeping&&) = delete;
    ~keeping() {
        if (home_) (*this)(nullptr);
    }

    void operator()(const std::exception_ptr&) noexcept {
        const auto home = std::exchange(home_, nullptr);
        if (number_ != home->keepers_) return;
        home->keeping_ = false;
        if (home->starting_keeper_ || home->closed_ || !home->keeper_->first()) return;
        try {
            home->keep_going();
        } catch (...) {
            home->failed(std::current_exception());
        }
    }

private:
    ptr home_;
    std::uint8_t number_;
};

void engine::keep_going() {
    if (keeping_) return;
    auto running = keeper_->run(shared_from_this());
    keeping_ = starting_keeper_ = true;
    try {
        asio::co_spawn(strand_, std::move(running), keeping(shared_from_this()));
    } catch (...) {
        keeping_ = starting_keeper_ = false;
        throw;
    }
    starting_keeper_ = false;
}

// Also starts the keeper, which then only has to be told.
lease_keeper::place engine::place_for(claim what, duration max_hold) {
    keep_going();
    return {*keeper_,
            std::make_shared<lease>(shared_from_this(), time(), std::move(what), max_hold)};
}

// Every attempt may have had an owner of its own.
taken engine::keep(lease_keeper::place& kept, std::string owner, grant given) noexcept {
    ++count_->grants;
    if (!given.owner.empty()) owner = std::exchange(given.owner, {});
    return kept.keep(std::move(owner), std::move(given));
}

asio::awaitable<lock_info> engine::inspect(std::string name) {
    check_name(name);
    refuse_fork();
    auto found = co_await backend_->inspect(name);
    count_free(found);
    co_return found;
}

asio::awaitable<std::vector<lock_info>> engine::list(std::string prefix) {
    refuse_fork();
    auto found = co_await backend_->list(prefix);
    for (auto& each : found)
        count_free(each);
    co_return found;
}

asio::awaitable<bool> engine::force_release(std::string name) {
    check_name(name);
    refuse_fork();
    co_return co_await backend_->force_release(name);
}

asio::awaitable<bool> engine::resize(std::string name, std::uint32_t permits) {
    check_name(name);
    if (permits == 0)
        throw error(errc::bad_option, "A semaphore of 0 permits lets nobody in; use 1 or more.");
    check_mode({.mode = lock_mode::permits}, *backend_);
    refuse_fork();
    co_await backend_->resize(name, permits);
    co_return true;
}

asio::awaitable<void> engine::renew(std::shared_ptr<lease> one) {
    refuse_fork();
    co_await keeper_->renew_now(std::move(one));
}

asio::awaitable<void> engine::downgrade(std::shared_ptr<lease> one) {
    refuse_fork();
    const auto mode = one->what().claim.mode;
    if (mode == lock_mode::shared) {
        if (one->state() != lock_state::held && one->state() != lock_state::at_risk)
            throw ended(*one);
        co_return;
    }
    if (mode == lock_mode::permits)
        throw error(errc::bad_option,
                    "Permits cannot become a shared lock; only an exclusive "
                    "hold can.");
    if (!backend_->promised().downgrades)
        throw error(errc::unsupported,
                    "This service cannot downgrade a lock; release it and ask "
                    "for it shared.");
    co_await keeper_->downgrade(std::move(one));
}

asio::awaitable<examination> engine::examine() {
    refuse_fork();
    co_return co_await backend_->examine();
}

boost::system::error_code engine::failed(const std::exception_ptr& why) noexcept {
    boost::system::error_code code = make_error_code(errc::protocol);
    const char* sentence = "an unknown exception";
    try {
        std::rethrow_exception(why);
    } catch (const error& e) {
        code = e.code();
        sentence = e.what();
    } catch (const boost::system::system_error& e) {
        code = make_error_code(errc::exhausted);
        if (e.code() == asio::error::operation_aborted) code = e.code();
        sentence = e.what();
    } catch (const std::system_error& e) {
        code = make_error_code(errc::exhausted);
        sentence = e.what();
    } catch (const std::bad_alloc&) {
        code = make_error_code(errc::exhausted);
        sentence = "This program is out of memory.";
    } catch (const std::exception& e) {
        sentence = e.what();
    } catch (...) {}  // it has no words
    if (code == asio::error::operation_aborted)
        return closed_ ? boost::system::error_code(make_error_code(errc::cancelled)) : code;
    const std::lock_guard lock(failure_mutex_);
    try {
        last_failure_ = sentence;
    } catch (const std::bad_alloc&) {
        last_failure_.clear();
    }
    return code;
}

void engine::survived(const std::exception_ptr& why) noexcept {
    failed(why);
    say([this] { return "an exception left a handler of the event loop: " + last_failure(); });
}

// Without memory for it nothing is said.
void engine::say(const std::function<std::string()>& line) const noexcept {
    if (!options_.log) return;
    try {
        options_.log(line());
    } catch (...) {}
}

std::string engine::last_failure() const {
    const std::lock_guard lock(failure_mutex_);
    return last_failure_;
}

statistics engine::statistics() const noexcept {
    return {.requests = count_->requests.value(),
            .pushes = count_->pushes.value(),
            .connections = count_->connections.value(),
            .grants = count_->grants.value(),
            .hand_offs = count_->hand_offs.value(),
            .renewals = count_->renewals.value(),
            .losses = count_->losses.value()};
}

}  // namespace pawl::core
