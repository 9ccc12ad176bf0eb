// Keys and channels as Redisson names them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::redisson {

struct names {
    std::string lock;      // HASH: owner -> how often it has entered; of a semaphore STRING: free
    std::string tagged;    // the name with its hash tag: what most other keys have in them
    std::string counter;   // STRING: the last token of a FencedLock, without an end
    std::string queue;     // LIST: who waits for a FairLock
    std::string timeouts;  // ZSET: until when each of them is waited for
    std::string seen;      // ZSET: until when each of Pawl's among them is believed to be there
    std::string lent;      // ZSET: until when each permit is lent
    // A message there: look again. Of locks, of read-write locks, of semaphores.
    std::string channel, rw_channel, sc_channel;

    // A release's answer, for the case that it is lost. `request` is 32 hex digits.
    [[nodiscard]] std::string latch(std::string_view request) const;
    // STRING: a reader's lease.
    [[nodiscard]] std::string lease_of(std::string_view reader) const;
    // STRING: how many permits without a lease an owner of Pawl's has; Redisson keeps no such book.
    [[nodiscard]] std::string receipt_of(std::string_view owner) const;
};

class naming {
public:
    // `pattern` has `{name}` once, as the Java side's NameMapper; empty: the plain name.
    explicit naming(const std::string& pattern);

    [[nodiscard]] names of(std::string_view name) const;
    // Of the lock's key; empty when no name gives that key.
    [[nodiscard]] std::optional<std::string> name_of(std::string_view lock_key) const;
    // The same of the key that says what a semaphore has lent: "a" and "{a}" have one.
    [[nodiscard]] std::vector<std::string> names_of_lent(std::string_view key) const;
    // For SCAN: the locks whose names begin with `prefix`.
    [[nodiscard]] std::string glob(std::string_view prefix) const;

private:
    std::string before_, after_;
};

}  // namespace pawl::redis::redisson
