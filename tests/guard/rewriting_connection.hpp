// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A connection that changes statements on their way: what a database does without a condition.
#pragma once

#include <pawl/guard/connection.hpp>

#include <functional>
#include <ostream>
#include <string>

namespace guard_tests {

// In statements that begin with `verb`, every `text` becomes `other`.
struct rewriting {
    std::string name;
    std::string verb, text, other;

    friend void PrintTo(const rewriting& change, std::ostream* out) { *out << change.name; }
};

class rewriting_connection final : public pawl::guard::connection {
public:
    // `before` is called with the text of each statement.
    explicit rewriting_connection(pawl::guard::connection& target, rewriting change = {},
                                  std::function<void(const std::string&)> before = {})
        : target_(target), change_(std::move(change)), before_(std::move(before)) {}

    pawl::guard::rows execute(const pawl::guard::statement& to_run) override {
        if (before_) before_(to_run.text);
        if (change_.text.empty() || !to_run.text.starts_with(change_.verb))
            return target_.execute(to_run);
        auto changed = to_run;
        for (auto at = changed.text.find(change_.text); at != std::string::npos;
             at = changed.text.find(change_.text, at + change_.other.size())) {
            changed.text.replace(at, change_.text.size(), change_.other);
            ++count_;
        }
        return target_.execute(changed);
    }
    [[nodiscard]] pawl::guard::dialect dialect() const noexcept override {
        return target_.dialect();
    }
    [[nodiscard]] bool in_transaction() const noexcept override { return target_.in_transaction(); }
    // 0: the texts of the library have changed, and the rewriting does nothing any more.
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    pawl::guard::connection& target_;
    rewriting change_;
    std::function<void(const std::string&)> before_;
    std::size_t count_ = 0;
};

}  // namespace guard_tests
