// What a server may say: bytes of any kind, and well-formed replies with any content.
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
session begin(std::string_view line) {
    session what;
    if (line.starts_with('r')) what.options = "layout=redisson";
    if (line.starts_with('w')) what.options = "layout=redisson&object=readwrite";
    if (line.starts_with('s')) what.options = "layout=redisson&object=semaphore";
    if (line.starts_with('k')) what.options = "key={name}";
    what.operations = line.substr(std::min<std::size_t>(line.size(), 1), most_operations);
    return what;
}

// A line each: s bulk string, i integer, n null, e error, a array and p push until z.
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
    session what = begin(line.substr(std::min<std::size_t>(line.size(), 2)));
    what.greets = !line.starts_with('-');
    what.chunk = line.size() > 1 ? static_cast<unsigned char>(line[1]) : 4096;
    what.raw = input;
    play(std::move(what));
}

void replies(std::string_view input) {
    session what = begin(take_line(input));
    std::string pushes;
    while (!input.empty()) {
        const bool push = input.starts_with('p');
        auto reply = encode(input, 0);
        if (push)
            pushes += reply;
        else
            what.replies.push_back(std::exchange(pushes, {}) + reply);
    }
    what.raw = pushes;
    play(std::move(what));
}

}  // namespace fuzz
