// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock that outlives the loss of a server, and a resource that refuses a late holder.
// Usage: 17_redlock [URL], with a URL such as redlock://host1,host2,host3
#include <pawl/blocking.hpp>

#include <iostream>
#include <string>
#include <utility>

using namespace std::chrono_literals;

// Stands for a store that keeps the largest token so far with the data, and compares in one step.
class report_store {
public:
    bool write(std::string text, pawl::fencing_token token) {
        if (token < newest_) return false;  // a later holder has already written
        newest_ = token;
        text_ = std::move(text);
        return true;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    pawl::fencing_token newest_;
    std::string text_;
};

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    report_store store;
    try {
        auto alice = locks.acquire("report", {.ttl = 10s, .wait = 30s});
        const auto old = alice.token();
        locks.force_release("report");  // as if Alice were paused for longer than her lease

        auto bob = locks.acquire("report", {.ttl = 10s, .wait = 30s});
        store.write("by Bob", bob.token());
        const bool alice_wrote = store.write("by Alice", old);
        std::cout << "Alice, token " << old << (alice_wrote ? ": written\n" : ": refused\n")
                  << "Bob, token " << bob.token() << ": the report is " << store.text() << '\n';
        return alice_wrote ? 1 : 0;
    } catch (const pawl::error& e) {
        // errc::no_quorum: too few of the servers answered, so nobody was granted the lock.
        std::cerr << e.what() << '\n';
        return e.reason() == pawl::errc::no_quorum ? 75 : 1;
    }
}
