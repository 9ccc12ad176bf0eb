// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "message_bugs.hpp"

#include "../server/known_scripts.hpp"

#include <charconv>
#include <cstddef>
#include <utility>

namespace pawl::simulation {

namespace {

constexpr std::string_view redisson_channel = "redisson_countdownlatch__channel__{";

std::uint64_t to_number(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// A latch's channel is its key, "/" and the database.
bool is_native(const std::string& channel) {
    const auto slash = channel.rfind('/');
    return slash != channel.npos && slash > 2 && channel.compare(slash - 2, 2, ":l") == 0;
}

}  // namespace

latch_bugs::words latch_bugs::rewrite_command(words command) const {
    if (!drops_database()) return command;
    for (auto& word : command)
        if (is_native(word)) word.erase(word.rfind('/'));
    return command;
}

void latch_bugs::note_message(const std::string& channel, const std::string& message) {
    if (bug_ == injected_bug::latch_message_trusted && message == "0" &&
        channel.starts_with(redisson_channel)) {
        const auto begin = redisson_channel.size();
        open_keys_.insert(channel.substr(begin, channel.size() - begin - 1));
    }
    if (bug_ == injected_bug::generation_of_another_database && message.starts_with("open "))
        first_generations_[channel] = to_number(std::string_view(message).substr(5));
}

std::vector<std::string> latch_bugs::receivers_of(const std::string& channel,
                                                  const redis::subscriptions& all) const {
    if (!drops_database()) return {channel};
    std::vector<std::string> receivers;
    for (auto& each : all.all())
        if (each == channel || (is_native(each) && each.substr(0, each.rfind('/')) == channel))
            receivers.push_back(std::move(each));
    return receivers;
}

void latch_bugs::rewrite_reply(const words& command, redis::reply& reply) {
    if (command[0] == "GETRANGE" && open_keys_.erase(command[1]) > 0) reply = {};
    if (first_generations_.empty() || command.size() < 4) return;
    const auto* const script = find_script(command[1]);
    const auto heard = first_generations_.find(command[3]);
    if (script == nullptr || script->name != "latch_inspect" || heard == first_generations_.end())
        return;
    if (reply.items.size() == 5 && to_number(reply.items[1].text) < heard->second) reply = {};
    first_generations_.erase(heard);
}

namespace {

// In the native layout: where the owner begins in `VALUE` or `CLIENT:OWNER`.
std::size_t owner_offset(const std::string& word) {
    if (word.size() >= 49 && word[16] == ':') return 17;
    return word.size() > 32 && word[32] == ';' ? 0 : word.npos;
}

// In Redisson's layout: UUID:THREAD, also within a key. The thread becomes its last digit.
void shorten_thread(std::string& word) {
    constexpr std::size_t uuid_size = 36;
    for (auto colon = word.find(':', uuid_size); colon != word.npos;
         colon = word.find(':', colon + 1)) {
        const bool is_owner = word[colon - 13] == '-' && word[colon - 28] == '-';
        auto end = colon + 1;
        while (end < word.size() && word[end] >= '0' && word[end] <= '9')
            ++end;
        if (is_owner && end > colon + 2) word.erase(colon + 1, end - colon - 2);
    }
}

}  // namespace

void owner_bugs::replace_owners(std::vector<std::string>& command) {
    if (bug_ == injected_bug::redisson_owners_reused)
        for (std::size_t i = 3; i < command.size(); ++i)
            shorten_thread(command[i]);
    if (bug_ != injected_bug::owners_reused) return;
    for (std::size_t i = 3; i < command.size(); ++i) {
        const auto offset = owner_offset(command[i]);
        if (offset == std::string::npos) continue;
        const auto owner = command[i].substr(offset, 32);
        auto& replacement = replacements_[owner];
        if (replacement.empty()) {
            replacement =
                channel_.substr(channel_.size() - 16) + "000000000000000" + char('0' + next_);
            next_ = (next_ + 1) % 6;
            owners_[replacement] = owner;
        }
        command[i].replace(offset, 32, replacement);
    }
}

void owner_bugs::restore_owners(std::string& message) const {
    for (const auto& [replacement, owner] : owners_)
        if (const auto offset = message.find(replacement); offset != message.npos)
            message.replace(offset, replacement.size(), owner);
}

}  // namespace pawl::simulation
