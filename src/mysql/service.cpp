// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connector.hpp"
#include "schema.hpp"
#include "session_connector.hpp"
#include "shedlock.hpp"

#include "../core/util/url.hpp"
#include "../net/option_values.hpp"
#include "../sql/backend.hpp"
#include "../sql/given_options.hpp"
#include "../sql/session_locks.hpp"
#include "../sql/shedlock_table.hpp"

#include <algorithm>
#include <utility>

namespace pawl::mysql {
namespace {

class definition final : public service::definition {
public:
    explicit definition(options settings) : options_(std::move(settings)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        if (options_.kind != lock_kind::lease)
            return sql::make_session_backend(std::make_unique<session_connector>(options_, context),
                                             context);
        auto database = std::make_unique<connector>(options_, context);
        if (const auto& table = options_.shedlock)
            return sql::make_shedlock_backend(
                std::move(database), shedlock_statements(*table, options_.schema), *table, context);
        return sql::make_backend(std::move(database), options_.name_space, context);
    }
    std::string describe() const override { return mysql::describe(options_); }
    std::string setup_text(std::string_view role) const override {
        return schema_of(options_, role);
    }

private:
    const options options_;
};

bool is_schema_name(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    return !name.empty() && name.size() <= 63 && is_letter(name.front()) &&
           std::ranges::all_of(name,
                               [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// The database of other programs.
bool is_database_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '$';
    });
}

void check_schema(const options& settings) {
    if (settings.shedlock && !is_database_name(settings.schema))
        throw error(errc::bad_option,
                    "The name of the database with ShedLock's table must have 1 to 64 letters, "
                    "digits, '_', '-' and '$'.");
    if (!settings.shedlock && !is_schema_name(settings.schema))
        throw error(errc::bad_option, "The database's name '" + settings.schema +
                                          "' must be a lower-case letter or '_', then up to 62 "
                                          "lower-case letters, digits and '_'.");
}

// Each kind of locks has some of the options.
void check_kind(const options& settings) {
    const options usual;
    const bool is_session = settings.kind == lock_kind::session;
    const sql::given_option of_leases[] = {
        {"push", settings.push != usual.push},
        {"after_failover", settings.after_failover != usual.after_failover}};
    const sql::given_option of_tables[] = {
        {"namespace", settings.name_space != usual.name_space},
        {"make_schema", settings.make_schema != usual.make_schema}};
    const sql::given_option of_sessions[] = {{"mode", settings.kind != usual.kind},
                                             {"one_node", settings.one_node}};
    if (settings.shedlock) {
        sql::check_shedlock_table(*settings.shedlock);
        sql::refuse_options(of_sessions, "ShedLock's table", "layout=shedlock");
        sql::refuse_options(of_leases, "ShedLock's table", "layout=shedlock");
        sql::refuse_options(of_tables, "ShedLock's table", "layout=shedlock");
    } else if (settings.kind == lock_kind::lease) {
        if (settings.one_node)
            throw error(errc::bad_option,
                        "The option one_node is for mode=session and mode=row; leave it out.");
    } else {
        const auto* locks = is_session ? "User locks" : "Locked rows";
        const auto* mode = is_session ? "mode=session" : "mode=row";
        sql::refuse_options(of_leases, locks, mode);
        if (!is_session) return;
        sql::refuse_options(of_tables, locks, mode);
        if (settings.schema != usual.schema)
            throw error(errc::bad_option,
                        "User locks (mode=session) belong to the whole server; "
                        "leave out the database.");
    }
}

}  // namespace

void check_options(const options& settings) {
    if (settings.servers.empty() || settings.servers.size() > 16)
        throw error(errc::bad_option, "There are " + std::to_string(settings.servers.size()) +
                                          " servers; name 1 to 16.");
    for (const auto& each : settings.servers)
        if (each.host.empty() || each.port == 0 ||
            each.host.find_first_of(", \t") != std::string::npos)
            throw error(errc::bad_option, "The server '" + each.host + ":" +
                                              std::to_string(each.port) +
                                              "' needs a host, without commas and spaces, and a "
                                              "port above 0.");
    check_schema(settings);
    if (settings.name_space.empty() || settings.name_space.size() > 64)
        throw error(errc::bad_option, "The namespace has " +
                                          std::to_string(settings.name_space.size()) +
                                          " bytes; it must have 1 to 64.");
    check_kind(settings);
    net::check_password({settings.password, settings.password_file, false}, "");
    net::check_tls(settings.tls, "", "Add tls=yes");
}

// Two services with this text have the same locks.
std::string describe(const options& settings) {
    std::string text = "mysql://";
    for (const auto& each : settings.servers) {
        if (!text.ends_with('/')) text += ',';
        const bool is_ipv6 = each.host.find(':') != std::string::npos;
        text += is_ipv6 ? "[" + each.host + "]" : each.host;
        if (each.port != 3306) text += ":" + std::to_string(each.port);
    }
    if (settings.kind == lock_kind::session) {
        core::append_option(text, "mode", "session");
        return text;
    }
    text += "/" + settings.schema;
    if (settings.shedlock) sql::append_shedlock_options(text, *settings.shedlock);
    if (settings.name_space != "pawl") core::append_option(text, "namespace", settings.name_space);
    if (settings.kind == lock_kind::row) core::append_option(text, "mode", "row");
    return text;
}

std::string schema_of(const options& settings, std::string_view account) {
    check_options(settings);
    if (!account.empty()) check_account(account);
    if (settings.shedlock) return shedlock_script(*settings.shedlock, settings.schema, account);
    if (settings.kind == lock_kind::session)
        throw error(errc::unsupported,
                    "User locks (mode=session) need no tables: every account that may connect can "
                    "lock them.");
    if (settings.kind == lock_kind::row) return row_table_script(settings.schema, account);
    return schema_script(settings.schema, account);
}

service at(options settings) {
    check_options(settings);
    return service(std::make_shared<definition>(std::move(settings)));
}

}  // namespace pawl::mysql
