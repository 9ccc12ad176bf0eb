// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "service.hpp"

#include "core/store/waiting_attempt.hpp"
#include "core/util/fork_mark.hpp"

#include <pawl/error.hpp>
#include <pawl/memory.hpp>

namespace asio = boost::asio;

namespace pawl::memory {
namespace {

// Leaves the queue when it goes out of scope, also by an exception or the end of the event loop.
class queue_place {
public:
    queue_place(lock_store& store, const claim& requested, std::shared_ptr<session> client,
                const core::waiting_attempt& attempt)
        : store_(store), requested_(requested), client_(std::move(client)), attempt_(attempt) {}
    ~queue_place() {
        if (!attempt_.was_queued() || attempt_.granted() != nullptr) return;
        try {
            store_.run(requested_.name, client_,
                       [this](auto& table) { return table.leave(requested_, false); });
        } catch (const std::bad_alloc&) {}  // the next request serves the queue
    }
    queue_place(const queue_place&) = delete;
    queue_place& operator=(const queue_place&) = delete;

private:
    lock_store& store_;
    const claim& requested_;
    const std::shared_ptr<session> client_;
    const core::waiting_attempt& attempt_;
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
        const bool may_wait = give_up_at > sent_at;
        // As with a server: an attempt that does not wait has its own limit.
        if (gate_) co_await pass_gate(may_wait ? give_up_at : sent_at + client_->try_limit);
        const auto wakeup =
            may_wait ? std::make_shared<core::wakeup>(*client_->time, client_->strand) : nullptr;
        core::waiting_attempt attempt(give_up_at);
        const queue_place place(*store_, requested, client_, attempt);
        for (auto step = attempt.next(now()); step != core::waiting_attempt::step::end;
             step = attempt.next(now())) {
            if (step == core::waiting_attempt::step::wait) {
                co_await wakeup->wait_until(attempt.wakes_at());
                if (gate_) co_await pass_gate(give_up_at);
                attempt.on_wakeup();
            } else {
                carry_out(step, attempt, requested, wakeup);
            }
        }
        if (attempt.granted() == nullptr) co_return std::nullopt;
        if (attempt.was_queued()) ++client_->request_counters->hand_offs;
        const auto counts_from =
            attempt.was_queued() ? attempt.granted()->expires : sent_at + requested.ttl;
        co_return grant{counts_from - drift(requested.ttl), attempt.granted()->token, {}, false};
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
            const auto& each = batch.renewals()[i];
            const auto& held = each.held->claim;
            const bool is_held = store_->run(
                held.name, client_, [&](auto& table) { return table.renew(held, each.ttl); });
            batch.settle(i, is_held ? renewal::outcome::extended : renewal::outcome::refused,
                         sent_at + each.ttl - drift(each.ttl));
        }
    }

    asio::awaitable<release_result> release(const hold& held) override {
        if (is_forked()) co_return release_result::unknown;
        co_return co_await run<release_result>(
            held.claim.name, [&held](auto& table) { return *table.release(held.claim); });
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        return run<lock_info>(name,
                              [name](auto& table) { return table.describe(std::string(name)); });
    }

    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        begin_request();
        if (gate_) co_await pass_gate();
        co_return store_->list(prefix, *client_->time);
    }

    asio::awaitable<std::optional<grant>> downgrade(const hold& stored) override {
        const auto sent_at = begin_request();
        if (gate_) co_await pass_gate();
        const auto& held = stored.claim;
        const auto shared =
            store_->run(held.name, client_, [&](auto& table) { return table.downgrade(held); });
        if (!shared) co_return std::nullopt;
        co_return grant{sent_at + held.ttl - drift(held.ttl), shared->token, {}, false};
    }

    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        return run<void>(name, [permits](auto& table) { table.resize(permits); });
    }

    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        return run<bool>(name, [expected](auto& table) { return table.force_release(expected); });
    }

    asio::awaitable<examination> examine() override {
        made_in_.throw_if_forked();
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
    spi::latches* latches() noexcept override { return &latches_; }

    bool resumes_on_strand() const noexcept override { return true; }
    spi::capabilities capabilities() const noexcept override {
        spi::capabilities supported;
        supported.tokens_survive_data_loss = supported.across_processes = supported.across_hosts =
            false;
        supported.loss_is_pushed = true;
        supported.shared = supported.permits = supported.strictly_fair = supported.downgrades =
            true;
        supported.latches = supported.barriers = true;
        return supported;
    }

private:
    // Runs a step with the lock's `lease_table`.
    template <class T, class Step>
    asio::awaitable<T> run(std::string_view name, Step step) const {
        begin_request();
        if (gate_) co_await pass_gate();
        co_return store_->run(name, client_, step);
    }
    // A step of an acquire; it does not wait.
    void carry_out(core::waiting_attempt::step step, core::waiting_attempt& attempt,
                   const claim& requested, const std::shared_ptr<core::wakeup>& wakeup) {
        using enum core::waiting_attempt::step;
        attempt.on_result(store_->run(
            requested.name, client_,
            [&](auto& table) {
                if (step == request) return table.acquire(requested, wakeup != nullptr);
                return step == refresh ? *table.refresh(requested) : *table.leave(requested, true);
            },
            wakeup));
        if (step == refresh)
            ++(attempt.granted() != nullptr ? client_->request_counters->pushes
                                            : client_->request_counters->requests);
    }
    time_point now() const noexcept { return client_->time->now(); }
    // A lease counts from this time.
    time_point begin_request() const {
        made_in_.throw_if_forked();
        ++client_->request_counters->requests;
        return now();
    }
    asio::awaitable<void> pass_gate(time_point give_up_at = time_point::max()) const {
        return gate_->pass(client_, give_up_at);
    }
    bool is_forked() const noexcept { return made_in_.is_forked(); }

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
