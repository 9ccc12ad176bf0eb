// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/advice.hpp"
#include "../ui/failure.hpp"
#include "../ui/json.hpp"
#include "../ui/style.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <iostream>
#include <utility>
#include <vector>

namespace pawl::cli {

namespace {

using grade = finding::grade;

const char* name_of(grade value) {
    switch (value) {
    case grade::good: return "good";
    case grade::note: return "note";
    case grade::warning: return "warning";
    case grade::bad: break;
    }
    return "bad";
}

colour colour_of(grade value) {
    switch (value) {
    case grade::good: return colour::green;
    case grade::note: return colour::blue;
    case grade::warning: return colour::yellow;
    case grade::bad: break;
    }
    return colour::red;
}

using guarantee = std::pair<const char*, std::string guarantee_row::*>;

constexpr std::array<guarantee, 8> guarantees{{{"backend", &guarantee_row::backend},
                                               {"holder_crash", &guarantee_row::holder_crash},
                                               {"holder_pause", &guarantee_row::holder_pause},
                                               {"server_crash", &guarantee_row::server_crash},
                                               {"failover", &guarantee_row::failover},
                                               {"partition", &guarantee_row::partition},
                                               {"clock_jump", &guarantee_row::clock_jump},
                                               {"token", &guarantee_row::token}}};

constexpr std::array<const char*, 8> questions{
    "service",    "the holder crashes",     "the holder is paused", "the server crashes",
    "a failover", "the network is divided", "the clock jumps",      "the fencing token"};

// The findings of one node, or of the whole service.
void show_findings(const examination& result, const std::string& node, std::size_t width,
                   bool coloured) {
    table facts({{.title = "", .side = table::align::left, .flexible = false},
                 {.title = "WHAT", .side = table::align::left, .flexible = false},
                 {.title = "FOUND", .side = table::align::left, .flexible = true}});
    bool is_empty = true;
    for (const finding& each : result.findings) {
        if (each.node != node) continue;
        facts.add({{name_of(each.level), colour_of(each.level)},
                   {printable(each.topic)},
                   {printable(in_command_words(each.fact))}});
        is_empty = false;
    }
    if (!is_empty)
        std::cout << (node.empty() ? "\n" : "") << facts.text(width, coloured);
    else if (!node.empty())
        std::cout << "  not examined: it serves no locks\n";
}

// Each advice once, with the nodes that it is for.
void show_advice(const examination& result, bool coloured) {
    std::vector<const finding*> shown;
    for (const finding& each : result.findings) {
        const auto is_same = [&](const finding* other) {
            return other->topic == each.topic && other->advice == each.advice &&
                   other->level == each.level && other->node.empty() == each.node.empty();
        };
        if (each.advice.empty() || std::any_of(shown.begin(), shown.end(), is_same)) continue;
        if (shown.empty())
            std::cout << '\n' << paint("What to change", colour::bold, coloured) << '\n';
        shown.push_back(&each);
        std::string nodes;
        for (const finding& other : result.findings)
            if (!other.node.empty() && is_same(&other) && result.nodes.size() > 1)
                nodes.append(nodes.empty() ? "" : ", ").append(other.node);
        if (!nodes.empty()) nodes = " (" + nodes + ")";
        std::cout << "  " << paint(printable(each.topic + nodes), colour_of(each.level), coloured)
                  << ": " << printable(in_command_words(each.advice)) << '\n';
    }
}

void show(const service_location& location, const examination& result) {
    const bool coloured = wants_colour(STDOUT_FILENO);
    const std::size_t width = terminal_width(STDOUT_FILENO);
    std::cout << paint(printable(location.lock_service.describe()), colour::bold, coloured)
              << " (from " << printable(location.source) << ")\n";

    show_findings(result, "", width, coloured);
    for (const examined_node& each : result.nodes) {
        const auto role = each.role.empty() ? "" : " (" + printable(each.role) + ")";
        std::cout << '\n' << paint(printable(each.name) + role, colour::bold, coloured) << '\n';
        show_findings(result, each.name, width, coloured);
    }

    show_advice(result, coloured);

    std::cout << '\n' << paint("What this service guarantees if …", colour::bold, coloured) << '\n';
    std::size_t widest = 0;
    for (const char* each : questions)
        widest = std::max(widest, width_of(each));
    for (std::size_t i = 0; i < guarantees.size(); ++i) {
        const std::string question = questions[i];
        std::cout << "  " << question << std::string(widest - width_of(question) + 2, ' ')
                  << printable(result.guarantees.*guarantees[i].second) << '\n';
    }
}

std::string as_json(const service_location& location, const examination& result) {
    json text;
    text.begin_object()
        .field("service", location.lock_service.describe())
        .field("source", location.source);
    text.key("findings").begin_array();
    for (const finding& each : result.findings) {
        text.begin_object().field("grade", name_of(each.level)).field("topic", each.topic);
        text.field("fact", each.fact).field("advice", each.advice).field("node", each.node);
        text.end_object();
    }
    text.end_array().key("nodes").begin_array();
    for (const examined_node& each : result.nodes)
        text.begin_object().field("name", each.name).field("role", each.role).end_object();
    text.end_array().key("guarantees").begin_object();
    for (const auto& [name, member] : guarantees)
        text.field(name, result.guarantees.*member);
    text.end_object().end_object();
    return text.str();
}

}  // namespace

int doctor(const doctor_options& options) {
    const service_location location = find_location(options.location);
    blocking::client locks(location.lock_service);
    const examination result = locks.examine();
    if (options.json) {
        std::cout << as_json(location, result) << '\n';
    } else {
        show(location, result);
    }
    const bool bad = std::any_of(result.findings.begin(), result.findings.end(),
                                 [](const finding& each) { return each.level == grade::bad; });
    return static_cast<int>(bad ? exit_code::no : exit_code::ok);
}

}  // namespace pawl::cli
