#include "names.hpp"

#include "../keys.hpp"

namespace pawl::redis::redisson {

std::string names::latch(std::string_view request) const {
    return "redisson_unlock_latch:" + tagged + ":" + std::string(request);
}

std::string names::lease_of(std::string_view reader) const {
    return tagged + ":" + std::string(reader) + ":rwlock_timeout:1";
}

std::string names::receipt_of(std::string_view owner) const {
    return "redisson_sc_receipt:" + tagged + ":" + std::string(owner);
}

naming::naming(const std::string& pattern) {
    const auto at = pattern.find("{name}");
    if (at == std::string::npos) return;
    before_ = pattern.substr(0, at);
    after_ = pattern.substr(at + 6);
}

names naming::of(std::string_view name) const {
    names all;
    all.lock = before_ + std::string(name) + after_;
    // One brace is enough for Redisson to leave the name as it is.
    const bool has_tag = all.lock.find('{') != std::string::npos;
    all.tagged = has_tag ? all.lock : "{" + all.lock + "}";
    all.counter = "redisson_lock_token:" + all.tagged;
    all.queue = "redisson_lock_queue:" + all.tagged;
    all.timeouts = "redisson_lock_timeout:" + all.tagged;
    all.seen = "redisson_lock_seen:" + all.tagged;
    all.lent = all.tagged + ":timeout";
    all.channel = "redisson_lock__channel:" + all.tagged;
    all.rw_channel = "redisson_rwlock:" + all.tagged;
    all.sc_channel = "redisson_sc:" + all.tagged;
    return all;
}

std::optional<std::string> naming::name_of(std::string_view key) const {
    if (key.size() <= before_.size() + after_.size() || !key.starts_with(before_) ||
        !key.ends_with(after_))
        return std::nullopt;
    return std::string(key.substr(before_.size(), key.size() - before_.size() - after_.size()));
}

std::vector<std::string> naming::names_of_lent(std::string_view key) const {
    static constexpr std::string_view end = ":timeout";
    std::vector<std::string> names;
    if (!key.ends_with(end)) return names;
    key.remove_suffix(end.size());
    if (auto as_it_is = name_of(key); as_it_is && of(*as_it_is).tagged == key)
        names.push_back(std::move(*as_it_is));
    if (key.size() > 2 && key.front() == '{' && key.back() == '}') {
        if (auto inside = name_of(key.substr(1, key.size() - 2)); inside)
            names.push_back(std::move(*inside));
    }
    return names;
}

std::string naming::glob(std::string_view prefix) const {
    return glob_escape(before_) + glob_escape(prefix) + "*" + glob_escape(after_);
}

}  // namespace pawl::redis::redisson
