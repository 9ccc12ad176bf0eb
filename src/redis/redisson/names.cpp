#include "names.hpp"

namespace pawl::redis::redisson {
namespace {

std::string escaped(std::string_view text) {
    std::string plain;
    for (const char c : text) {
        if (std::string_view("*?[]^\\").find(c) != std::string_view::npos) plain += '\\';
        plain += c;
    }
    return plain;
}

}  // namespace

std::string names::latch(std::string_view request) const {
    return "redisson_unlock_latch:" + tagged_ + ":" + std::string(request);
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
    const bool tagged = all.lock.find('{') != std::string::npos;
    all.tagged_ = tagged ? all.lock : "{" + all.lock + "}";
    all.counter = "redisson_lock_token:" + all.tagged_;
    all.channel = "redisson_lock__channel:" + all.tagged_;
    return all;
}

std::optional<std::string> naming::name_of(std::string_view key) const {
    if (key.size() <= before_.size() + after_.size() || !key.starts_with(before_) ||
        !key.ends_with(after_))
        return std::nullopt;
    return std::string(key.substr(before_.size(), key.size() - before_.size() - after_.size()));
}

std::string naming::glob(std::string_view prefix) const {
    return escaped(before_) + escaped(prefix) + "*" + escaped(after_);
}

}  // namespace pawl::redis::redisson
