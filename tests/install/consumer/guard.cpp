// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The layers behind the lock, over a database of one's own: here one that is never asked.
#include <pawl/error.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/schema.hpp>

namespace guard = pawl::guard;

class no_database final : public guard::connection {
public:
    guard::rows execute(const guard::statement&) override {
        throw guard::database_error("there is no database");
    }
    [[nodiscard]] guard::dialect dialect() const noexcept override {
        return guard::dialect::sqlite;
    }
    [[nodiscard]] bool in_transaction() const noexcept override { return false; }
};

int main() {
    no_database db;
    const auto work = [](const guard::attempt&) -> guard::outcome { return "done"; };
    try {
        (void)guard::once(db, "", {}, work);
    } catch (const pawl::error& refused) {
        const bool has_text = !guard::schema_text(db.dialect()).empty();
        return refused.reason() == pawl::errc::bad_option && has_text ? 0 : 1;
    }
    return 1;
}
