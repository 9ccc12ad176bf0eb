// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "schema.hpp"

#include <mysql_schema.hpp>

#include <string_view>

namespace pawl::mysql {
namespace {

// `@.` and `@` at the end of a word are the schema; `@name` is a variable.
std::string with_schema(std::string_view text, const std::string& schema) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_schema = text[i] == '@' && (i + 1 == text.size() || text[i + 1] == '.' ||
                                                  text[i + 1] == '\n');
        if (is_schema)
            result += '`' + schema + '`';
        else
            result += text[i];
    }
    return result;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \n");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

}  // namespace

std::vector<std::string> schema_statements(const std::string& schema) {
    static constexpr std::string_view mark = "//";
    static constexpr std::string_view delimiter = "delimiter //";
    static constexpr std::string_view procedure = "create procedure ";
    std::vector<std::string> statements;
    for (std::string_view part : schema_parts) {
        if (const auto at = part.find(delimiter); at != part.npos)
            part.remove_prefix(at + delimiter.size());
        for (auto end = part.find(mark); end != part.npos; end = part.find(mark)) {
            const auto statement = trimmed(part.substr(0, end));
            part.remove_prefix(end + mark.size());
            if (statement.starts_with(procedure)) {
                const auto name = statement.substr(
                    procedure.size(), statement.find('(') - procedure.size());
                statements.push_back(
                    with_schema("drop procedure if exists " + std::string(name), schema));
            }
            statements.push_back(with_schema(statement, schema));
        }
    }
    return statements;
}

}  // namespace pawl::mysql
