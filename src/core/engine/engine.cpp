// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "engine.hpp"

#include "../lease/loss_watchdog.hpp"
#include "../store/permits.hpp"
#include "../util/exhausted.hpp"
#include "../util/inline_executor.hpp"
#include "validate.hpp"

#include <pawl/incomplete_list.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include <unistd.h>

#include <array>
#include <fstream>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

// A strand over the executor's own type. A strand over any_io_executor allocates memory for each
// query of a property.
asio::any_io_executor strand_over(const asio::any_io_executor& executor) {
    if (const auto* native = executor.target<asio::io_context::executor_type>())
        return asio::make_strand(*native);
    return asio::make_strand(executor);
}

// For `pawl status`; `command` overrides the program's name.
identity this_process(const std::string& command) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    identity process{host.data(), ::getpid(), command};
    if (process.command.empty()) {
        std::ifstream name("/proc/self/comm");
        std::getline(name, process.command);
    }
    return process;
}

}  // namespace

engine::engine(const asio::any_io_executor& executor, client_options options, bool is_serial)
    : options_(std::move(options)),
      completions_(executor, is_serial),
      strand_(is_serial ? executor : strand_over(executor)),
      inline_strand_(strand_),
      waiting_room_(options_.time != nullptr ? *options_.time : real_runtime(), strand_),
      closing_(options_.time != nullptr ? *options_.time : real_runtime(), strand_),
      releases_(*this, closing_, completions_) {
    if (options_.time == nullptr) options_.time = &real_runtime();
}

engine::ptr engine::make(const asio::any_io_executor& executor, const service& service,
                         client_options options, bool is_serial) {
    check_client_options(options);
    try {
        ptr created(new engine(executor, std::move(options), is_serial));
        created->prepare(service);
        created->registry_ = engine_registry::registry_of(executor);
        created->registry_->add(created);
        return created;
    } catch (const error&) {
        throw;
    } catch (const boost::system::system_error& failure) {
        throw exhausted("A client cannot be made", failure.what());
    } catch (const std::system_error& failure) {
        throw exhausted("A client cannot be made", failure.what());
    }
}

// Makes the threads and timers of the client first. Otherwise a lock could be granted that the
// client cannot keep.
void engine::prepare(const service& service) {
    if (time().is_real_time()) loss_watchdog::prepare();
    backend_context context;
    context.strand = strand_;
    context.time = options_.time;
    context.listener = this;
    context.process = this_process(options_.command);
    if (options_.pid != 0) context.process.pid = options_.pid;
    context.log = options_.log;
    context.try_limit = options_.try_limit;
    counters_ = context.counts;
    backend_ = service.open(std::move(context));
    if (backend_->resumes_on_strand())
        inline_strand_ = inline_executor(std::make_shared<const asio::any_io_executor>(strand_));
    using lease_ref = const std::shared_ptr<lease>&;
    keeper_ = std::make_unique<lease_keeper>(
        time(), strand_, *backend_, counters_->renewals,
        lease_keeper::hooks{
            .on_lease_lost = [this](lease_ref lease) { report_loss(lease); },
            .on_orphan = [this](lease_ref lease) { release_orphan(lease); },
            .on_renewal = [this](lease_ref lease) { warn_of_own_waiters(*lease); }});
    keeper_->prepare();
    closing_.prepare();
}

engine::~engine() {
    if (registry_) registry_->remove(*this);
}

asio::awaitable<std::vector<lease_handle>> engine::acquire_batch(
    const std::vector<std::string>& names, lock_options options, time_point give_up_at) {
    throw_if_closed();
    std::vector<claim> claims;
    std::vector<lease_keeper::reservation> reservations;
    std::vector<lease_handle> handles;
    claims.reserve(names.size());
    reservations.reserve(names.size());
    handles.reserve(names.size());
    for (const auto& name : names) {
        claims.push_back(make_claim(name, options));
        reservations.push_back(reserve_lease(claims.back(), options.max_hold));
    }
    auto grants = co_await live_backend().acquire_batch(claims, give_up_at);
    made_in_.throw_if_forked();
    for (std::size_t i = 0; i < grants.size(); ++i)
        handles.push_back(keep(reservations[i], std::move(grants[i])));
    if (options.durable != durability::primary && !handles.empty())
        co_await confirm_durability(handles, options.durable, give_up_at);
    co_return handles;
}

asio::awaitable<lease_handle> engine::acquire_as(std::string name, std::string value,
                                                 lock_options options, bool adopting) {
    check_name(name);
    check_options(options);
    check_value(value, options, backend_->capabilities());
    throw_if_closed();
    auto requested = make_claim(std::move(name), options);
    requested.value = std::move(value);
    auto reservation = reserve_lease(std::move(requested), options.max_hold);
    const auto& claim = reservation.requested();
    std::optional<grant> granted;
    if (adopting)
        granted = co_await live_backend().adopt(claim);
    else
        granted = co_await live_backend().acquire(claim, time().now());
    made_in_.throw_if_forked();
    if (!granted) co_return lease_handle{};
    auto handle = keep(reservation, std::move(*granted));
    if (options.durable != durability::primary)
        co_await confirm_durability({&handle, 1}, options.durable, time().now());
    co_return handle;
}

void engine::throw_if_closed() const {
    made_in_.throw_if_forked();
    if (closing_.has_reached(close_stage::closed))
        throw error(errc::cancelled, "The client is closed; make a new one.");
}

backend& engine::live_backend() const {
    made_in_.throw_if_forked();
    return *backend_;
}

// Handles the end of the keeper's coroutine, also if Asio destroys the coroutine because there is
// no memory. The coroutine is started again, by the next acquire at the latest. Until then the
// watchdog reports losses.
class engine::keeper_run {
public:
    explicit keeper_run(ptr engine) noexcept
        : engine_(std::move(engine)), number_(++engine_->keeper_number_) {}
    keeper_run(keeper_run&& other) noexcept = default;
    keeper_run& operator=(keeper_run&&) = delete;
    ~keeper_run() {
        if (engine_) (*this)(nullptr);
    }

    void operator()(const std::exception_ptr&) noexcept {
        const auto engine = std::exchange(engine_, nullptr);
        if (number_ != engine->keeper_number_) return;
        engine->is_keeper_running_ = false;
        if (engine->is_keeper_starting_ || engine->closing_.has_reached(close_stage::closed) ||
            !engine->keeper_->first())
            return;
        try {
            engine->start_keeper();
        } catch (...) {
            engine->log_failure("the renewals cannot begin", std::current_exception());
        }
    }

private:
    ptr engine_;
    std::uint8_t number_;
};

void engine::start_keeper() {
    if (is_keeper_running_) return;
    auto coroutine = keeper_->run(shared_from_this());
    is_keeper_running_ = is_keeper_starting_ = true;
    try {
        asio::co_spawn(strand_, std::move(coroutine), keeper_run(shared_from_this()));
    } catch (...) {
        is_keeper_running_ = is_keeper_starting_ = false;
        throw;
    }
    is_keeper_starting_ = false;
}

// Also starts the keeper.
lease_keeper::reservation engine::reserve_lease(claim requested, duration max_hold) {
    start_keeper();
    return {*keeper_,
            std::make_shared<lease>(shared_from_this(), time(), std::move(requested), max_hold)};
}

lease_handle engine::keep(lease_keeper::reservation& reservation, grant&& granted) noexcept {
    ++counters_->grants;
    return reservation.keep(std::move(granted));
}

asio::awaitable<lock_info> engine::inspect(std::string name) {
    check_name(name);
    throw_if_closed();
    auto info = co_await live_backend().inspect(name);
    set_free_permits(info);
    co_return info;
}

asio::awaitable<std::vector<lock_info>> engine::list(std::string prefix) {
    throw_if_closed();
    const auto complete = [](std::vector<lock_info> infos) {
        for (auto& each : infos)
            set_free_permits(each);
        return infos;
    };
    try {
        co_return complete(co_await live_backend().list(prefix));
    } catch (const incomplete_list& partial) {
        throw incomplete_list(partial.reason(), partial.what(), complete(partial.locks()));
    }
}

asio::awaitable<bool> engine::force_release(std::string name, fencing_token expected) {
    check_name(name);
    throw_if_closed();
    co_return co_await live_backend().force_release(name, expected);
}

asio::awaitable<bool> engine::resize(std::string name, std::uint32_t permits) {
    check_name(name);
    if (permits == 0)
        throw error(errc::bad_option, "The total of a semaphore is 0; it must be 1 or more.");
    check_mode({.mode = lock_mode::permits}, *backend_);
    throw_if_closed();
    co_await live_backend().resize(name, permits);
    co_return true;
}

asio::awaitable<void> engine::renew(std::shared_ptr<lease> lease) {
    made_in_.throw_if_forked();
    co_await keeper_->renew_now(std::move(lease));
}

asio::awaitable<void> engine::downgrade(std::shared_ptr<lease> lease) {
    made_in_.throw_if_forked();
    const auto mode = lease->granted_hold().claim.mode;
    if (mode == lock_mode::shared) {
        if (lease->state() != lock_state::held && lease->state() != lock_state::at_risk)
            throw hold_ended(*lease);
        co_return;
    }
    if (mode == lock_mode::permits)
        throw error(errc::bad_option,
                    "A hold of permits cannot become a shared one; only an exclusive hold can.");
    if (!backend_->capabilities().downgrades)
        throw error(errc::unsupported,
                    "This service cannot downgrade a lock; release it and acquire it shared.");
    co_await keeper_->downgrade(std::move(lease));
}

asio::awaitable<examination> engine::examine() {
    throw_if_closed();
    co_return co_await live_backend().examine();
}

detail::outcome engine::outcome_of(const std::exception_ptr& exception) const noexcept {
    detail::outcome ended;
    const auto set = [&ended](const boost::system::error_code& code, const char* message) {
        ended.code = code;
        ended.message = message;
    };
    const auto exhausted = make_error_code(errc::exhausted);
    const auto unknown = make_error_code(errc::protocol);
    try {
        try {
            std::rethrow_exception(exception);
        } catch (const error& e) {
            set(e.code(), e.what());
        } catch (const boost::system::system_error& e) {
            if (e.code() != asio::error::operation_aborted)
                set(exhausted, e.what());
            else if (closing_.has_reached(close_stage::closed))
                set(make_error_code(errc::cancelled), "The client was closed; make a new one.");
            else
                set(e.code(), "The operation was cancelled.");
        } catch (const std::system_error& e) {
            set(exhausted, e.what());
        } catch (const std::bad_alloc&) {
            set(exhausted, "This program is out of memory.");
        } catch (const std::exception& e) {
            set(unknown, e.what());
        } catch (...) {
            set(unknown, "An unknown exception was thrown.");
        }
    } catch (const std::bad_alloc&) {}  // the message is lost
    return ended;
}

void engine::log_failure(const char* event, const std::exception_ptr& exception) const noexcept {
    if (is_forked()) return;
    // By reference: std::function would allocate memory for the captures, which this cannot afford.
    const auto line = [&] { return event + (": " + outcome_of(exception).message); };
    log(std::cref(line));
}

// Without memory, no line is written.
void engine::log(const std::function<std::string()>& line) const noexcept {
    if (!options_.log) return;
    try {
        options_.log(line());
    } catch (...) {}
}

statistics engine::statistics() const noexcept {
    return {.requests = counters_->requests.value(),
            .pushes = counters_->pushes.value(),
            .connections = counters_->connections.value(),
            .grants = counters_->grants.value(),
            .hand_offs = counters_->hand_offs.value(),
            .renewals = counters_->renewals.value(),
            .losses = counters_->losses.value(),
            .late_releases = counters_->late_releases.value()};
}

}  // namespace pawl::core
