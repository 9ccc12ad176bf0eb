#include "failure.hpp"
#include "json.hpp"
#include "style.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

namespace pawl::cli {

namespace {

using grade = finding::grade;

const char* name_of(grade how) {
    switch (how) {
    case grade::good: return "good";
    case grade::note: return "note";
    case grade::warning: return "warning";
    case grade::bad: break;
    }
    return "bad";
}

colour colour_of(grade how) {
    switch (how) {
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

void show(const place& where, const examination& found) {
    const bool coloured = wants_colour(STDOUT_FILENO);
    const std::size_t width = terminal_width(STDOUT_FILENO);
    std::cout << paint(printable(where.where.describe()), colour::bold, coloured) << " (from "
              << printable(where.source) << ")\n\n";

    table facts({{.title = "", .side = table::align::left, .flexible = false},
                 {.title = "WHAT", .side = table::align::left, .flexible = false},
                 {.title = "FOUND", .side = table::align::left, .flexible = true}});
    for (const finding& each : found.findings) {
        facts.add({{name_of(each.how), colour_of(each.how)},
                   {printable(each.topic)},
                   {printable(each.fact)}});
    }
    std::cout << facts.text(width, coloured);

    const bool advised = std::any_of(found.findings.begin(), found.findings.end(),
                                     [](const finding& each) { return !each.advice.empty(); });
    if (advised) std::cout << '\n' << paint("What to change", colour::bold, coloured) << '\n';
    for (const finding& each : found.findings) {
        if (each.advice.empty()) continue;
        std::cout << "  " << paint(printable(each.topic), colour_of(each.how), coloured) << ": "
                  << printable(each.advice) << '\n';
    }

    std::cout << '\n' << paint("What holds here when …", colour::bold, coloured) << '\n';
    std::size_t widest = 0;
    for (const char* each : questions)
        widest = std::max(widest, width_of(each));
    for (std::size_t i = 0; i < guarantees.size(); ++i) {
        const std::string question = questions[i];
        std::cout << "  " << question << std::string(widest - width_of(question) + 2, ' ')
                  << printable(found.guarantees.*guarantees[i].second) << '\n';
    }
}

std::string as_json(const place& where, const examination& found) {
    json text;
    text.begin_object().field("service", where.where.describe()).field("source", where.source);
    text.key("findings").begin_array();
    for (const finding& each : found.findings) {
        text.begin_object().field("grade", name_of(each.how)).field("topic", each.topic);
        text.field("fact", each.fact).field("advice", each.advice).end_object();
    }
    text.end_array().key("guarantees").begin_object();
    for (const auto& [name, member] : guarantees)
        text.field(name, found.guarantees.*member);
    text.end_object().end_object();
    return text.str();
}

}  // namespace

int doctor(const doctor_options& options) {
    const place where = find_place(options.on);
    blocking::client locks(where.where);
    const examination found = locks.examine();
    if (options.json) {
        std::cout << as_json(where, found) << '\n';
    } else {
        show(where, found);
    }
    const bool bad = std::any_of(found.findings.begin(), found.findings.end(),
                                 [](const finding& each) { return each.how == grade::bad; });
    return static_cast<int>(bad ? exit_code::no : exit_code::ok);
}

}  // namespace pawl::cli
