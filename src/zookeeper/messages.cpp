// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "messages.hpp"

namespace pawl::zookeeper {
namespace {

constexpr std::int32_t all_rights = 31;
constexpr std::size_t password_size = 16;

void write_rights(jute_writer& out, node_rights rights) {
    out.number(std::int32_t{1}).number(all_rights);
    if (rights == node_rights::own)
        out.text("auth").text("");
    else
        out.text("world").text("anyone");
}

std::string create_body(std::string_view path, std::string_view data, node_rights rights,
                        std::int32_t flags) {
    jute_writer out;
    out.text(path).text(data);
    write_rights(out, rights);
    return out.number(flags).take();
}

std::string remove_body(std::string_view path) {
    return jute_writer().text(path).number(std::int32_t{-1}).take();
}

void write_part_header(jute_writer& out, std::int32_t type, bool is_last) {
    out.number(type).boolean(is_last).number(std::int32_t{-1});
}

std::string with_length(std::string_view body) { return jute_writer().text(body).take(); }

node_stat read_stat(jute_reader& in) {
    node_stat stat;
    stat.created_by = in.number<std::int64_t>();
    in.number<std::int64_t>();  // mzxid
    stat.created_at = in.number<std::int64_t>();
    in.number<std::int64_t>();  // mtime
    in.number<std::int32_t>();  // version
    stat.child_changes = in.number<std::int32_t>();
    in.number<std::int32_t>();  // aversion
    stat.session = in.number<std::int64_t>();
    in.number<std::int32_t>();  // dataLength
    in.number<std::int32_t>();  // numChildren
    in.number<std::int64_t>();  // pzxid
    return stat;
}

}  // namespace

request create_request(std::string_view path, std::string_view data, node_rights rights,
                       node_kind kind) {
    return {operation::create_with_stat,
            create_body(path, data, rights, static_cast<std::int32_t>(kind))};
}

request create_container_request(std::string_view path, node_rights rights) {
    static constexpr std::int32_t container = 4;
    return {operation::create_container, create_body(path, "", rights, container)};
}

request remove_request(std::string_view path) { return {operation::remove, remove_body(path)}; }

request get_data_request(std::string_view path, bool watches) {
    return {operation::get_data, jute_writer().text(path).boolean(watches).take()};
}

request set_data_request(std::string_view path, std::string_view data) {
    return {operation::set_data,
            jute_writer().text(path).text(data).number(std::int32_t{-1}).take()};
}

request get_children_request(std::string_view path, bool watches) {
    return {operation::get_children, jute_writer().text(path).boolean(watches).take()};
}

request sync_request(std::string_view path) {
    return {operation::sync, jute_writer().text(path).take()};
}

request replace_request(std::string_view created, std::string_view data, node_rights rights,
                        std::string_view removed) {
    jute_writer out;
    write_part_header(out, static_cast<std::int32_t>(operation::create), false);
    out.raw(create_body(created, data, rights, static_cast<std::int32_t>(node_kind::ephemeral)));
    write_part_header(out, static_cast<std::int32_t>(operation::remove), false);
    out.raw(remove_body(removed));
    write_part_header(out, -1, true);
    return {operation::multi, out.take()};
}

request auth_request(std::string_view user, std::string_view password) {
    const auto login = std::string(user).append(":").append(password);
    return {operation::auth,
            jute_writer().number(std::int32_t{0}).text("digest").text(login).take()};
}

request set_watches_request(std::int64_t last_change, const std::vector<std::string>& data,
                            const std::vector<std::string>& children) {
    return {operation::set_watches,
            jute_writer().number(last_change).texts(data).texts({}).texts(children).take()};
}

std::string frame_of(std::int32_t xid, const request& sent) {
    return with_length(jute_writer()
                           .number(xid)
                           .number(static_cast<std::int32_t>(sent.type))
                           .raw(sent.body)
                           .take());
}

std::string frame_of(const connect_request& sent) {
    auto password = sent.password;
    password.resize(password_size, '\0');
    return with_length(jute_writer()
                           .number(std::int32_t{0})  // the version of the protocol
                           .number(sent.last_change)
                           .number(sent.timeout_ms)
                           .number(sent.session)
                           .text(password)
                           .boolean(false)  // a server that only reads is of no use
                           .take());
}

connect_reply read_connect_reply(std::string_view frame) {
    jute_reader in(frame);
    in.number<std::int32_t>();  // the version of the protocol
    connect_reply result;
    result.timeout_ms = in.number<std::int32_t>();
    result.session = in.number<std::int64_t>();
    result.password = in.text();
    return result;
}

node_event read_event(std::string_view body) {
    jute_reader in(body);
    node_event event;
    event.type = static_cast<node_event::kind>(in.number<std::int32_t>());
    in.number<std::int32_t>();  // the state of the session
    event.path = in.text();
    return event;
}

created_node read_created(const reply& answer) {
    jute_reader in(answer.body);
    std::string path(in.text());
    return {std::move(path), read_stat(in)};
}

node_data read_data(const reply& answer) {
    jute_reader in(answer.body);
    std::string data(in.text());
    return {std::move(data), read_stat(in)};
}

std::vector<std::string> read_children(const reply& answer) {
    return jute_reader(answer.body).texts();
}

// A failed step has an error for each part; that of the others is "runtime inconsistency" or `ok`.
reply_code read_multi(const reply& answer) {
    static constexpr std::int32_t inconsistency = -2, failed_part = -1;
    if (answer.code != reply_code::ok) return answer.code;
    jute_reader in(answer.body);
    for (;;) {
        const auto type = in.number<std::int32_t>();
        const bool is_end = in.boolean();
        const auto code = in.number<std::int32_t>();
        if (is_end) return reply_code::ok;
        if (type == static_cast<std::int32_t>(operation::create)) in.text();
        if (type != failed_part) continue;
        in.number<std::int32_t>();
        if (code != 0 && code != inconsistency) return static_cast<reply_code>(code);
    }
}

}  // namespace pawl::zookeeper
