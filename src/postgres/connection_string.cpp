// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connection_string.hpp"

#include "../core/util/url.hpp"
#include "../sql/given_options.hpp"
#include "../sql/shedlock_table.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include <libpq-fe.h>
#include <sys/stat.h>

namespace pawl::postgres {
namespace {

constexpr std::string_view own_options[] = {"schema",         "namespace", "make_schema",
                                            "after_failover", "mode",      "keys"};

bool is_own(std::string_view name) {
    return std::ranges::find(own_options, name) != std::end(own_options) ||
           sql::is_shedlock_option(name);
}

struct free_options {
    void operator()(PQconninfoOption* list) const noexcept { ::PQconninfoFree(list); }
};
using option_list = std::unique_ptr<PQconninfoOption, free_options>;

// Libpq's parameters, with the values of its environment variables and its own defaults.
option_list defaults() {
    option_list list(::PQconndefaults());
    if (!list) throw std::bad_alloc();
    return list;
}

std::optional<std::string> value_in(const option_list& list, std::string_view name) {
    for (const auto* each = list.get(); each->keyword != nullptr; ++each)
        if (name == each->keyword && each->val != nullptr && *each->val != '\0') return each->val;
    return std::nullopt;
}

bool is_libpq_parameter(std::string_view name) {
    // libpq adds these by itself: ssl=true is JDBC's.
    if (name == "ssl") return true;
    const auto list = defaults();
    for (const auto* each = list.get(); each->keyword != nullptr; ++each)
        if (name == each->keyword) return true;
    return false;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char each : text)
        if (each == ',')
            parts.emplace_back();
        else
            parts.back() += each;
    return parts;
}

std::uint16_t parse_port(const std::string& text) {
    if (text.empty()) return 5432;
    unsigned port = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || port == 0 ||
        port > 65535)
        throw error(errc::bad_option, "A port of PostgreSQL is not a number from 1 to 65535.");
    return static_cast<std::uint16_t>(port);
}

std::vector<host_entry> parse_hosts(const std::string& hosts, const std::string& addresses,
                                    const std::string& ports) {
    const auto names = split(hosts);
    const auto numbers = split(addresses);
    const auto port_texts = split(ports);
    const auto count = addresses.empty() ? names.size() : numbers.size();
    if (!hosts.empty() && !addresses.empty() && names.size() != numbers.size())
        throw error(errc::bad_option,
                    "The connection string has lists of different lengths for host and hostaddr; "
                    "give each host one address.");
    if (port_texts.size() != 1 && port_texts.size() != count)
        throw error(errc::bad_option,
                    "The connection string has another number of ports than of hosts; give one "
                    "port for each host, or one for all.");
    std::vector<host_entry> entries(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!hosts.empty()) entries[i].host = names[i];
        if (!addresses.empty()) entries[i].address = numbers[i];
        entries[i].port = parse_port(port_texts[port_texts.size() == 1 ? 0 : i]);
    }
    return entries;
}

duration parse_timeout(const std::string& text) {
    int seconds = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, seconds);
    if (parsed.ec != std::errc{} || parsed.ptr != end)
        throw error(errc::bad_option,
                    "connect_timeout of PostgreSQL is a whole number of seconds without a unit; "
                    "write connect_timeout=5.");
    return std::chrono::seconds(std::clamp(seconds, 0, 3600));
}

// libpq ends the password at the first '@', so that the rest would be a part of the host.
void check_authority(std::string_view url) {
    url.remove_prefix(std::min(url.find("//"), url.size()));
    const auto authority = url.substr(0, url.find_first_of("/?", 2));
    if (std::ranges::count(authority, '@') > 1)
        throw error(errc::bad_url,
                    "The URL has more than one '@' before its database; write an '@' of the user "
                    "or password as %40.");
}

// libpq only prints a warning about such a file, and goes on without a password.
void check_password_file(const std::vector<std::pair<std::string, std::string>>& all) {
    const auto value = [&all](std::string_view name) {
        const auto found =
            std::ranges::find(all, name, &std::pair<std::string, std::string>::first);
        return found == all.end() ? std::string() : found->second;
    };
    const auto path = value("passfile");
    if (path.empty() || !value("password").empty()) return;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        throw error(errc::bad_option,
                    "The password file '" + path + "' cannot be found; check the option passfile.");
    if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw error(errc::bad_option, "Others may read or write the password file '" + path +
                                          "', so libpq ignores it; run: chmod 600 " + path + ".");
}

// Pawl itself looks for the server that accepts writes.
void check_target(const std::string& value) {
    if (value == "any" || value == "read-write" || value == "primary") return;
    throw error(errc::bad_option,
                "Locks need a server that accepts writes; leave out "
                "target_session_attrs=" +
                    value + ".");
}

bool parse_yes_no(const std::string& name, const std::string& value) {
    if (value == "yes") return true;
    if (value == "no") return false;
    throw error(errc::bad_url,
                "The URL's option " + name + "=" + value + " is not valid; use yes or no.");
}

lock_kind parse_mode(const std::string& value) {
    if (value == "lease") return lock_kind::lease;
    if (value == "session") return lock_kind::session;
    throw error(errc::bad_url,
                "The URL's option mode=" + value + " is not valid; use lease or session.");
}

constexpr std::pair<std::string_view, advisory_keys> key_schemes[] = {
    {"distributedlock", advisory_keys::distributed_lock},
    {"number", advisory_keys::number},
    {"crc32", advisory_keys::crc32}};

advisory_keys parse_keys(const std::string& value) {
    for (const auto& [name, scheme] : key_schemes)
        if (value == name) return scheme;
    throw error(errc::bad_url, "The URL's option keys=" + value +
                                   " is not valid; use distributedlock, number or crc32.");
}

// Applies Pawl's own options of a URL.
void apply_option(options& settings, const std::string& name, const std::string& value) {
    if (value.empty())
        throw error(errc::bad_url,
                    "The URL's option " + name + "= is empty; give it a value, or leave it out.");
    if (name == "schema") {
        settings.schema = value;
    } else if (name == "namespace") {
        settings.name_space = value;
    } else if (name == "make_schema") {
        settings.make_schema = parse_yes_no(name, value);
    } else if (name == "after_failover") {
        if (value != "wait" && value != "go")
            throw error(errc::bad_url, "The URL's option after_failover=" + value +
                                           " is not valid; use wait or go.");
        settings.after_failover = value == "go" ? after_failover::go : after_failover::wait;
    } else if (name == "mode") {
        settings.kind = parse_mode(value);
    } else if (name == "keys") {
        settings.keys = parse_keys(value);
    } else if (!is_libpq_parameter(name)) {
        throw error(errc::bad_url, "The URL's option '" + name +
                                       "' is unknown; postgresql:// has schema, namespace, "
                                       "make_schema, after_failover, mode, keys, the parameters of "
                                       "libpq, and for ShedLock's table " +
                                       std::string(sql::shedlock_url_options::names) + ".");
    }
}

// The text without Pawl's own options, for libpq.
std::string without_own_options(std::string_view url) {
    const auto query = std::min(url.find('?'), url.size());
    std::string result(url.substr(0, query));
    char separator = '?';
    for (auto rest = url.substr(query); !rest.empty();) {
        rest.remove_prefix(1);  // '?' or '&'
        const auto pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(pair.size());
        if (pair.empty() || is_own(pair.substr(0, pair.find('=')))) continue;
        result.append(1, separator).append(pair);
        separator = '&';
    }
    return result;
}

// Each kind of locks has some of the options.
void check_kind(const options& settings) {
    const options usual;
    const sql::given_option of_schema[] = {
        {"schema", settings.schema != usual.schema},
        {"namespace", settings.name_space != usual.name_space},
        {"make_schema", settings.make_schema != usual.make_schema},
        {"after_failover", settings.after_failover != usual.after_failover}};
    const sql::given_option of_sessions[] = {{"mode", settings.kind != usual.kind},
                                             {"keys", settings.keys != usual.keys}};
    if (settings.shedlock) {
        sql::check_shedlock_table(*settings.shedlock);
        sql::refuse_options(of_sessions, "ShedLock's table", "layout=shedlock");
        sql::refuse_options(of_schema, "ShedLock's table", "layout=shedlock");
    } else if (settings.kind == lock_kind::session) {
        sql::refuse_options(of_schema, "Advisory locks", "mode=session");
    } else if (settings.keys != usual.keys) {
        throw error(errc::bad_option,
                    "The option keys is for advisory locks; add mode=session, or leave it out.");
    }
}

bool is_identifier(std::string_view text) {
    const auto is_letter = [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); };
    return !text.empty() && text.size() <= 63 && is_letter(text.front()) &&
           std::ranges::all_of(text,
                               [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

std::string host_entry::text() const {
    if (is_local())
        return host.empty() ? "the local socket" : host + "/.s.PGSQL." + std::to_string(port);
    const auto& name = host.empty() ? address : host;
    const bool is_v6 = name.find(':') != std::string::npos;
    return (is_v6 ? "[" + name + "]" : name) + ":" + std::to_string(port);
}

connection_string parse_connection(const std::string& text) {
    const option_list list(::PQconninfoParse(text.c_str(), nullptr));
    if (!list)
        throw error(errc::bad_option,
                    "The connection string is not understood; write it as in "
                    "postgresql://user@host/database or host=… user=… dbname=…, with the names of "
                    "libpq's parameters.");
    if (value_in(list, "service"))
        throw error(errc::bad_option,
                    "A connection string of Pawl cannot name a service; write the parameters of "
                    "the service, or set the environment variable PGSERVICE.");
    const auto default_values = defaults();
    const auto value_of = [&](std::string_view name) {
        auto value = value_in(list, name);
        return value ? value : value_in(default_values, name);
    };
    connection_string result;
    // An address from the environment does not belong to a host from the string.
    const bool names_host = value_in(list, "host") || value_in(list, "hostaddr");
    result.hosts =
        parse_hosts((names_host ? value_in(list, "host") : value_of("host")).value_or(""),
                    (names_host ? value_in(list, "hostaddr") : value_of("hostaddr")).value_or(""),
                    value_of("port").value_or(""));
    result.timeout = parse_timeout(value_of("connect_timeout").value_or("0"));
    if (const auto target = value_of("target_session_attrs")) check_target(*target);
    // Without a database, libpq takes the one with the user's name.
    result.database = value_of("dbname").value_or(value_of("user").value_or(""));
    for (const auto* each = list.get(); each->keyword != nullptr; ++each) {
        const std::string name = each->keyword;
        if (each->val == nullptr || *each->val == '\0') continue;
        if (name == "replication")
            throw error(errc::bad_option,
                        "Locks need an ordinary connection; leave out replication.");
        if (name == "host" || name == "hostaddr" || name == "port" || name == "connect_timeout" ||
            name == "target_session_attrs" || name == "client_encoding" ||
            name == "load_balance_hosts")
            continue;
        result.parameters.emplace_back(name, each->val);
    }
    return result;
}

void check_role(std::string_view role) {
    const auto is_refused = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f || c == '"' || c == '\'' || c == '\\' || c == '$';
    };
    if (!role.empty() && role.size() <= 63 && std::ranges::none_of(role, is_refused)) return;
    throw error(errc::bad_option,
                "The name of a role must have 1 to 63 bytes, without quotes, backslashes, '$' and "
                "control characters.");
}

void check_options(const options& settings) {
    if (!is_identifier(settings.schema))
        throw error(errc::bad_option,
                    "The schema must be a lower-case letter or '_', then up to 62 lower-case "
                    "letters, digits and '_'.");
    if (settings.schema.starts_with("pg_"))
        throw error(errc::bad_option,
                    "PostgreSQL keeps the names of schemas that begin with pg_ for itself; choose "
                    "another schema.");
    const auto& name_space = settings.name_space;
    if (name_space.empty() || name_space.size() > 64 || std::ranges::any_of(name_space, [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte < 0x20 || byte == 0x7f;
        }))
        throw error(errc::bad_option,
                    "The namespace must have 1 to 64 bytes and no control characters.");
    check_kind(settings);
    check_password_file(parse_connection(settings.connection).parameters);
}

options parse_options(std::string_view url) {
    options settings;
    sql::shedlock_url_options shedlock;
    check_authority(url);
    for (const auto& [name, value] : core::parse_url(url).options)
        if (!shedlock.apply(name, value)) apply_option(settings, name, value);
    settings.shedlock = shedlock.table();
    settings.connection = without_own_options(url);
    return settings;
}

std::string describe(const options& settings) {
    const auto parsed = parse_connection(settings.connection);
    std::string text = "postgresql://";
    for (const auto& each : parsed.hosts) {
        if (&each != parsed.hosts.data()) text += ',';
        if (!each.is_local()) {
            text += each.text();
            continue;
        }
        for (const char c : each.host)
            text += c == '/' ? std::string("%2F") : std::string(1, c);
        if (each.port != 5432) text += ":" + std::to_string(each.port);
    }
    if (!parsed.database.empty()) text += "/" + core::encode_path(parsed.database);
    if (settings.shedlock) sql::append_shedlock_options(text, *settings.shedlock);
    const options default_options;
    if (settings.schema != default_options.schema)
        core::append_option(text, "schema", settings.schema);
    if (settings.name_space != default_options.name_space)
        core::append_option(text, "namespace", settings.name_space);
    if (settings.kind == lock_kind::session) core::append_option(text, "mode", "session");
    for (const auto& [name, scheme] : key_schemes)
        if (settings.keys == scheme && scheme != default_options.keys)
            core::append_option(text, "keys", name);
    return text;
}

}  // namespace pawl::postgres
