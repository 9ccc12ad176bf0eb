// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Sessions that lock by GET_LOCK, or by SELECT … FOR UPDATE.
#pragma once

#include "connector.hpp"
#include "server_variables.hpp"

#include "../sql/lock_session.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace pawl::mysql {

// Used on the strand.
class session_connector final : public sql::lock_connector {
public:
    session_connector(const options& settings, const backend_context& context)
        : options_(settings), context_(context), connector_(settings, context) {}

    boost::asio::awaitable<std::shared_ptr<sql::lock_session>> connect(
        sql::session_end_handler on_end, time_point give_up_at) override;
    [[nodiscard]] sql::lock_key key_of(std::string_view name) const override;
    [[nodiscard]] std::string describe() const override { return connector_.describe(); }
    [[nodiscard]] spi::capabilities capabilities() const noexcept override;
    [[nodiscard]] std::string capability_hint(lock_mode mode, bool fair) const override;

private:
    boost::asio::awaitable<std::shared_ptr<connection>> greet(connector::opened_link opened,
                                                              sql::session_handlers handlers);
    static boost::asio::awaitable<void> find_table(connector::link_ptr link, error_place place,
                                                   bool may_make);

    const options options_;
    const backend_context context_;
    connector connector_;
};

// Throws unless the locks of these sessions are those of all clients.
void check_nodes(const server_variables& all, const options& settings, const error_place& place);

// What a lock session of either kind is made of.
struct lock_session_parts {
    std::shared_ptr<connection> link;
    runtime* time = nullptr;
    options settings;
    std::string process;  // a sql::process_text
};
[[nodiscard]] std::shared_ptr<sql::lock_session> make_user_lock_session(lock_session_parts parts);
[[nodiscard]] std::shared_ptr<sql::lock_session> make_row_lock_session(lock_session_parts parts);

// The name of a user lock by the rule of DistributedLock.MySql. Throws errc::bad_name.
[[nodiscard]] std::string user_lock_name(std::string_view name);

// Of mode=row.
[[nodiscard]] std::string row_table(const std::string& schema);
[[nodiscard]] std::string row_table_statement(const std::string& schema);
// For an administrator's command, with the rights of an account.
[[nodiscard]] std::string row_table_script(const std::string& schema, std::string_view account);

}  // namespace pawl::mysql
