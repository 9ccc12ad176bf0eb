// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "store.hpp"

namespace pawl::simulation {

store::entry* store::find(std::string_view key) {
    const auto it = keys_.find(key);
    if (it == keys_.end()) return nullptr;
    if (it->second.expires_ms && now_ms() > *it->second.expires_ms) {
        erase(it);
        return nullptr;
    }
    return &it->second;
}

const store::entry* store::peek(std::string_view key) const {
    const auto it = keys_.find(key);
    return it == keys_.end() ? nullptr : &it->second;
}

std::string store::text_of(std::string_view key) {
    const auto* const stored = find(key);
    const auto* const text =
        stored == nullptr ? nullptr : std::get_if<std::string>(&stored->content);
    return text == nullptr ? std::string() : *text;
}

void store::assign(std::string_view key, std::string_view value,
                   std::optional<std::int64_t> expires_ms) {
    auto it = keys_.find(key);
    if (it == keys_.end()) it = keys_.emplace(std::string(key), entry{}).first;
    if (auto* const text = std::get_if<std::string>(&it->second.content))
        *text = value;
    else
        it->second.content.emplace<std::string>(value);
    it->second.expires_ms = expires_ms;
    note_written(key);
}

void store::restore(std::string_view key, entry with) {
    keys_.insert_or_assign(std::string(key), std::move(with));
    note_written(key);
}

bool store::erase(std::string_view key) {
    if (find(key) == nullptr) return false;
    erase(keys_.find(key));
    return true;
}

void store::erase(keys::iterator position) {
    note_written(position->first);
    keys_.erase(position);
}

void store::note_written(std::string_view key) {
    if (wants_written_) journal_.written.emplace_back(key);
}

void store::note_read(std::string_view key) {
    if (wants_read_) journal_.read.emplace_back(key);
}

void store::begin_journal(bool wants_read, bool wants_written) {
    journal_.read.clear();
    journal_.written.clear();
    wants_read_ = wants_read;
    wants_written_ = wants_written;
}

const store::keys& store::all() {
    for (auto it = keys_.begin(); it != keys_.end();) {
        const auto current = it++;
        if (current->second.expires_ms && now_ms() > *current->second.expires_ms) erase(current);
    }
    return keys_;
}

}  // namespace pawl::simulation
