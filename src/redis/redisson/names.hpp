// Keys and channels as Redisson names them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis::redisson {

struct names {
    std::string lock;     // HASH: owner -> how often it has entered
    std::string counter;  // STRING: the last token of a FencedLock, without an end
    std::string channel;  // a message there: look again

    // A release's answer, for the case that it is lost. `request` is 32 hex digits.
    [[nodiscard]] std::string latch(std::string_view request) const;

private:
    friend class naming;
    std::string tagged_;
};

class naming {
public:
    // `pattern` has `{name}` once, as the Java side's NameMapper; empty: the plain name.
    explicit naming(const std::string& pattern);

    [[nodiscard]] names of(std::string_view name) const;
    // Of the lock's key; empty when no name gives that key.
    [[nodiscard]] std::optional<std::string> name_of(std::string_view lock_key) const;
    // For SCAN: the locks whose names begin with `prefix`.
    [[nodiscard]] std::string glob(std::string_view prefix) const;

private:
    std::string before_, after_;
};

}  // namespace pawl::redis::redisson
