// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_reports.hpp"

#include "errors.hpp"

#include "../core/store/permits.hpp"
#include "../core/store/predecessor.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::zookeeper {
namespace {

// Requests of `list` that are sent together.
constexpr std::size_t most_at_once = 64;
constexpr std::size_t shown_owner = 8;

// A question to the sessions, with its limit.
struct enquiry {
    std::shared_ptr<lock_client> client;
    std::shared_ptr<session> used;
    time_point limit;
};

// A lock with its holders, which come before the waiters.
struct lock_line {
    std::string path;
    std::vector<contender> all;
    std::uint32_t total = 0;
    std::size_t holders = 0;
};

asio::awaitable<enquiry> begin_enquiry(std::shared_ptr<lock_client> client) {
    client->throw_if_forked();
    const auto limit = client->try_deadline();
    auto used = co_await client->sessions().get_any(limit);
    co_return enquiry{std::move(client), std::move(used), limit};
}

void count_holders(lock_line& line) {
    std::vector<core::lock_share> shares;
    for (const auto& each : line.all)
        shares.push_back(each.share);
    while (line.holders < shares.size() && !core::blocker_of(shares, line.holders, line.total))
        ++line.holders;
}

asio::awaitable<lock_line> read_line(enquiry from, std::string path) {
    lock_line line{.path = std::move(path)};
    const auto asked = get_children_request(line.path, false);
    const auto children = co_await from.used->ask(asked, from.limit);
    if (children.code == reply_code::no_node) co_return line;
    throw_if_failed(children, from.client->settings(), line.path);
    const auto nodes = read_children(children);
    line.all = contenders_of(nodes, line.path);
    const auto stored_at = total_path(line.path);
    if (std::ranges::find(nodes, node_of(stored_at)) != nodes.end()) {
        const auto total_request = get_data_request(stored_at, false);
        const auto total = co_await from.used->ask(total_request, from.limit);
        const auto text = total.code == reply_code::ok ? read_data(total).data : std::string();
        std::from_chars(text.data(), text.data() + text.size(), line.total);
    }
    count_holders(line);
    co_return line;
}

holder describe_holder(const contender& shown_node, const node_data& node) {
    holder shown;
    shown.mode = shown_node.share.mode;
    shown.permits = shown_node.share.permits;
    shown.owner = owner_in(shown_node.node).substr(0, shown_owner);
    shown.since =
        std::chrono::system_clock::time_point(std::chrono::milliseconds(node.stat.created_at));
    shown.remaining = forever;  // it ends with its session
    auto token = static_cast<std::uint64_t>(node.stat.created_by);
    if (const auto data = parse_data(node.data)) {
        shown.host = data->host;
        shown.pid = data->pid;
        shown.command = data->command;
        if (data->created_by != 0) token = data->created_by;
        if (data->phase != 0) token = data->phase;
    }
    shown.token = fencing_token(token);
    return shown;
}

// The holders of the line that still exist, with their paths. After a `resize` to fewer permits,
// holders may be where only waiters would be.
asio::awaitable<std::vector<std::pair<std::string, holder>>> read_holders(enquiry from,
                                                                          lock_line line) {
    std::vector<std::pair<std::string, holder>> all;
    for (std::size_t i = 0; i < line.all.size(); ++i) {
        const bool is_certain = i < line.holders;
        if (!is_certain && line.all[i].share.mode != lock_mode::permits) continue;
        auto path = line.path + "/" + line.all[i].node;
        const auto asked = get_data_request(path, false);
        const auto answer = co_await from.used->ask(asked, from.limit);
        if (answer.code == reply_code::no_node) continue;
        throw_if_failed(answer, from.client->settings(), path);
        const auto node = read_data(answer);
        const auto data = parse_data(node.data);
        if (!is_certain && !(data && data->phase != 0)) continue;
        all.emplace_back(std::move(path), describe_holder(line.all[i], node));
    }
    co_return all;
}

asio::awaitable<lock_info> describe_lock(enquiry from, std::string name, std::string path) {
    auto line = co_await read_line(from, std::move(path));
    lock_info info;
    info.name = std::move(name);
    info.waiters = line.all.size();
    info.permits = line.total;
    auto holders = co_await read_holders(from, std::move(line));
    info.waiters -= std::min<std::uint64_t>(info.waiters, holders.size());
    for (auto& [node, each] : holders) {
        if (info.held_by)
            info.others.push_back(std::move(each));
        else
            info.held_by = std::move(each);
    }
    core::set_free_permits(info);
    co_return info;
}

// A server may be behind the leader.
asio::awaitable<void> catch_up(enquiry from) {
    const auto asked = sync_request("/");
    const auto answer = co_await from.used->ask(asked, from.limit);
    throw_if_failed(answer, from.client->settings(), "/");
}

struct folder {
    std::string path;
    std::string name;  // of the lock; empty for the root
};

bool may_contain(const folder& each, std::string_view prefix) {
    return each.name.empty() || each.name.starts_with(prefix) ||
           prefix.starts_with(each.name + "/");
}

std::vector<folder> folders_in(const folder& parent, const std::vector<std::string>& children) {
    std::vector<folder> all;
    for (const auto& each : children) {
        const bool is_servers_own = parent.path == "/" && each == "zookeeper";
        if (is_contender(each) && !parent.name.empty()) continue;
        if (is_servers_own || each == node_of(total_path(""))) continue;
        all.push_back({(parent.path == "/" ? "" : parent.path) + "/" + each,
                       parent.name.empty() ? decoded(each) : parent.name + "/" + decoded(each)});
    }
    return all;
}

}  // namespace

asio::awaitable<lock_info> inspect(std::shared_ptr<lock_client> client, std::string name) {
    const core::in_flight::guard operation(client->operations());
    const auto from = co_await begin_enquiry(client);
    co_await catch_up(from);
    auto path = client->path_of(name);
    co_return co_await describe_lock(from, std::move(name), std::move(path));
}

asio::awaitable<std::vector<lock_info>> list(std::shared_ptr<lock_client> client,
                                             std::string prefix) {
    const core::in_flight::guard operation(client->operations());
    const auto from = co_await begin_enquiry(client);
    co_await catch_up(from);
    std::vector<lock_info> held;
    std::vector<folder> unread{{client->settings().root, {}}};
    while (!unread.empty()) {
        const auto count = std::min(unread.size(), most_at_once);
        const std::vector<folder> some(unread.end() - static_cast<std::ptrdiff_t>(count),
                                       unread.end());
        unread.resize(unread.size() - count);
        std::vector<pending_ptr> sent;
        for (const auto& each : some)
            sent.push_back(from.used->send(get_children_request(each.path, false)));
        for (std::size_t i = 0; i < some.size(); ++i) {
            const auto answer = co_await from.used->wait(sent[i], from.limit);
            if (answer.code == reply_code::no_node) continue;
            throw_if_failed(answer, client->settings(), some[i].path);
            const auto children = read_children(answer);
            for (auto& each : folders_in(some[i], children))
                if (may_contain(each, prefix)) unread.push_back(std::move(each));
            const bool is_locked =
                std::ranges::any_of(children, [](const auto& each) { return is_contender(each); });
            if (!is_locked || some[i].name.empty() || !some[i].name.starts_with(prefix)) continue;
            auto info = co_await describe_lock(from, some[i].name, some[i].path);
            if (info.held_by) held.push_back(std::move(info));
        }
    }
    co_return held;
}

// The node of a holder has a name that no other hold ever has: its removal ends no later hold.
asio::awaitable<bool> force_release(std::shared_ptr<lock_client> client, std::string name,
                                    fencing_token expected) {
    const core::in_flight::guard operation(client->operations());
    const auto from = co_await begin_enquiry(client);
    co_await catch_up(from);
    auto line = co_await read_line(from, client->path_of(name));
    const auto holders = co_await read_holders(from, std::move(line));
    const bool is_expected = !expected || std::ranges::any_of(holders, [&](const auto& each) {
        return each.second.token == expected;
    });
    if (!is_expected) co_return false;
    bool was_released = false;
    for (const auto& [path, each] : holders) {
        if (expected && each.token > expected) continue;
        const auto removal = remove_request(path);
        const auto answer = co_await from.used->ask(removal, from.limit);
        if (answer.code == reply_code::ok) was_released = true;
        if (answer.code != reply_code::no_node) throw_if_failed(answer, client->settings(), path);
    }
    co_return was_released;
}

}  // namespace pawl::zookeeper
