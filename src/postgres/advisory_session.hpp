// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A session that locks by PostgreSQL's advisory locks.
#pragma once

#include "advisory_key.hpp"
#include "connector.hpp"

#include "../sql/lock_session.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::postgres {

// Used on the strand.
class advisory_connector final : public sql::lock_connector {
public:
    advisory_connector(const options& settings, const backend_context& context);

    boost::asio::awaitable<std::shared_ptr<sql::lock_session>> connect(
        sql::session_end_handler on_end, time_point give_up_at) override;
    [[nodiscard]] sql::lock_key key_of(std::string_view name) const override;
    [[nodiscard]] std::string describe() const override { return connector_.describe(); }
    [[nodiscard]] spi::capabilities capabilities() const noexcept override;
    [[nodiscard]] std::string capability_hint(lock_mode mode, bool fair) const override;

private:
    boost::asio::awaitable<void> greet(std::shared_ptr<connection> made, time_point give_up_at);

    const options options_;
    const backend_context context_;
    connector connector_;
};

// The name of a key in the scheme; empty if it is not known.
[[nodiscard]] std::string name_of(const advisory_key& key, advisory_keys scheme);

}  // namespace pawl::postgres
