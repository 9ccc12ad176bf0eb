// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "backend.hpp"

#include "latches.hpp"
#include "lock_client.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <exception>

namespace asio = boost::asio;

namespace pawl::sql {
namespace {

class sql_backend final : public one_session_backend<lock_client> {
public:
    explicit sql_backend(const std::shared_ptr<lock_client>& client)
        : one_session_backend(client), latches_(client) {}

    // Every coroutine keeps the client: its frame may be the last object that is destroyed.
    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        const bool throws = co_await asio::this_coro::throw_if_cancelled();
        co_await asio::this_coro::throw_if_cancelled(false);
        std::optional<grant> granted;
        std::exception_ptr failure;
        try {
            granted = co_await client->acquire(requested, give_up_at);
        } catch (...) {
            failure = std::current_exception();
        }
        co_await asio::this_coro::throw_if_cancelled(throws);
        if (failure) std::rethrow_exception(failure);
        co_return granted;
    }

    asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                      time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        co_return co_await client->acquire_batch(claims, give_up_at);
    }

    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto client = client_;
        if (client->is_forked() || batch.renewals().empty()) co_return;
        auto limit = client->now();
        for (const auto& each : batch.renewals())
            limit = std::max(limit, each.useful_until);
        limit = std::min(limit, client->try_deadline());
        std::vector<row> answer;
        time_point asked_at;
        const auto compose = [&](const caller& from) {
            asked_at = client->now();
            return renew_call(from, batch.renewals());
        };
        try {
            answer = co_await client->run(compose, limit);
        } catch (const std::exception&) {
            co_return;  // the outcomes are unknown
        }
        for (std::size_t i = 0; i < std::min(answer.size(), batch.renewals().size()); ++i) {
            const auto ttl = batch.renewals()[i].ttl;
            const auto status = text_in(answer[i], 0);
            if (status == "x")
                batch.settle(i, renewal::outcome::extended, asked_at + ttl - drift(ttl));
            else if (status == "m")
                batch.settle(i, renewal::outcome::missing);
            else if (status == "r")
                batch.settle(i, renewal::outcome::refused);
        }
    }

    // A batch locks the rows of its names until its commit.
    [[nodiscard]] std::size_t renewals_at_once() const noexcept override { return 100; }

    asio::awaitable<release_result> release(const hold& requested) override {
        const auto client = client_;
        if (client->is_forked()) co_return release_result::unknown;
        co_return co_await client->release(requested.claim);
    }

    asio::awaitable<void> confirm_durability(std::span<const hold* const> holds, durability wanted,
                                             time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        co_await client->confirm_durability(holds, wanted, give_up_at);
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        const auto client = client_;
        lock_info info;
        info.name = name;
        const auto compose = [&info](const caller& from) {
            return inspect_call(from, info.name, false);
        };
        const auto rows = co_await client->run(compose, client->try_deadline());
        auto locks = read_locks(rows);
        if (!locks.empty()) info = std::move(locks.front());
        co_return info;
    }

    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        const auto client = client_;
        const auto compose = [prefix = std::string(prefix)](const caller& from) {
            return inspect_call(from, prefix, true);
        };
        const auto rows = co_await client->run(compose, client->try_deadline());
        co_return read_locks(rows);
    }

    asio::awaitable<std::optional<grant>> downgrade(const hold& requested) override {
        const auto client = client_;
        const auto& held = requested.claim;
        time_point asked_at;
        const auto compose = [&](const caller& from) {
            asked_at = client->now();
            return call{"downgrade",
                        {from.name_space, stored_text(held.name), held.owner, from.facts.client,
                         from.process, count_ms(held.ttl)},
                        true};
        };
        const auto answer = co_await client->run(compose, client->try_deadline());
        co_return grant_of(answer, held, asked_at, requested.grant.stored_value);
    }

    asio::awaitable<std::optional<grant>> adopt(const claim& requested) override {
        const auto client = client_;
        time_point asked_at;
        const auto compose = [&](const caller& from) {
            asked_at = client->now();
            return call{
                "adopt",
                {from.name_space, stored_text(requested.name), stored_text(requested.value),
                 requested.owner, from.facts.client, from.process, count_ms(requested.ttl)}};
        };
        const auto answer = co_await client->run(compose, client->try_deadline());
        co_return grant_of(answer, requested, asked_at, requested.value);
    }

    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        const auto client = client_;
        const auto compose = [name = std::string(name), permits](const caller& from) {
            return call{
                "resize",
                {from.name_space, stored_text(name), from.facts.client, std::int64_t{permits}},
                true};
        };
        co_await client->run(compose, client->try_deadline());
    }

    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        const auto client = client_;
        const auto compose = [name = std::string(name), expected](const caller& from) {
            parameter token;
            if (expected) token = static_cast<std::int64_t>(expected.value());
            return call{
                "force", {from.name_space, stored_text(name), from.facts.client, token}, true};
        };
        const auto answer = co_await client->run(compose, client->try_deadline());
        co_return !answer.empty() && flag_in(answer.front(), 0);
    }

    spi::latches* latches() noexcept override { return &latches_; }
    spi::capabilities capabilities() const noexcept override {
        return client_->sessions().database().capabilities();
    }

private:
    static std::optional<grant> grant_of(const std::vector<row>& answer, const claim& held,
                                         time_point asked_at, const std::string& stored_value) {
        if (answer.empty()) return std::nullopt;
        grant granted;
        granted.deadline = asked_at + held.ttl - drift(held.ttl);
        granted.stored_value = stored_value;
        if (held.fenced)
            granted.token = fencing_token(static_cast<std::uint64_t>(number_in(answer.front(), 0)));
        return granted;
    }

    table_latches latches_;
};

}  // namespace

std::unique_ptr<backend> make_backend(std::unique_ptr<connector> database, std::string name_space,
                                      const backend_context& context) {
    return std::make_unique<sql_backend>(
        lock_client::make(std::move(database), std::move(name_space), context));
}

}  // namespace pawl::sql
