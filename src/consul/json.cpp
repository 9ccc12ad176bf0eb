// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "json.hpp"

#include <boost/json/parse.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

namespace json = boost::json;

namespace pawl::consul {
namespace {

constexpr std::size_t max_depth = 8;

const json::value* member(const json::value& of, std::string_view name) {
    return of.is_object() ? of.as_object().if_contains(name) : nullptr;
}

std::string text_of(const json::value& of, std::string_view name) {
    const auto* value = member(of, name);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::uint64_t number_of(const json::value& of, std::string_view name) {
    const auto* value = member(of, name);
    boost::system::error_code ec;
    const auto number = value != nullptr && value->is_number() ? value->to_number<std::uint64_t>(ec)
                                                               : std::uint64_t{0};
    return ec ? 0 : number;
}

// The elements of an array; none for null.
const json::array& elements(const json::value* list, const std::string& subject) {
    static const json::array none;
    if (list == nullptr || list->is_null()) return none;
    if (!list->is_array()) throw strange_answer(subject);
    return list->as_array();
}

entry read_entry(const json::value& from, const std::string& subject) {
    entry result;
    result.key = text_of(from, "Key");
    auto value = from_base64(text_of(from, "Value"));
    if (result.key.empty() || !value) throw strange_answer(subject);
    result.value = std::move(*value);
    result.session = text_of(from, "Session");
    result.flags = number_of(from, "Flags");
    result.modify_index = number_of(from, "ModifyIndex");
    if (result.modify_index == 0) throw strange_answer(subject);
    return result;
}

}  // namespace

error strange_answer(const std::string& subject) {
    return {errc::protocol,
            subject +
                " sent an answer that Pawl does not understand; check that it is Consul's "
                "HTTP port, and its version."};
}

std::string to_base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const auto size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                      reinterpret_cast<const unsigned char*>(bytes.data()),
                                      static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.empty()) return std::string();
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes(text.size() / 4 * 3, '\0');
    const auto size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                      reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    bytes.resize(static_cast<std::size_t>(size) - padding);
    return bytes;
}

json::value parse_json(std::string_view body, const std::string& subject) {
    boost::system::error_code ec;
    json::parse_options limits;
    limits.max_depth = max_depth;
    auto parsed = json::parse(body, ec, {}, limits);
    if (ec) throw strange_answer(subject);
    return parsed;
}

transaction_result read_transaction(std::string_view body, const std::string& subject) {
    const auto parsed = parse_json(body, subject);
    if (member(parsed, "Results") == nullptr) throw strange_answer(subject);
    transaction_result result;
    for (const auto& each : elements(member(parsed, "Results"), subject)) {
        const auto* kv = member(each, "KV");
        if (kv == nullptr) throw strange_answer(subject);
        result.entries.push_back(read_entry(*kv, subject));
    }
    for (const auto& each : elements(member(parsed, "Errors"), subject))
        result.refusals.push_back(
            {static_cast<std::size_t>(number_of(each, "OpIndex")), text_of(each, "What")});
    return result;
}

std::vector<entry> read_entries(std::string_view body, const std::string& subject) {
    const auto parsed = parse_json(body, subject);
    std::vector<entry> entries;
    for (const auto& each : elements(&parsed, subject))
        entries.push_back(read_entry(each, subject));
    return entries;
}

std::string read_session_id(std::string_view body, const std::string& subject) {
    auto id = text_of(parse_json(body, subject), "ID");
    const bool is_plain = std::ranges::all_of(
        id, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'; });
    if (id.empty() || !is_plain) throw strange_answer(subject);
    return id;
}

std::optional<session_info> read_session_info(std::string_view body, const std::string& subject) {
    const auto parsed = parse_json(body, subject);
    for (const auto& each : elements(&parsed, subject)) {
        session_info info;
        info.name = text_of(each, "Name");
        info.node = text_of(each, "Node");
        info.lock_delay = std::chrono::nanoseconds(number_of(each, "LockDelay"));
        return info;
    }
    return std::nullopt;
}

}  // namespace pawl::consul
