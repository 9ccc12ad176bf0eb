// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "service.hpp"

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
    memory_backend(const memory_service::state& service, backend_context context)
        : store_(service.locks),
          gate_(service.gate),
          client_(std::make_shared<session>(std::move(context))),
          latches_(service.latches, gate_, client_) {}
    memory_backend(const memory_backend&) = delete;
    memory_backend& operator=(const memory_backend&) = delete;
    ~memory_backend() override { client_->end(); }

    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto sent_at = begin_request();
        // As with a server: an attempt that does not wait has its own limit.
        const bool is_waiting = give_up_at > sent_at;
        if (gate_) co_await pass_gate(is_waiting ? give_up_at : sent_at + client_->try_limit);
        auto granted = store_->try_acquire(requested, client_);
        if (granted) granted->deadline = sent_at + requested.ttl - drift(requested.ttl);
        if (granted || give_up_at <= now()) co_return granted;
        acquire_attempt attempt(*store_, requested, client_);
        auto waiting = store_->join(*attempt);
        while (!waiting.granted && now() < give_up_at) {
            co_await (*attempt)->wakeup.wait_until(std::min(give_up_at, waiting.refresh_at));
            if (gate_) co_await pass_gate(give_up_at);
            waiting = store_->refresh(*attempt);
            ++(waiting.granted ? client_->request_counters->pushes
                               : client_->request_counters->requests);
        }
        if (waiting.granted) {
            attempt.keep_grant();
            ++client_->request_counters->hand_offs;
        }
        co_return waiting.granted;
    }

    asio::awaitable<void> renew(renewal_batch& batch) override {
        if (is_forked()) co_return;
        const auto sent_at = begin_request();
        try {
            if (gate_) co_await pass_gate();
        } catch (const error&) {
            co_return;
        }
        for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
            const auto& requested = batch.renewals()[i];
            const bool is_held = store_->renew(requested.held->claim, requested.ttl, *client_);
            batch.settle(i, is_held ? renewal::outcome::extended : renewal::outcome::refused,
                         sent_at + requested.ttl - drift(requested.ttl));
        }
    }

    asio::awaitable<release_result> release(const hold& requested) override {
        if (is_forked()) co_return release_result::unknown;
        begin_request();
        if (gate_) co_await pass_gate();
        co_return store_->release(requested.claim, *client_);
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        begin_request();
        if (gate_) co_await pass_gate();
        co_return store_->inspect(name, *client_);
    }

    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        begin_request();
        if (gate_) co_await pass_gate();
        co_return store_->list(prefix, *client_);
    }

    asio::awaitable<std::optional<grant>> downgrade(const hold& requested) override {
        const auto sent_at = begin_request();
        if (gate_) co_await pass_gate();
        auto shared = store_->downgrade(requested.claim, *client_);
        if (shared) shared->deadline = sent_at + requested.claim.ttl - drift(requested.claim.ttl);
        co_return shared;
    }

    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        begin_request();
        if (gate_) co_await pass_gate();
        store_->resize(name, permits, *client_);
    }

    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        begin_request();
        if (gate_) co_await pass_gate();
        co_return store_->force_release(name, expected, *client_);
    }

    asio::awaitable<examination> examine() override {
        throw_if_forked();
        if (gate_) co_await pass_gate();
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

    std::string unreachable_reason(std::string_view) const override {
        return gate_ ? gate_->unreachable_reason() : std::string();
    }
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
    // A lease counts from this time.
    time_point begin_request() const {
        throw_if_forked();
        ++client_->request_counters->requests;
        return now();
    }
    asio::awaitable<void> pass_gate(time_point give_up_at = time_point::max()) const {
        return gate_->pass(client_, give_up_at);
    }
    bool is_forked() const noexcept { return made_in_.is_forked(); }
    void throw_if_forked() const {
        if (is_forked())
            throw error(
                errc::unsupported,
                "This process is a fork, and the locks in memory belong to its parent; make a new "
                "client here.");
    }

    const std::shared_ptr<lock_store> store_;
    const std::shared_ptr<request_gate> gate_;  // null: no faults
    const std::shared_ptr<session> client_;
    memory_latches latches_;
    const core::fork_mark made_in_;
};

}  // namespace

std::unique_ptr<backend> memory_service::open(backend_context context) const {
    return std::make_unique<memory_backend>(state_, std::move(context));
}

service at(const options& settings) {
    const auto& name = settings.name;
    if (name.empty()) return service(std::make_shared<memory_service>(""));
    static std::mutex mutex;
    static std::map<std::string, service> services;
    const std::lock_guard lock(mutex);
    const auto position = services.find(name);
    if (position != services.end()) return position->second;
    return services.emplace(name, service(std::make_shared<memory_service>(name))).first->second;
}

}  // namespace pawl::memory
