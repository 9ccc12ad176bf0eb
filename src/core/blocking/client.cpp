// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/blocking/client.hpp>

#include "../util/exhausted.hpp"
#include "acquire.hpp"

#include <boost/asio/detached.hpp>
#include <boost/system/system_error.hpp>

namespace asio = boost::asio;

namespace pawl::blocking {
using core::engine;

void rethrow(const std::shared_ptr<engine>& engine, const std::exception_ptr& exception) {
    const auto ended = engine->outcome_of(exception);
    if (ended.code == asio::error::operation_aborted)
        throw error(errc::cancelled, "The wait was cancelled.");
    if (ended.code == make_error_code(errc::cancelled)) throw error(errc::cancelled, ended.message);
    try {
        std::rethrow_exception(exception);
    } catch (const error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw core::exhausted("The request cannot be carried out", "out of memory");
    } catch (const std::exception& failure) {
        const std::string message = "The request cannot be carried out";
        const bool is_system_error =
            dynamic_cast<const std::system_error*>(&failure) != nullptr ||
            dynamic_cast<const boost::system::system_error*>(&failure) != nullptr;
        if (is_system_error) throw core::exhausted(message, failure.what());
        throw error(errc::protocol, message + " (" + failure.what() + ").");
    } catch (...) {
        throw error(errc::protocol, "The request cannot be carried out (an unknown exception).");
    }
}

namespace {

// Runs an operation on a hold. It is not cancelled: the answer must not be missed.
void run_on_hold(const std::shared_ptr<loop>& loop, const std::shared_ptr<core::lease>& lease,
                 asio::awaitable<void> (engine::*operation)(std::shared_ptr<core::lease>)) {
    loop->throw_if_forked();
    if (loop->is_stopped())
        throw error(
            errc::lost,
            "The client of this lock was destroyed, which released the lock; use a new client.");
    loop::call call(*loop);
    std::exception_ptr failure;
    auto coroutine = ((*loop->engine).*operation)(lease);
    call_completion completion(call, failure, nullptr);
    run_coroutine(call, *loop->engine, std::move(coroutine), std::move(completion));
    if (failure) rethrow(loop->engine, failure);
}

}  // namespace

void renew(const std::shared_ptr<loop>& loop, const std::shared_ptr<core::lease>& lease) {
    run_on_hold(loop, lease, &engine::renew);
}

void downgrade(const std::shared_ptr<loop>& loop, const std::shared_ptr<core::lease>& lease) {
    run_on_hold(loop, lease, &engine::downgrade);
}

held_lock& held_lock::operator=(held_lock&& other) noexcept {
    if (this != &other) {
        const held_lock old(std::move(*this));
        loop_ = std::move(other.loop_);
        held_lock_base::operator=(std::move(other));
    }
    return *this;
}

held_lock::~held_lock() {
    if (!lease_) return;
    if (!lease_->is_forked() && !lease_->is_released() && !loop_->is_stopped()) {
        core::release_handle({std::move(lease_), number_});
        loop_->run_ready();  // sends the release now
    }
    lease_.reset();  // the lease must end before the loop
}

release_result held_lock::release() {
    if (lease()->is_forked()) return release_result::unknown;
    // The client's destructor has released the lock, and the loop has ended.
    if (loop_->is_stopped()) return lease_->release_outcome.value_or(release_result::unknown);
    try {
        auto result = release_result::unknown;
        loop::call call(*loop_);
        // The handler is created before the call, so that std::bad_alloc is thrown here.
        core::lease::release_handler handler([&result, &call](release_result outcome) {
            result = outcome;
            call.complete();
        });
        call.run([&released = lease_, number = number_, &handler] {
            released->owning_engine()->release({released, number}, std::move(handler));
        });
        return result;
    } catch (...) {
        return release_result::unknown;
    }
}

void held_lock::renew() { blocking::renew(loop_, lease()); }

void held_lock::downgrade() { blocking::downgrade(loop_, lease()); }

release_result held_locks::release() {
    throw_if_empty();
    auto result = release_result::released;
    for (auto each = handles.rbegin(); each != handles.rend(); ++each)
        result = detail::worse(result, each->release());
    return result;
}

void held_locks::renew() {
    throw_if_empty();
    for (held_lock& each : handles)
        each.renew();
}

client::client(service service, client_options options) : loop_(std::make_shared<loop>()) {
    // One thread at a time drives the loop.
    loop_->set_engine(
        engine::make(loop_->context().get_executor(), service, std::move(options), true));
}

client::~client() {
    if (!loop_) return;
    if (loop_->is_forked()) {
        // In a fork, the loop's thread exists only in the parent. The child must not touch the
        // loop, not even to free it, so the reference is leaked.
        new std::shared_ptr<loop>(std::move(loop_));
        return;
    }
    try {
        loop::call call(*loop_);
        call.run([this, &call] {
            try {
                loop_->engine->close([&call] { call.complete(); });
            } catch (...) {
                call.complete();
            }
        });
    } catch (...) {}
    // Without memory for the releases, the holds end with their leases.
    loop_->stop();
}

held_lock client::try_acquire(std::string_view name, try_options options, std::stop_token cancel) {
    return run_acquire(loop_, loop_->engine->acquire(std::string(name), core::to_request(options)),
                       cancel);
}

held_lock client::acquire(std::string_view name, lock_options options, std::stop_token cancel) {
    return run_acquire(loop_, loop_->engine->acquire(std::string(name), core::request(options)),
                       cancel);
}

held_lock client::try_acquire_for(std::string_view name, duration wait, lock_options options,
                                  std::stop_token cancel) {
    return run_acquire(
        loop_, core::try_acquire_for(loop_->engine, {}, std::string(name), wait, options), cancel);
}

held_lock client::acquire_as(std::string_view name, std::string_view value, lock_options options,
                             std::stop_token cancel) {
    core::request request(options, {}, std::string(value));
    return run_acquire(loop_, loop_->engine->acquire(std::string(name), std::move(request)),
                       cancel);
}

held_lock client::try_acquire_as(std::string_view name, std::string_view value, try_options options,
                                 std::stop_token cancel) {
    core::request request(detail::to_lock_options(options), options.retry, std::string(value));
    return run_acquire(loop_, loop_->engine->acquire(std::string(name), std::move(request)),
                       cancel);
}

held_lock client::adopt(std::string_view name, std::string_view value, try_options options,
                        std::stop_token cancel) {
    core::request request(detail::to_lock_options(options), options.retry, std::string(value),
                          true);
    return run_acquire(loop_, loop_->engine->acquire(std::string(name), std::move(request)),
                       cancel);
}

held_locks client::acquire_all(std::vector<std::string> names, lock_options options,
                               std::stop_token cancel) {
    return run_acquire(
        loop_, core::acquire_all(loop_->engine, {}, std::move(names), core::request(options)),
        cancel);
}

held_locks client::try_acquire_all(std::vector<std::string> names, try_options options,
                                   std::stop_token cancel) {
    return run_acquire(
        loop_, core::acquire_all(loop_->engine, {}, std::move(names), core::to_request(options)),
        cancel);
}

lock_info client::inspect(std::string_view name) {
    return run_blocking(*loop_, loop_->engine->inspect(std::string(name)));
}

lock_info client::wait_change(std::string_view name, fencing_token seen, duration interval,
                              std::stop_token cancel) {
    return run_blocking(*loop_, core::wait_change(loop_->engine, std::string(name), seen, interval),
                        cancel);
}

std::vector<lock_info> client::list(std::string_view prefix) {
    return run_blocking(*loop_, loop_->engine->list(std::string(prefix)));
}

bool client::force_release(std::string_view name, fencing_token expected) {
    return run_blocking(*loop_, loop_->engine->force_release(std::string(name), expected));
}

void client::resize(std::string_view name, std::uint32_t permits) {
    (void)run_blocking(*loop_, loop_->engine->resize(std::string(name), permits));
}

examination client::examine() { return run_blocking(*loop_, loop_->engine->examine()); }

statistics client::statistics() const noexcept { return loop_->engine->statistics(); }

lock_owner::lock_owner(client& locks)
    : loop_(access::loop_of(locks)),
      owner_(std::make_shared<core::lock_owner_state>(*loop_->engine)) {}

held_lock lock_owner::try_acquire(std::string_view name, try_options options,
                                  std::stop_token cancel) {
    return run_acquire(loop_,
                       loop_->engine->acquire(std::string(name), core::to_request(options), owner_),
                       cancel);
}

held_lock lock_owner::acquire(std::string_view name, lock_options options, std::stop_token cancel) {
    return run_acquire(
        loop_, loop_->engine->acquire(std::string(name), core::request(options), owner_), cancel);
}

held_lock lock_owner::try_acquire_for(std::string_view name, duration wait, lock_options options,
                                      std::stop_token cancel) {
    return run_acquire(
        loop_, core::try_acquire_for(loop_->engine, owner_, std::string(name), wait, options),
        cancel);
}

held_locks lock_owner::acquire_all(std::vector<std::string> names, lock_options options,
                                   std::stop_token cancel) {
    return run_acquire(
        loop_, core::acquire_all(loop_->engine, owner_, std::move(names), core::request(options)),
        cancel);
}

held_locks lock_owner::try_acquire_all(std::vector<std::string> names, try_options options,
                                       std::stop_token cancel) {
    return run_acquire(
        loop_,
        core::acquire_all(loop_->engine, owner_, std::move(names), core::to_request(options)),
        cancel);
}

}  // namespace pawl::blocking
