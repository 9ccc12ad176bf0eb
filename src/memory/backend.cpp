// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latches.hpp"
#include "lock_store.hpp"

#include "core/util/fork_mark.hpp"

#include <pawl/error.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::memory {
namespace {

// Leaves the queue when it goes out of scope, also by an exception or the end of the event loop.
class acquire_attempt {
public:
    acquire_attempt(lock_store& store, const claim& requested,
                    const std::shared_ptr<session>& client)
        : store_(store), waiter_(std::make_shared<lock_store::queued_waiter>(requested, client)) {}
    ~acquire_attempt() { store_.leave(waiter_, keeps_grant_); }
    acquire_attempt(const acquire_attempt&) = delete;
    acquire_attempt& operator=(const acquire_attempt&) = delete;

    const std::shared_ptr<lock_store::queued_waiter>& operator*() const noexcept { return waiter_; }
    void keep_grant() noexcept { keeps_grant_ = true; }

private:
    lock_store& store_;
    std::shared_ptr<lock_store::queued_waiter> waiter_;
    bool keeps_grant_ = false;
};

class memory_backend final : public backend {
public:
    memory_backend(std::shared_ptr<lock_store> locks,
                   const std::shared_ptr<latch_store>& latches_of_service, backend_context context)
        : store_(std::move(locks)),
          client_(std::make_shared<session>(session{std::move(context.strand), context.time,
                                                    context.listener, std::move(context.process),
                                                    std::move(context.counts)})),
          latches_(latches_of_service, client_) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        throw_if_forked();
        // The coroutine's frame may be destroyed after this backend, together with the event loop.
        const auto store = store_;
        const auto client = client_;
        ++client->request_counters->requests;
        if (auto granted = store->try_acquire(requested, client);
            granted || give_up_at <= client->time->now())
            co_return granted;
        acquire_attempt attempt(*store, requested, client);
        auto waiting = store->join(*attempt);
        while (!waiting.granted && client->time->now() < give_up_at) {
            co_await (*attempt)->wakeup.wait_until(std::min(give_up_at, waiting.refresh_at));
            waiting = store->refresh(*attempt);
            ++(waiting.granted ? client->request_counters->pushes
                               : client->request_counters->requests);
        }
        if (waiting.granted) {
            attempt.keep_grant();
            ++client->request_counters->hand_offs;
        }
        co_return waiting.granted;
    }

    asio::awaitable<void> renew(renewal_batch& batch) override {
        if (is_forked()) co_return;
        ++client_->request_counters->requests;
        for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
            const auto& requested = batch.renewals()[i];
            const auto renewed_at = now();
            const bool is_held = store_->renew(requested.held->claim, requested.ttl, renewed_at);
            batch.settle(i, is_held ? renewal::outcome::extended : renewal::outcome::refused,
                         renewed_at + requested.ttl - drift(requested.ttl));
        }
    }

    asio::awaitable<release_result> release(const hold& requested) override {
        if (is_forked()) co_return release_result::unknown;
        ++client_->request_counters->requests;
        co_return store_->release(requested.claim, now());
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        throw_if_forked();
        ++client_->request_counters->requests;
        co_return store_->inspect(name, now());
    }

    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        throw_if_forked();
        ++client_->request_counters->requests;
        co_return store_->list(prefix, now());
    }

    asio::awaitable<std::optional<grant>> downgrade(const hold& requested) override {
        throw_if_forked();
        ++client_->request_counters->requests;
        co_return store_->downgrade(requested.claim, now());
    }

    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        throw_if_forked();
        ++client_->request_counters->requests;
        store_->resize(name, permits, now());
        co_return;
    }

    asio::awaitable<bool> force_release(std::string_view name) override {
        throw_if_forked();
        ++client_->request_counters->requests;
        co_return store_->force_release(name, now());
    }

    asio::awaitable<examination> examine() override {
        throw_if_forked();
        examination report;
        report.findings.push_back(
            {finding::grade::note, "where", "in the memory of this process",
             "use a service that other processes can reach for anything but tests"});
        auto& guarantees = report.guarantees;
        guarantees.backend = "memory";
        guarantees.holder_crash = "holds: every lock ends with the process";
        guarantees.holder_pause = "holds for holders that stop when told";
        guarantees.server_crash = guarantees.failover = guarantees.partition = "does not apply";
        guarantees.clock_jump = "holds (boot clock)";
        guarantees.token = "never goes back in one process";
        co_return report;
    }

    asio::awaitable<void> close(time_point) override { co_return; }

    pawl::latches* latches() noexcept override { return &latches_; }

    bool resumes_on_strand() const noexcept override { return true; }
    pawl::capabilities capabilities() const noexcept override {
        pawl::capabilities supported;
        supported.tokens_survive_data_loss = supported.across_processes = supported.across_hosts =
            false;
        supported.loss_is_pushed = true;
        supported.shared = supported.permits = supported.strictly_fair = supported.downgrades =
            true;
        supported.latches = supported.barriers = true;
        return supported;
    }

private:
    time_point now() const noexcept { return client_->time->now(); }
    bool is_forked() const noexcept { return made_in_.is_forked(); }
    void throw_if_forked() const {
        if (is_forked())
            throw error(
                errc::unsupported,
                "This process is a fork, and the locks in memory belong to its parent; make a new "
                "client here.");
    }

    std::shared_ptr<lock_store> store_;
    std::shared_ptr<session> client_;
    memory_latches latches_;
    const core::fork_mark made_in_;
};

class memory_service final : public service::definition {
public:
    explicit memory_service(std::string name) : name_(std::move(name)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        return std::make_unique<memory_backend>(locks_, latches_, std::move(context));
    }
    std::string describe() const override { return "memory:" + name_; }

private:
    std::string name_;
    std::shared_ptr<lock_store> locks_ = std::make_shared<lock_store>();
    std::shared_ptr<latch_store> latches_ = std::make_shared<latch_store>();
};

}  // namespace

service make() { return service(std::make_shared<memory_service>("")); }

service named(const std::string& name) {
    static std::mutex mutex;
    static std::map<std::string, service> services;
    const std::lock_guard lock(mutex);
    const auto position = services.find(name);
    if (position != services.end()) return position->second;
    return services.emplace(name, service(std::make_shared<memory_service>(name))).first->second;
}

}  // namespace pawl::memory
