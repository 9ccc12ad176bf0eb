// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "database_client.hpp"

namespace asio = boost::asio;

namespace pawl::sql {

asio::awaitable<examination> one_session_client::examine(std::shared_ptr<one_session_client> self) {
    self->throw_if_forked();
    const auto limit = self->try_deadline();
    const auto used = co_await self->sessions_->get(limit);
    co_return co_await self->sessions_->database().examine(*used, limit);
}

asio::awaitable<void> one_session_client::close(std::shared_ptr<one_session_client> self,
                                                time_point give_up_at) {
    while (self->must_wait(give_up_at))
        co_await self->operations_.wait_until(give_up_at);
    self->is_closing_ = true;
    self->sessions_->close();
}

}  // namespace pawl::sql
