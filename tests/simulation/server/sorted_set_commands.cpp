// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command_functions.hpp"

#include "numbers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace pawl::simulation::command_functions {
namespace {

const sorted_set& members_of(const command_call& call) {
    static const sorted_set none;
    const auto* const members = call.data.find_as<sorted_set>(call.words[1]);
    return members == nullptr ? none : *members;
}

struct zadd_options {
    bool nx = false, xx = false, gt = false, lt = false, ch = false, incr = false;
    std::size_t first_score = 2;
};

zadd_options read_zadd_options(std::span<const std::string_view> words) {
    zadd_options options;
    const std::pair<std::string_view, bool*> flags[] = {
        {"NX", &options.nx},     {"XX", &options.xx}, {"CH", &options.ch},
        {"INCR", &options.incr}, {"GT", &options.gt}, {"LT", &options.lt}};
    for (auto& next = options.first_score; next < words.size(); ++next) {
        const auto* const flag = std::ranges::find_if(
            flags, [&](const auto& each) { return is_option(words[next], each.first); });
        if (flag == std::end(flags)) break;
        *flag->second = true;
    }
    const auto rest = words.size() - options.first_score;
    if (rest == 0 || rest % 2 == 1) throw_syntax_error();
    if (options.nx && options.xx)
        throw command_error("ERR XX and NX options at the same time are not compatible");
    if ((options.nx && (options.gt || options.lt)) || (options.gt && options.lt))
        throw command_error("ERR GT, LT, and/or NX options at the same time are not compatible");
    if (options.incr && rest > 2)
        throw command_error("ERR INCR option supports a single increment-element pair");
    return options;
}

enum class zadd_outcome : std::uint8_t { skipped, unchanged, updated, added };

// `score` becomes the member's new score, unless it was skipped.
zadd_outcome add_member(sorted_set& members, std::string_view member, double& score,
                        const zadd_options& options) {
    const auto present = members.score_of(member);
    if (!present) {
        if (options.xx) return zadd_outcome::skipped;
        members.set(member, score);
        return zadd_outcome::added;
    }
    if (options.nx) return zadd_outcome::skipped;
    if (options.incr) score += *present;
    if (std::isnan(score)) throw command_error("ERR resulting score is not a number (NaN)");
    if ((options.lt && score >= *present) || (options.gt && score <= *present))
        return zadd_outcome::skipped;
    if (score == *present) return zadd_outcome::unchanged;
    members.set(member, score);
    return zadd_outcome::updated;
}

void add(const command_call& call, const zadd_options& options) {
    const auto pairs = call.words.subspan(options.first_score);
    std::vector<double> scores;
    for (std::size_t i = 0; i < pairs.size(); i += 2)
        scores.push_back(to_double(pairs[i]));
    auto* members = call.data.find_as<sorted_set>(call.words[1]);
    if (members == nullptr && !options.xx)
        members = &call.data.find_or_create<sorted_set>(call.words[1]);
    std::int64_t added = 0, updated = 0;
    auto last = zadd_outcome::skipped;
    for (std::size_t i = 0; members != nullptr && i < scores.size(); ++i) {
        last = add_member(*members, pairs[2 * i + 1], scores[i], options);
        added += last == zadd_outcome::added;
        updated += last == zadd_outcome::updated;
    }
    if (added + updated > 0) call.data.note_written(call.words[1]);
    if (!options.incr) return call.reply.integer(added + (options.ch ? updated : 0));
    if (last == zadd_outcome::skipped) return call.reply.nil();
    call.reply.bulk(number_text(scores.front()).view());
}

struct score_range {
    score_bound low, high;
    [[nodiscard]] bool contains(double score) const noexcept {
        return (low.is_excluded ? score > low.score : score >= low.score) &&
               (high.is_excluded ? score < high.score : score <= high.score);
    }
};

struct range_options {
    bool by_score = false, reverse = false, with_scores = false;
    std::int64_t offset = 0, limit = -1;
};

range_options read_range_options(const command_call& call, range_options options, bool is_zrange) {
    const auto words = call.words;
    for (std::size_t i = 4; i < words.size(); ++i) {
        if (is_option(words[i], "WITHSCORES")) {
            options.with_scores = true;
        } else if (is_option(words[i], "LIMIT") && i + 2 < words.size()) {
            options.offset = to_integer(words[i + 1]);
            options.limit = to_integer(words[i + 2]);
            i += 2;
        } else if (is_zrange && !options.reverse && is_option(words[i], "REV")) {
            options.reverse = true;
        } else if (is_zrange && !options.by_score && is_option(words[i], "BYSCORE")) {
            options.by_score = true;
        } else {
            throw_syntax_error();
        }
    }
    if (options.limit != -1 && !options.by_score)
        throw command_error(
            "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or "
            "BYLEX");
    return options;
}

using selection = std::vector<const sorted_set::order::value_type*>;

template <class Range>
selection select_by_score(const Range& in_order, const score_range& range,
                          const range_options& options) {
    selection selected;
    auto to_skip = options.offset;
    for (const auto& each : in_order) {
        if (!range.contains(each.first)) continue;
        if (to_skip-- > 0) continue;
        if (static_cast<std::int64_t>(selected.size()) == options.limit) break;
        selected.push_back(&each);
    }
    return options.offset < 0 ? selection() : selected;
}

template <class Range>
selection select_by_rank(const Range& in_order, const std::optional<index_range>& range) {
    selection selected;
    if (!range) return selected;
    auto it = std::next(in_order.begin(), range->first);
    for (std::size_t i = 0; i < range->size(); ++i, ++it)
        selected.push_back(&*it);
    return selected;
}

void write_selection(const command_call& call, const selection& selected, bool with_scores) {
    call.reply.array(selected.size() * (with_scores ? 2 : 1));
    for (const auto* const each : selected) {
        call.reply.bulk(each->second);
        if (with_scores) call.reply.bulk(number_text(each->first).view());
    }
}

void write_range_by_score(const command_call& call, const range_options& options) {
    auto range = score_range{to_score_bound(call.words[2]), to_score_bound(call.words[3])};
    if (options.reverse) std::swap(range.low, range.high);
    const auto& in_order = members_of(call).in_order();
    const auto reversed = std::ranges::subrange(in_order.rbegin(), in_order.rend());
    write_selection(call,
                    options.reverse ? select_by_score(reversed, range, options)
                                    : select_by_score(in_order, range, options),
                    options.with_scores);
}

void write_range_by_rank(const command_call& call, const range_options& options) {
    const auto first = to_integer(call.words[2]);
    const auto last = to_integer(call.words[3]);
    const auto& in_order = members_of(call).in_order();
    const auto reversed = std::ranges::subrange(in_order.rbegin(), in_order.rend());
    const auto range = clip_range(first, last, in_order.size());
    write_selection(
        call, options.reverse ? select_by_rank(reversed, range) : select_by_rank(in_order, range),
        options.with_scores);
}

}  // namespace

void zadd(const command_call& call) { add(call, read_zadd_options(call.words)); }

void zincrby(const command_call& call) {
    zadd_options options;
    options.incr = true;
    add(call, options);
}

void zcard(const command_call& call) {
    call.reply.integer(static_cast<std::int64_t>(members_of(call).size()));
}

void zcount(const command_call& call) {
    const score_range range{to_score_bound(call.words[2]), to_score_bound(call.words[3])};
    call.reply.integer(std::ranges::count_if(
        members_of(call).in_order(), [&](const auto& each) { return range.contains(each.first); }));
}

void zpopmin(const command_call& call) {
    if (call.words.size() > 3) throw_syntax_error();
    constexpr auto error = "ERR value is out of range, must be positive";
    const auto count = call.words.size() == 3 ? to_integer(call.words[2], error) : 1;
    if (count < 0) throw command_error(error);
    auto* const members = call.data.find_as<sorted_set>(call.words[1]);
    if (members == nullptr || count == 0) return call.reply.array(0);
    const auto popped = std::min(static_cast<std::size_t>(count), members->size());
    call.reply.array(2 * popped);
    for (std::size_t i = 0; i < popped; ++i) {
        const auto first = *members->in_order().begin();
        call.reply.bulk(first.second);
        call.reply.bulk(number_text(first.first).view());
        members->erase(first.second);
    }
    call.data.note_written(call.words[1]);
    call.data.erase_if_empty(call.words[1], *members);
}

void zrange(const command_call& call) {
    const auto options = read_range_options(call, {}, true);
    if (options.by_score)
        write_range_by_score(call, options);
    else
        write_range_by_rank(call, options);
}

void zrevrange(const command_call& call) {
    range_options options;
    options.reverse = true;
    write_range_by_rank(call, read_range_options(call, options, false));
}

void zrangebyscore(const command_call& call) {
    range_options options;
    options.by_score = true;
    write_range_by_score(call, read_range_options(call, options, false));
}

void zrank(const command_call& call) {
    const auto& members = members_of(call);
    const auto score = members.score_of(call.words[2]);
    if (!score) return call.reply.nil();
    const auto position = members.in_order().find({*score, std::string(call.words[2])});
    call.reply.integer(std::distance(members.in_order().begin(), position));
}

void zrem(const command_call& call) {
    auto* const members = call.data.find_as<sorted_set>(call.words[1]);
    std::int64_t removed = 0;
    if (members != nullptr) {
        for (const auto member : call.words.subspan(2))
            removed += members->erase(member);
        if (removed > 0) call.data.note_written(call.words[1]);
        call.data.erase_if_empty(call.words[1], *members);
    }
    call.reply.integer(removed);
}

void zscore(const command_call& call) {
    const auto score = members_of(call).score_of(call.words[2]);
    if (!score) return call.reply.nil();
    call.reply.bulk(number_text(*score).view());
}

}  // namespace pawl::simulation::command_functions
