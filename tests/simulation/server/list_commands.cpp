// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command_functions.hpp"

#include "numbers.hpp"

#include <algorithm>
#include <cstdlib>

namespace pawl::simulation::command_functions {
namespace {

using list = store::list;

template <class Insert>
void push(const command_call& call, Insert insert) {
    auto& items = call.data.find_or_create<list>(call.words[1]);
    for (const auto item : call.words.subspan(2))
        insert(items, item);
    call.data.note_written(call.words[1]);
    call.reply.integer(static_cast<std::int64_t>(items.size()));
}

struct lpos_options {
    std::int64_t rank = 1, most_compared = 0;
    std::optional<std::int64_t> count;
};

lpos_options read_lpos_options(std::span<const std::string_view> words) {
    const auto to_size = [](std::string_view word, const char* error) {
        const auto number = to_integer(word, error);
        if (number < 0) throw command_error(error);
        return number;
    };
    lpos_options options;
    for (std::size_t i = 3; i < words.size(); i += 2) {
        if (i + 1 == words.size()) throw_syntax_error();
        if (is_option(words[i], "RANK")) {
            options.rank = to_integer(words[i + 1]);
            if (options.rank == 0)
                throw command_error(
                    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the "
                    "second ... or use negative to start from the end of the list");
        } else if (is_option(words[i], "COUNT")) {
            options.count = to_size(words[i + 1], "ERR COUNT can't be negative");
        } else if (is_option(words[i], "MAXLEN")) {
            options.most_compared = to_size(words[i + 1], "ERR MAXLEN can't be negative");
        } else {
            throw_syntax_error();
        }
    }
    return options;
}

std::vector<std::int64_t> positions_of(const list& items, std::string_view item,
                                       const lpos_options& options) {
    std::vector<std::int64_t> positions;
    const auto size = static_cast<std::int64_t>(items.size());
    const auto compared = options.most_compared == 0 ? size : std::min(options.most_compared, size);
    const auto wanted = options.count.value_or(1);
    std::int64_t matches = 0;
    for (std::int64_t i = 0; i < compared; ++i) {
        const auto position = options.rank > 0 ? i : size - 1 - i;
        if (items[static_cast<std::size_t>(position)] != item) continue;
        if (++matches < std::abs(options.rank)) continue;
        positions.push_back(position);
        if (static_cast<std::int64_t>(positions.size()) == wanted) break;
    }
    return positions;
}

}  // namespace

void lpush(const command_call& call) {
    push(call, [](list& items, std::string_view item) { items.emplace_front(item); });
}

void rpush(const command_call& call) {
    push(call, [](list& items, std::string_view item) { items.emplace_back(item); });
}

void lpop(const command_call& call) {
    if (call.words.size() > 3)
        throw command_error("ERR wrong number of arguments for 'lpop' command");
    constexpr auto error = "ERR value is out of range, must be positive";
    const bool has_count = call.words.size() == 3;
    const auto count = has_count ? to_integer(call.words[2], error) : 1;
    if (count < 0) throw command_error(error);
    auto* const items = call.data.find_as<list>(call.words[1]);
    if (items == nullptr) return call.reply.nil();
    const auto popped = std::min<std::size_t>(static_cast<std::size_t>(count), items->size());
    if (has_count) call.reply.array(popped);
    for (std::size_t i = 0; i < popped; ++i) {
        call.reply.bulk(items->front());
        items->pop_front();
    }
    if (popped > 0) call.data.note_written(call.words[1]);
    call.data.erase_if_empty(call.words[1], *items);
}

void lindex(const command_call& call) {
    const auto* const items = call.data.find_as<list>(call.words[1]);
    if (items == nullptr) return call.reply.nil();
    auto index = to_integer(call.words[2]);
    const auto size = static_cast<std::int64_t>(items->size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) return call.reply.nil();
    call.reply.bulk((*items)[static_cast<std::size_t>(index)]);
}

void llen(const command_call& call) {
    const auto* const items = call.data.find_as<list>(call.words[1]);
    call.reply.integer(items == nullptr ? 0 : static_cast<std::int64_t>(items->size()));
}

void lpos(const command_call& call) {
    const auto options = read_lpos_options(call.words);
    const auto* const items = call.data.find_as<list>(call.words[1]);
    const auto positions = items == nullptr ? std::vector<std::int64_t>()
                                            : positions_of(*items, call.words[2], options);
    if (options.count) {
        call.reply.array(positions.size());
    } else if (positions.empty()) {
        call.reply.nil();
    }
    for (const auto position : positions)
        call.reply.integer(position);
}

void lrange(const command_call& call) {
    const auto first = to_integer(call.words[2]);
    const auto last = to_integer(call.words[3]);
    const auto* const items = call.data.find_as<list>(call.words[1]);
    const auto range = clip_range(first, last, items == nullptr ? 0 : items->size());
    call.reply.array(range ? range->size() : 0);
    for (auto i = range ? range->first : 0; range && i <= range->last; ++i)
        call.reply.bulk((*items)[static_cast<std::size_t>(i)]);
}

void lrem(const command_call& call) {
    const auto count = to_integer(call.words[2]);
    auto* const items = call.data.find_as<list>(call.words[1]);
    if (items == nullptr) return call.reply.integer(0);
    const auto most = static_cast<std::size_t>(std::abs(count));
    std::int64_t removed = 0;
    const auto is_done = [&] { return most != 0 && static_cast<std::size_t>(removed) == most; };
    const auto size = items->size();
    for (std::size_t i = 0, at = count < 0 ? size : 0; i < size && !is_done(); ++i) {
        if (count < 0) --at;
        const auto position = items->begin() + static_cast<std::ptrdiff_t>(at);
        if (*position == call.words[3]) {
            items->erase(position);
            ++removed;
        } else if (count >= 0) {
            ++at;
        }
    }
    if (removed > 0) call.data.note_written(call.words[1]);
    call.data.erase_if_empty(call.words[1], *items);
    call.reply.integer(removed);
}

}  // namespace pawl::simulation::command_functions
