// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The keys of the locks. docs/backends/etcd.md describes them.
#pragma once

#include <pawl/etcd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::etcd {

class key_scheme {
public:
    key_scheme(std::string name_space, key_layout layout)
        : name_space_(std::move(name_space)), layout_(layout) {}

    // The beginning of all keys of one lock: holders and waiters.
    [[nodiscard]] std::string line(std::string_view name) const;
    // The beginning of all keys of the locks whose names begin so.
    [[nodiscard]] std::string lines(std::string_view name_prefix) const;
    // The name of the lock with this key; empty: it is the key of no lock.
    [[nodiscard]] std::optional<std::string> name_of(std::string_view key) const;
    // The last part of the key, which is the owner of a hold.
    [[nodiscard]] static std::string_view owner_of(std::string_view key) noexcept;
    // True: the key belongs to the line itself, not to that of a lock with a longer name.
    [[nodiscard]] static bool is_in_line(std::string_view key, std::string_view line) noexcept;

    // A semaphore's total.
    [[nodiscard]] std::string total(std::string_view name) const;
    // The key that every acquire of a session compares, and every undo changes.
    [[nodiscard]] std::string guard(std::string_view session) const;

    [[nodiscard]] key_layout layout() const noexcept { return layout_; }

private:
    const std::string name_space_;
    const key_layout layout_;
};

// A lease's number as a session's id, which is also how Go's clients write it.
[[nodiscard]] std::string session_id(std::int64_t lease);
[[nodiscard]] std::int64_t lease_of(std::string_view session) noexcept;

}  // namespace pawl::etcd
