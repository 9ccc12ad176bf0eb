// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_nodes.hpp"

#include <conformance/process.hpp>

#include <pawl/blocking/redlock_administration.hpp>
#include <pawl/error.hpp>
#include <pawl/redlock.hpp>

#include <algorithm>
#include <iostream>
#include <sstream>

namespace real {

namespace {

using namespace std::chrono_literals;
using pawl::conformance::child;

const support::command_words ask_for_fields{"HMGET",       "pawl:redlock", "run",   "nonce",
                                            "incarnation", "highest",      "vector"};

std::string run_id_of(const std::string& info) {
    const std::string field = "\nrun_id:";
    const auto begin = info.find(field);
    if (begin == std::string::npos) return {};
    const auto value = begin + field.size();
    return info.substr(value, info.find('\r', value) - value);
}

// With Sentinels the run of a member also has the epoch of the master.
membership read_membership(const std::string& info, const support::resp_value& fields) {
    const auto text = [&](std::size_t index) { return fields.items.at(index).text; };
    membership result{.run_id = run_id_of(info), .nonce = text(1), .marks = {}};
    result.is_member =
        !result.run_id.empty() && text(0).starts_with(result.run_id) && !text(3).empty();
    if (!result.is_member) return result;
    result.incarnation = std::stoull(text(2));
    std::istringstream marks(text(4));
    for (std::string mark; marks >> mark;)
        result.marks.push_back(mark);
    return result;
}

bool has_heard_of_later(const membership& node, const membership& other) {
    const auto own = std::to_string(other.incarnation) + ":" + other.nonce;
    const auto index =
        static_cast<std::size_t>(std::ranges::find(other.marks, own) - other.marks.begin());
    if (index >= node.marks.size()) return true;  // one of them is damaged
    const auto& known = node.marks[index];
    return known != own && std::stoull(known) >= other.incarnation;
}

}  // namespace

const std::vector<support::command_words>& look_at_node() {
    static const std::vector<support::command_words> look{
        {"MULTI"}, {"INFO", "server"}, ask_for_fields, {"EXISTS", "pawl:redlock:q"}, {"EXEC"}};
    return look;
}

std::optional<server_state> read_node(const look_replies& replies) {
    const auto& answers = replies.back().items;
    if (answers.size() != 3 || answers[1].items.size() != 5) return std::nullopt;
    const auto member = read_membership(answers[0].text, answers[1]);
    return server_state{.run_id = member.run_id,
                        .replication_id = member.nonce,
                        .is_master = true,
                        .is_serving = member.is_member && answers[2].number() == 0,
                        .epoch = member.incarnation};
}

membership ask_for_membership(support::redis_server& node) {
    const auto connection = node.connect();
    const auto info = connection->execute({"INFO", "server"});
    return read_membership(info.text, connection->execute(ask_for_fields));
}

std::string text_of_membership(support::redis_server& node) {
    if (!node.is_running() || node.is_frozen()) return {};
    std::string text = "membership:";
    for (const auto& each : node.connect()->execute(ask_for_fields).items)
        text += " [" + each.text + "]";
    return text + "\n";
}

bool is_whole_set(const std::vector<membership>& nodes) {
    return std::ranges::all_of(nodes, &membership::is_member) &&
           std::ranges::none_of(nodes, [&](const membership& each) {
               return std::ranges::any_of(
                   nodes, [&](const membership& other) { return has_heard_of_later(other, each); });
           });
}

void begin_set_from(const support::machine& machine, const std::string& url, const std::string& how,
                    pace& pace) {
    pace.until(
        [&] {
            auto options = pawl::conformance::launch_as_helper({"begin-set", url, how});
            options.arguments.insert(options.arguments.begin(), machine.launcher.begin(),
                                     machine.launcher.end());
            child operation(options);
            const bool is_begun = operation.read_line(30s) == "begun";
            (void)operation.wait(30s);
            return is_begun;
        },
        "no new set begins");
}

void wait_for_members(const std::vector<support::redis_server*>& nodes, pace& pace) {
    pace.until(
        [&] {
            std::vector<membership> known;
            for (auto* each : nodes)
                known.push_back(ask_for_membership(*each));
            return is_whole_set(known);
        },
        "not all of them are members of the set");
}

int begin_set(const std::string& url, const std::string& force) {
    try {
        pawl::blocking::redlock_administration nodes(pawl::redlock::parse(url));
        nodes.begin_set(force == "force");
    } catch (const pawl::error& problem) {
        std::cout << problem.what() << std::endl;
        return 1;
    }
    std::cout << "begun" << std::endl;
    return 0;
}

}  // namespace real
