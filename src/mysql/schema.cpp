// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "schema.hpp"

#include <pawl/error.hpp>

#include <mysql_schema.hpp>

#include <algorithm>
#include <array>

namespace pawl::mysql {
namespace {

// `@.` and `@` at the end of a word are the schema; `@name` is a variable.
std::string with_schema(std::string_view text, const std::string& schema) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_schema =
            text[i] == '@' && (i + 1 == text.size() || text[i + 1] == '.' || text[i + 1] == '\n');
        if (is_schema)
            result += '`' + schema + '`';
        else
            result += text[i];
    }
    return result;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

// The name, without its schema, of the procedure that the statement makes or drops; or empty.
std::string_view procedure_of(std::string_view statement) {
    const auto begin = statement.find("procedure ");
    if (begin == std::string_view::npos) return {};
    const auto head = statement.substr(begin, statement.find('(', begin) - begin);
    return head.substr(head.rfind('.') + 1);
}

// The name of a procedure that clients call, or empty.
std::string_view called_procedure(std::string_view statement) {
    const auto end = statement.find('(');
    const auto begin = statement.find("procedure ");
    if (end == std::string_view::npos || begin > end) return {};
    if (!statement.substr(0, end).ends_with("_1")) return {};
    return statement.substr(begin, end - begin);
}

// The owner carries out the procedures. One of them ends the waits of other connections.
std::vector<std::string> rights_statements(const std::string& schema, const std::string& owner,
                                           std::string_view account,
                                           const std::vector<std::string>& made) {
    std::vector<std::string> statements{
        // As it was: MariaDB would otherwise make an account that is not there, without a password.
        "set session sql_mode = default",
        "grant select, insert, update, delete, execute on `" + schema + "`.* to " + owner,
        "grant /*M! connection admin */ /*!80000 connection_admin */ on *.* to " + owner};
    for (const auto& each : made)
        if (const auto name = called_procedure(each); !name.empty() && each.starts_with("create"))
            statements.push_back("grant execute on " + std::string(name) + " to " +
                                 account_text(account));
    return statements;
}

}  // namespace

std::string account_text(std::string_view account) {
    const auto at = account.rfind('@');
    const auto user = account.substr(0, at);
    const auto host = at == std::string_view::npos ? std::string_view("%") : account.substr(at + 1);
    return "'" + std::string(user) + "'@'" + std::string(host) + "'";
}

std::vector<std::string> schema_statements(const std::string& schema, std::string_view definer,
                                           bool or_replace) {
    static constexpr std::string_view mark = "//";
    static constexpr std::string_view delimiter = "delimiter //";
    static constexpr std::string_view procedure = "create procedure ";
    std::vector<std::string> statements;
    for (std::string_view part : schema_parts) {
        if (const auto at = part.find(delimiter); at != std::string_view::npos)
            part.remove_prefix(at + delimiter.size());
        for (auto end = part.find(mark); end != std::string_view::npos; end = part.find(mark)) {
            const auto statement = trimmed(part.substr(0, end));
            part.remove_prefix(end + mark.size());
            if (statement.starts_with(procedure) && !or_replace) {
                const auto name =
                    statement.substr(procedure.size(), statement.find('(') - procedure.size());
                statements.push_back(
                    with_schema("drop procedure if exists " + std::string(name), schema));
            }
            auto text = with_schema(statement, schema);
            if (statement.starts_with(procedure) && !definer.empty())
                text.insert(procedure.find(' '), " definer = " + std::string(definer));
            if (statement.starts_with(procedure) && or_replace)
                text.insert(procedure.find(' '), " or replace");
            statements.push_back(std::move(text));
        }
    }
    return statements;
}

std::vector<std::string> statements_without(std::vector<std::string> statements,
                                            const std::vector<std::string>& present_procedures) {
    std::erase_if(statements, [&](const std::string& each) {
        return std::ranges::find(present_procedures, procedure_of(each)) !=
               present_procedures.end();
    });
    std::ranges::stable_partition(statements, [](const std::string& each) {
        return !each.starts_with("create table") && !each.starts_with("insert");
    });
    return statements;
}

std::string foreign_table(const std::vector<std::string>& present_tables) {
    static constexpr std::array<std::string_view, 7> later_tables{
        "lock", "holder", "waiter", "message", "latch", "latch_step", "latch_waiter"};
    if (std::ranges::find(present_tables, "meta") != present_tables.end()) return {};
    const auto foreign = std::ranges::find_first_of(present_tables, later_tables);
    return foreign == present_tables.end() ? std::string() : *foreign;
}

void check_account(std::string_view account) {
    const auto is_refused = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f || c == '"' || c == '\'' || c == '\\' || c == '`' ||
               c == '/';
    };
    if (!account.empty() && account.front() != '@' && !account.ends_with('@') &&
        account.size() <= 255 && std::ranges::none_of(account, is_refused))
        return;
    throw error(errc::bad_option,
                "The name of an account must be USER or USER@HOST, without quotes, slashes, "
                "backslashes and control characters.");
}

std::string schema_script(const std::string& schema, std::string_view account) {
    std::vector<std::string> statements;
    if (account.empty()) {
        statements = schema_statements(schema);
    } else {
        // MySQL allows 32 characters.
        const auto owner = account_text(schema.substr(0, 26) + "_owner@localhost");
        statements = schema_statements(schema, owner);
        const auto rights = rights_statements(schema, owner, account, statements);
        statements.insert(statements.begin(),
                          "create user if not exists " + owner + " account lock");
        statements.insert(statements.end(), rights.begin(), rights.end());
    }
    std::string text = "delimiter //\n";
    for (const auto& each : statements)
        text += each + "//\n";
    return text + "delimiter ;\n";
}

}  // namespace pawl::mysql
