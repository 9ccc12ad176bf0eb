// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "owner_bugs.hpp"

#include <cstddef>

namespace pawl::simulation {
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
