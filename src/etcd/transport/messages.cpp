// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The numbers are those of the fields in etcd's rpc.proto and kv.proto.
#include "messages.hpp"

#include <pawl/error.hpp>

#include <protozero/exception.hpp>
// The server's bytes decide the types of the fields, so a wrong one is no mistake of this program.
#define protozero_assert(condition) \
    ((condition) ? static_cast<void>(0) : throw protozero::invalid_tag_exception())
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <functional>
#include <utility>

namespace pawl::etcd {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

// A transaction has at most one inside another one.
constexpr int deepest_transaction = 3;

std::string_view view(const protozero::data_view& bytes) noexcept {
    return {bytes.data(), bytes.size()};
}
std::string text(const protozero::data_view& bytes) { return std::string(view(bytes)); }

void add_text(pbf_writer& target, protozero::pbf_tag_type field, std::string_view value) {
    if (!value.empty()) target.add_bytes(field, value.data(), value.size());
}
void add_number(pbf_writer& target, protozero::pbf_tag_type field, std::int64_t value) {
    if (value != 0) target.add_int64(field, value);
}

// protozero throws for bytes that are no message, and for fields of another type.
template <class Answer>
Answer read(std::string_view message, Answer (*decode)(pbf_reader)) {
    try {
        return decode(pbf_reader(message.data(), message.size()));
    } catch (const protozero::exception& failure) {
        throw error(errc::protocol, std::string("The server sent a message that is not one of "
                                                "etcd's: ") +
                                        failure.what() + "; check host and port.");
    }
}

std::string as_request(protozero::pbf_tag_type field, std::string_view message) {
    std::string encoded;
    pbf_writer(encoded).add_message(field, message.data(), message.size());
    return encoded;
}

std::int64_t read_revision(pbf_reader header) {
    std::int64_t revision = 0;
    while (header.next())
        if (header.tag() == 3)
            revision = header.get_int64();
        else
            header.skip();
    return revision;
}

key_value read_key_value(pbf_reader message) {
    key_value result;
    while (message.next()) {
        switch (message.tag()) {
        case 1: result.key = text(message.get_view()); break;
        case 2: result.create_revision = message.get_int64(); break;
        case 3: result.mod_revision = message.get_int64(); break;
        case 5: result.value = text(message.get_view()); break;
        case 6: result.lease = message.get_int64(); break;
        default: message.skip();
        }
    }
    return result;
}

range_answer read_range_message(pbf_reader message) {
    range_answer result;
    while (message.next()) {
        switch (message.tag()) {
        case 1: result.revision = read_revision(message.get_message()); break;
        case 2: result.range.values.push_back(read_key_value(message.get_message())); break;
        case 3: result.range.has_more = message.get_bool(); break;
        default: message.skip();
        }
    }
    return result;
}

std::int64_t read_deleted(pbf_reader message) {
    std::int64_t deleted = 0;
    while (message.next())
        if (message.tag() == 2)
            deleted = message.get_int64();
        else
            message.skip();
    return deleted;
}

transaction_answer read_transaction_message(pbf_reader message, int depth);

operation_answer read_operation(pbf_reader message, int depth) {
    operation_answer result;
    while (message.next()) {
        switch (message.tag()) {
        case 1: result = read_range_message(message.get_message()).range; break;
        case 3: result.deleted = read_deleted(message.get_message()); break;
        case 4: {
            auto inside = read_transaction_message(message.get_message(), depth + 1);
            result.succeeded = inside.succeeded;
            result.answers = std::move(inside.answers);
            break;
        }
        default: message.skip();
        }
    }
    return result;
}

transaction_answer read_transaction_message(pbf_reader message, int depth) {
    if (depth > deepest_transaction)
        throw error(errc::protocol, "The server sent a transaction that Pawl has not requested.");
    transaction_answer result;
    while (message.next()) {
        switch (message.tag()) {
        case 1: result.revision = read_revision(message.get_message()); break;
        case 2: result.succeeded = message.get_bool(); break;
        case 3: result.answers.push_back(read_operation(message.get_message(), depth)); break;
        default: message.skip();
        }
    }
    return result;
}

watch_event read_event(pbf_reader message) {
    watch_event result;
    while (message.next()) {
        switch (message.tag()) {
        case 1: result.is_delete = message.get_enum() == 1; break;
        case 2: result.changed = read_key_value(message.get_message()); break;
        default: message.skip();
        }
    }
    return result;
}

watch_message read_watch_message(pbf_reader message) {
    watch_message result;
    while (message.next()) {
        switch (message.tag()) {
        case 1: result.revision = read_revision(message.get_message()); break;
        case 2: result.id = message.get_int64(); break;
        case 3: result.is_created = message.get_bool(); break;
        case 4: result.is_canceled = message.get_bool(); break;
        case 6: result.cancel_reason = message.get_string(); break;
        case 11: result.events.push_back(read_event(message.get_message())); break;
        default: message.skip();
        }
    }
    return result;
}

member_status read_status_message(pbf_reader message) {
    member_status result;
    while (message.next()) {
        switch (message.tag()) {
        case 1: {
            auto header = message.get_message();
            while (header.next()) {
                if (header.tag() == 2)
                    result.member = header.get_uint64();
                else if (header.tag() == 3)
                    result.revision = header.get_int64();
                else
                    header.skip();
            }
            break;
        }
        case 2: result.version = message.get_string(); break;
        case 3: result.database_size = message.get_int64(); break;
        case 4: result.leader = message.get_uint64(); break;
        case 8: result.errors.push_back(message.get_string()); break;
        case 9: result.size_in_use = message.get_int64(); break;
        case 10: result.is_learner = message.get_bool(); break;
        default: message.skip();
        }
    }
    return result;
}

member read_member(pbf_reader message) {
    member result;
    while (message.next()) {
        switch (message.tag()) {
        case 1: result.id = message.get_uint64(); break;
        case 2: result.name = message.get_string(); break;
        case 4: result.urls.push_back(message.get_string()); break;
        case 5: result.is_learner = message.get_bool(); break;
        default: message.skip();
        }
    }
    return result;
}

std::vector<member> read_members_message(pbf_reader message) {
    std::vector<member> result;
    while (message.next())
        if (message.tag() == 2)
            result.push_back(read_member(message.get_message()));
        else
            message.skip();
    return result;
}

alarm_kind read_alarm(pbf_reader message) {
    std::int32_t kind = 0;
    while (message.next())
        if (message.tag() == 2)
            kind = message.get_enum();
        else
            message.skip();
    if (kind == 1) return alarm_kind::no_space;
    return kind == 2 ? alarm_kind::corrupt : alarm_kind::none;
}

std::vector<alarm_kind> read_alarms_message(pbf_reader message) {
    std::vector<alarm_kind> result;
    while (message.next())
        if (message.tag() == 2)
            result.push_back(read_alarm(message.get_message()));
        else
            message.skip();
    return result;
}

// `kind`: 1 create revision, 2 mod revision, 3 value; `field` has the value.
std::string compare(std::string_view key, std::int32_t kind,
                    const std::function<void(pbf_writer&)>& add_operand,
                    std::string_view end = {}) {
    std::string encoded;
    pbf_writer target(encoded);
    target.add_enum(2, kind);
    target.add_bytes(3, key.data(), key.size());
    add_operand(target);
    add_text(target, 64, end);
    return encoded;
}

std::string range_text(std::string_view key, std::string_view end, std::int64_t limit,
                       std::int64_t revision, bool by_creation) {
    std::string encoded;
    pbf_writer target(encoded);
    add_text(target, 1, key);
    add_text(target, 2, end);
    add_number(target, 3, limit);
    add_number(target, 4, revision);
    if (by_creation) {
        target.add_enum(5, 1);
        target.add_enum(6, 2);
    }
    return encoded;
}

}  // namespace

std::string end_of_prefix(std::string prefix) {
    while (!prefix.empty() && prefix.back() == '\xff')
        prefix.pop_back();
    if (prefix.empty()) return std::string(1, '\0');  // up to the last key
    prefix.back() = static_cast<char>(prefix.back() + 1);
    return prefix;
}

namespace operation {

std::string get(std::string_view key) { return as_request(1, range_text(key, {}, 0, 0, false)); }
std::string get_all(std::string_view prefix, std::int64_t limit) {
    return as_request(1, range_text(prefix, end_of_prefix(std::string(prefix)), limit, 0, true));
}
std::string put(std::string_view key, std::string_view value, std::int64_t lease) {
    std::string encoded;
    pbf_writer target(encoded);
    add_text(target, 1, key);
    add_text(target, 2, value);
    add_number(target, 3, lease);
    return as_request(2, encoded);
}
std::string attach(std::string_view key, std::int64_t lease) {
    std::string encoded;
    pbf_writer target(encoded);
    add_text(target, 1, key);
    add_number(target, 3, lease);
    target.add_bool(5, true);
    return as_request(2, encoded);
}
std::string remove(std::string_view key) {
    std::string encoded;
    pbf_writer target(encoded);
    add_text(target, 1, key);
    return as_request(3, encoded);
}

}  // namespace operation

namespace condition {

std::string created_at(std::string_view key, std::int64_t revision) {
    return compare(key, 1, [revision](pbf_writer& target) { target.add_int64(5, revision); });
}
std::string modified_at(std::string_view key, std::int64_t revision) {
    return compare(key, 2, [revision](pbf_writer& target) { target.add_int64(6, revision); });
}
std::string has_value(std::string_view key, std::string_view value) {
    return compare(
        key, 3, [value](pbf_writer& target) { target.add_bytes(7, value.data(), value.size()); });
}
std::string none_under(std::string_view prefix) {
    return compare(
        prefix, 1, [](pbf_writer& target) { target.add_int64(5, 0); },
        end_of_prefix(std::string(prefix)));
}

}  // namespace condition

std::string transaction::encode() const {
    std::string encoded;
    pbf_writer target(encoded);
    for (const auto& each : conditions)
        target.add_message(1, each);
    for (const auto& each : success)
        target.add_message(2, each);
    for (const auto& each : failure)
        target.add_message(3, each);
    return encoded;
}

std::string transaction::as_operation() const { return as_request(4, encode()); }

const operation_answer& transaction_answer::at(std::size_t index) const {
    if (index >= answers.size())
        throw error(errc::protocol, "The server's answer to a transaction has too few parts.");
    return answers[index];
}

transaction_answer read_transaction(std::string_view message) {
    return read<transaction_answer>(
        message, [](pbf_reader whole) { return read_transaction_message(std::move(whole), 0); });
}

std::string range_request(std::string_view key, std::string_view end, std::int64_t limit,
                          std::int64_t revision) {
    return range_text(key, end, limit, revision, false);
}
range_answer read_range(std::string_view message) { return read(message, read_range_message); }

std::string watch_request(std::int64_t id, std::string_view key, std::string_view end,
                          bool deletes_only) {
    std::string created;
    pbf_writer target(created);
    add_text(target, 1, key);
    add_text(target, 2, end);
    if (deletes_only) target.add_enum(5, 0);
    add_number(target, 7, id);
    return as_request(1, created);
}
std::string watch_cancel_request(std::int64_t id) {
    std::string canceled;
    pbf_writer(canceled).add_int64(1, id);
    return as_request(2, canceled);
}
watch_message read_watch(std::string_view message) { return read(message, read_watch_message); }

std::string lease_grant_request(std::int64_t id, std::int64_t seconds) {
    std::string encoded;
    pbf_writer target(encoded);
    target.add_int64(1, seconds);
    target.add_int64(2, id);
    return encoded;
}
std::string lease_request(std::int64_t id) {
    std::string encoded;
    pbf_writer(encoded).add_int64(1, id);
    return encoded;
}
std::int64_t read_lease_seconds(std::string_view message) {
    return read<std::int64_t>(message, [](pbf_reader whole) {
        std::int64_t seconds = 0;
        while (whole.next())
            if (whole.tag() == 3)
                seconds = whole.get_int64();
            else
                whole.skip();
        return seconds;
    });
}

std::string authenticate_request(std::string_view user, std::string_view password) {
    std::string encoded;
    pbf_writer target(encoded);
    add_text(target, 1, user);
    add_text(target, 2, password);
    return encoded;
}
std::string read_token(std::string_view message) {
    return read<std::string>(message, [](pbf_reader whole) {
        std::string token;
        while (whole.next())
            if (whole.tag() == 2)
                token = whole.get_string();
            else
                whole.skip();
        return token;
    });
}

member_status read_status(std::string_view message) { return read(message, read_status_message); }
std::vector<member> read_members(std::string_view message) {
    return read(message, read_members_message);
}
std::string alarm_request() { return {}; }
std::vector<alarm_kind> read_alarms(std::string_view message) {
    return read(message, read_alarms_message);
}

}  // namespace pawl::etcd
