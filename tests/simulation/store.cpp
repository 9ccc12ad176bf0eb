#include "store.hpp"

#include <charconv>
#include <iterator>

namespace pawl::simulation {

// Want of memory refuses only what may need some.
void store::about_to_write(bool needs_memory) {
    if (!dirty_ && needs_memory && full_)
        throw command_error("OOM command not allowed when used memory > 'maxmemory'.");
    const bool refused = !refusal_.empty() && (needs_memory || !refusal_.starts_with("OOM"));
    if (!dirty_ && refused) throw command_error(refusal_);
    dirty_ = true;
}

store::entry* store::find(std::string_view key) {
    const auto it = keys_.find(key);
    if (it == keys_.end()) return nullptr;
    if (it->second.expires_ms && now_ms() > *it->second.expires_ms) {
        erase(it);
        return nullptr;
    }
    return &it->second;
}

void store::erase(keys::iterator which) {
    journal_.written.push_back(which->first);
    keys_.erase(which);
}

template <class T>
T* store::find_as(std::string_view key) {
    auto* const found = find(key);
    if (!found) return nullptr;
    auto* const content = std::get_if<T>(&found->content);
    if (!content)
        throw command_error("WRONGTYPE Operation against a key holding the wrong kind of value");
    return content;
}

template <class T>
T& store::make_as(std::string_view key) {
    if (auto* const there = find_as<T>(key)) return *there;
    return keys_.emplace(std::string(key), entry{T{}, std::nullopt})
        .first->second.content.template emplace<T>();
}

std::optional<std::string> store::get(std::string_view key) {
    journal_.read.emplace_back(key);
    const auto* const text = find_as<std::string>(key);
    return text ? std::optional(*text) : std::nullopt;
}

bool store::set(std::string_view key, std::string_view value, std::optional<std::int64_t> px,
                bool only_new) {
    about_to_write(true);
    if (px && *px <= 0) throw command_error("ERR invalid expire time in 'set' command");
    if (find(key) && only_new) return false;
    entry made{std::string(value), std::nullopt};
    if (px) made.expires_ms = now_ms() + *px;
    keys_.insert_or_assign(std::string(key), std::move(made));
    journal_.written.emplace_back(key);
    return true;
}

bool store::del(std::string_view key) {
    about_to_write(false);
    const bool there = find(key) != nullptr;
    if (there) erase(keys_.find(key));
    return there;
}

std::int64_t store::pttl(std::string_view key) {
    journal_.read.emplace_back(key);
    const auto* const found = find(key);
    if (!found) return -2;
    return found->expires_ms ? *found->expires_ms - now_ms() : -1;
}

bool store::pexpire(std::string_view key, std::int64_t ms) {
    about_to_write(false);
    auto* const found = find(key);
    if (!found) return false;
    if (ms <= 0) {
        erase(keys_.find(key));
    } else {
        found->expires_ms = now_ms() + ms;
        journal_.written.emplace_back(key);
    }
    return true;
}

std::int64_t store::incrby(std::string_view key, std::int64_t by) {
    about_to_write(true);
    const auto before = get(key).value_or("0");
    const auto* const end = before.data() + before.size();
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(before.data(), end, number);
    if (error != std::errc{} || stop != end)
        throw command_error("ERR value is not an integer or out of range");
    number += by;
    make_as<std::string>(key) = std::to_string(number);
    return number;
}

bool store::zadd_new(std::string_view key, double score, std::string_view member) {
    about_to_write(true);
    auto& set = make_as<sorted_set>(key);
    if (!set.scores.emplace(member, score).second) return false;
    set.order.emplace(score, member);
    return true;
}

void store::zadd(std::string_view key, double score, std::string_view member) {
    about_to_write(true);
    auto& set = make_as<sorted_set>(key);
    const auto [it, fresh] = set.scores.emplace(member, score);
    if (!fresh) set.order.erase({it->second, it->first});
    it->second = score;
    set.order.emplace(score, member);
}

std::vector<std::pair<std::string, double>> store::zrange(std::string_view key) {
    std::vector<std::pair<std::string, double>> found;
    if (const auto* const set = find_as<sorted_set>(key)) {
        for (const auto& [score, member] : set->order)
            found.emplace_back(member, score);
    }
    return found;
}

bool store::zrem(std::string_view key, std::string_view member) {
    about_to_write(false);
    auto* const set = find_as<sorted_set>(key);
    if (!set) return false;
    const auto it = set->scores.find(member);
    if (it == set->scores.end()) return false;
    set->order.erase({it->second, it->first});
    set->scores.erase(it);
    if (set->scores.empty()) del(key);
    return true;
}

std::optional<std::string> store::zpopmin(std::string_view key) {
    about_to_write(false);
    auto* const set = find_as<sorted_set>(key);
    if (!set) return std::nullopt;
    auto first = set->order.begin()->second;
    zrem(key, first);
    return first;
}

std::int64_t store::zcard(std::string_view key) {
    const auto* const set = find_as<sorted_set>(key);
    return set ? static_cast<std::int64_t>(set->scores.size()) : 0;
}

std::optional<double> store::zscore(std::string_view key, std::string_view member) {
    const auto* const set = find_as<sorted_set>(key);
    if (!set) return std::nullopt;
    const auto it = set->scores.find(member);
    return it == set->scores.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::int64_t> store::zrank(std::string_view key, std::string_view member) {
    const auto score = zscore(key, member);
    if (!score) return std::nullopt;
    const auto& order = find_as<sorted_set>(key)->order;
    return std::distance(order.begin(), order.find({*score, std::string(member)}));
}

void store::hset(std::string_view key, std::string_view field, std::string_view value) {
    about_to_write(true);
    make_as<hash>(key).insert_or_assign(std::string(field), std::string(value));
}

std::optional<std::string> store::hget(std::string_view key, std::string_view field) {
    const auto* const fields = find_as<hash>(key);
    if (!fields) return std::nullopt;
    const auto it = fields->find(field);
    return it == fields->end() ? std::nullopt : std::optional(it->second);
}

void store::hincrby(std::string_view key, std::string_view field, std::int64_t by) {
    about_to_write(true);
    const auto before = hget(key, field).value_or("0");
    std::int64_t number = 0;
    const auto [stop, error] =
        std::from_chars(before.data(), before.data() + before.size(), number);
    if (error != std::errc{} || stop != before.data() + before.size())
        throw command_error("ERR hash value is not an integer");
    hset(key, field, std::to_string(number + by));
}

store::hash store::hgetall(std::string_view key) {
    const auto* const fields = find_as<hash>(key);
    return fields ? *fields : hash{};
}

bool store::hdel(std::string_view key, std::string_view field) {
    about_to_write(false);
    auto* const fields = find_as<hash>(key);
    if (!fields) return false;
    const auto it = fields->find(field);
    if (it == fields->end()) return false;
    fields->erase(it);
    if (fields->empty()) del(key);
    return true;
}

const store::keys& store::all() {
    for (auto it = keys_.begin(); it != keys_.end();) {
        const auto here = it++;
        if (here->second.expires_ms && now_ms() > *here->second.expires_ms) erase(here);
    }
    return keys_;
}

}  // namespace pawl::simulation
