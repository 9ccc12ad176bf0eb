// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_inspection.hpp"

#include "calls.hpp"
#include "node_failures.hpp"
#include "node_request.hpp"

#include "../common/values.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redlock {

// What one node says of a lock.
struct lock_inspection::node_view {
    std::optional<error> failure{};
    inspect_call::answer state{};
};

asio::awaitable<void> lock_inspection::require_majority() {
    const auto trouble = co_await client_.membership.wait_for_readable(client_.reply_deadline());
    if (trouble) throw *trouble;
}

asio::awaitable<void> lock_inspection::inspect_at(const redis::keys& lock_keys, std::size_t node,
                                                  node_view& into) {
    try {
        const inspect_call call{*client_.layout, lock_keys};
        const auto reply = co_await ask_node(nodes_.link_of(node), call, client_.reply_deadline());
        redis::throw_if_error(reply, nodes_.name_of(node));
        into.state = call.read(reply);
    } catch (const error& e) {
        into.failure = e;  // the others decide
    }
}

void lock_inspection::require_answers(const node_failures& failures,
                                      const std::string& consequence) const {
    if (failures.count() <= nodes_.size() - nodes_.majority()) return;
    throw error(failures.lasting_reason().value_or(errc::no_quorum),
                consequence + failures.text(nodes_.names()) + ".");
}

asio::awaitable<std::vector<lock_inspection::node_view>> lock_inspection::inspect_all(
    const redis::keys& lock_keys) {
    std::vector<node_view> views(nodes_.size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        requests.push_back(inspect_at(lock_keys, i, views[i]));
    co_await client_.tasks.join(std::move(requests));
    node_failures failures(nodes_.size());
    for (std::size_t i = 0; i < views.size(); ++i)
        if (views[i].failure) failures.add(i, *views[i].failure);
    require_answers(failures,
                    "Fewer than " + std::to_string(nodes_.majority()) + " nodes show the lock: ");
    co_return views;
}

namespace {

// The holds of one lock at the nodes, by their values.
class observed_holds {
public:
    void add(const std::string& value, fencing_token token, std::int64_t left_ms, lock_mode mode) {
        auto& seen = holds_[value];
        seen.counters.push_back(token);
        seen.left_ms = std::max(seen.left_ms, left_ms);
        seen.mode = mode;
    }

    // Those that so many nodes have: `least`, which is a majority unless nodes have lost their data
    // or give no answer. A minority may have the rest of an attempt.
    [[nodiscard]] std::vector<holder> holders(std::size_t least) {
        std::vector<holder> result;
        for (auto& [value, seen] : holds_) {
            if (seen.counters.size() < least) continue;
            auto& each = result.emplace_back(redis::parse_value(value));
            // The token is the number of a majority. A node that answered late may have a larger
            // one, and one that is not confirmed yet has a smaller one.
            std::ranges::sort(seen.counters, std::ranges::greater{});
            each.token = seen.counters[least - 1];
            each.remaining = redis::milliseconds_of(seen.left_ms);
            each.mode = seen.mode;
        }
        std::ranges::stable_sort(result, {}, &holder::since);
        return result;
    }

private:
    struct observation {
        std::vector<fencing_token> counters{};  // of the nodes
        std::int64_t left_ms = 0;
        lock_mode mode = lock_mode::exclusive;
    };
    std::map<std::string, observation> holds_;
};

}  // namespace

asio::awaitable<lock_info> lock_inspection::inspect(std::string_view name) {
    co_await require_majority();
    lock_info info;
    info.name = name;
    const auto lock_keys = scheme_.keys_of(name);
    const auto views = co_await inspect_all(lock_keys);
    observed_holds seen;
    for (const auto& [failure, state] : views) {
        info.waiters = std::max(info.waiters, state.waiters);
        if (state.value) seen.add(*state.value, state.token, state.left_ms, lock_mode::exclusive);
        for (const auto& each : state.readers)
            seen.add(each.value, each.token, each.left_ms, lock_mode::shared);
    }
    auto holders = seen.holders(client_.membership.view().least_views());
    if (holders.empty()) co_return info;
    info.held_by = std::move(holders.front());
    info.others.assign(std::next(holders.begin()), holders.end());
    co_return info;
}

asio::awaitable<bool> lock_inspection::has_holder(std::string_view name, fencing_token token) {
    const auto info = co_await inspect(name);
    const auto has_token = [token](const holder& each) { return each.token == token; };
    co_return info.held_by &&
        (has_token(*info.held_by) || std::ranges::any_of(info.others, has_token));
}

}  // namespace pawl::redlock
