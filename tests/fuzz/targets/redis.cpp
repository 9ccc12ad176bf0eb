// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Replies of a server: bytes of any kind, and well-formed replies with any content.
#include "server.hpp"
#include "targets.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace fuzz {

namespace {

constexpr std::size_t most_operations = 6;
constexpr std::size_t most_depth = 6;

std::string_view take_line(std::string_view& from) {
    const auto end = std::min(from.find('\n'), from.size());
    const auto line = from.substr(0, end);
    from.remove_prefix(std::min(end + 1, from.size()));
    return line;
}

// LAYOUT and the operations, as in "rit".
server_script script_for(std::string_view line) {
    server_script script;
    if (line.starts_with('r')) script.options = "layout=redisson";
    if (line.starts_with('w')) script.options = "layout=redisson&object=readwrite";
    if (line.starts_with('s')) script.options = "layout=redisson&object=semaphore";
    if (line.starts_with('k')) script.options = "key={name}";
    script.operations = line.substr(std::min<std::size_t>(line.size(), 1), most_operations);
    return script;
}

// One line for each value: s bulk string, i integer, n null, e error, a array and p push until z.
std::string encode(std::string_view& from, std::size_t depth) {
    const auto line = take_line(from);
    const char mark = line.empty() ? 'n' : line.front();
    const auto text = line.substr(std::min<std::size_t>(line.size(), 1));
    const std::string end = "\r\n";
    if (mark == 'n') return "_" + end;
    if (mark == 'i')
        return ":" + std::string(text.substr(0, text.find_first_not_of("-0123456789"))) + end;
    if (mark == 'e') return "-" + std::string(text.substr(0, text.find('\r'))) + end;
    if ((mark != 'a' && mark != 'p') || depth >= most_depth)
        return "$" + std::to_string(text.size()) + end + std::string(text) + end;
    std::size_t count = 0;
    std::string items;
    while (!from.empty() && !from.starts_with("z\n") && from != "z") {
        items += encode(from, depth + 1);
        ++count;
    }
    take_line(from);
    return (mark == 'a' || depth > 0 ? "*" : ">") + std::to_string(count) + end + items;
}

}  // namespace

void resp(std::string_view input) {
    auto line = take_line(input);
    server_script script = script_for(line.substr(std::min<std::size_t>(line.size(), 2)));
    script.answers_handshake = !line.starts_with('-');
    script.chunk = line.size() > 1 ? static_cast<unsigned char>(line[1]) : 4096;
    script.raw_bytes = input;
    run_script(std::move(script));
}

void replies(std::string_view input) {
    server_script script = script_for(take_line(input));
    std::string pushes;
    while (!input.empty()) {
        const bool push = input.starts_with('p');
        auto reply = encode(input, 0);
        if (push)
            pushes += reply;
        else
            script.replies.push_back(std::exchange(pushes, {}) + reply);
    }
    script.raw_bytes = pushes;
    run_script(std::move(script));
}

}  // namespace fuzz
