#include "latch_bugs.hpp"

#include "known_scripts.hpp"

#include <charconv>
#include <utility>

namespace pawl::simulation {
namespace {

constexpr std::string_view redisson_channel = "redisson_countdownlatch__channel__{";

std::uint64_t to_number(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// Of a latch: its key, "/" and the database.
bool is_native(const std::string& channel) {
    const auto slash = channel.rfind('/');
    return slash != channel.npos && slash > 2 && channel.compare(slash - 2, 2, ":l") == 0;
}

}  // namespace

latch_bugs::words latch_bugs::sent(words command) const {
    if (!without_database()) return command;
    for (auto& word : command)
        if (is_native(word)) word.erase(word.rfind('/'));
    return command;
}

void latch_bugs::heard(const std::string& channel, const std::string& message) {
    if (bug_ == planted::latch_message_believed && message == "0" &&
        channel.starts_with(redisson_channel)) {
        const auto begin = redisson_channel.size();
        open_.insert(channel.substr(begin, channel.size() - begin - 1));
    }
    if (bug_ == planted::generation_of_another_database && message.starts_with("open "))
        first_[channel] = to_number(std::string_view(message).substr(5));
}

std::vector<std::string> latch_bugs::meant(const std::string& channel,
                                           const redis::subscriptions& all) const {
    if (!without_database()) return {channel};
    std::vector<std::string> found;
    for (auto& each : all.all())
        if (each == channel || (is_native(each) && each.substr(0, each.rfind('/')) == channel))
            found.push_back(std::move(each));
    return found;
}

void latch_bugs::answered(const words& command, redis::reply& answer) {
    if (command[0] == "GET" && open_.erase(command[1]) > 0) answer = {};
    if (first_.empty() || command.size() < 4) return;
    const auto* const script = find_script(command[1]);
    const auto heard = first_.find(command[3]);
    if (script == nullptr || script->name != "latch_look" || heard == first_.end()) return;
    if (answer.items.size() == 5 && to_number(answer.items[1].text) < heard->second) answer = {};
    first_.erase(heard);
}

}  // namespace pawl::simulation
