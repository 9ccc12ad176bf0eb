// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the clients of databases have in common, and the backends that share one session.
#pragma once

#include "session_keeper.hpp"

#include "../core/util/fork_mark.hpp"
#include "../core/util/in_flight.hpp"

#include <memory>
#include <string>
#include <utility>

namespace pawl::sql {

// Used on the client's strand. Every coroutine of a backend keeps its client.
class database_client {
public:
    explicit database_client(const backend_context& context)
        : context_(context), operations_(*context_.time, context_.strand) {}

    [[nodiscard]] const backend_context& context() const noexcept { return context_; }
    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    // The limit of a request that waits for nobody.
    [[nodiscard]] time_point try_deadline() const noexcept { return now() + context_.try_limit; }

    // `close` waits for their ends, but not in a fork of the process.
    [[nodiscard]] core::in_flight& operations() noexcept { return operations_; }
    [[nodiscard]] bool must_wait(time_point give_up_at) const noexcept {
        return !is_forked() && operations_.must_wait(give_up_at);
    }
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }
    void throw_if_forked() const { made_in_.throw_if_forked(); }

protected:
    ~database_client() = default;

    const backend_context context_;
    const core::fork_mark made_in_;
    core::in_flight operations_;
};

// All calls of this client have the same session.
class one_session_client : public database_client {
public:
    using database_client::database_client;

    static boost::asio::awaitable<examination> examine(std::shared_ptr<one_session_client> self);
    static boost::asio::awaitable<void> close(std::shared_ptr<one_session_client> self,
                                              time_point give_up_at);

    [[nodiscard]] session_keeper& sessions() noexcept { return *sessions_; }

protected:
    bool is_closing_ = false;
    std::shared_ptr<session_keeper> sessions_;
};

// The functions of a backend that are the same for all uses of the session.
template <class Client>
class one_session_backend : public backend {
public:
    explicit one_session_backend(std::shared_ptr<Client> client) : client_(std::move(client)) {}

    boost::asio::awaitable<examination> examine() override { return Client::examine(client_); }
    boost::asio::awaitable<void> close(time_point give_up_at) override {
        return Client::close(client_, give_up_at);
    }
    [[nodiscard]] std::string unreachable_reason(std::string_view) const override {
        return client_->sessions().unreachable_reason();
    }

protected:
    const std::shared_ptr<Client> client_;
};

}  // namespace pawl::sql
