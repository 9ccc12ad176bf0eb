// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How an operation is carried out, from the plain statements to all layers.
#pragma once

#include <pawl/blocking.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace layers {

// One store, and what each variant does there. A step is one operation.
class store {
public:
    virtual ~store() = default;
    using steps = std::map<std::string, std::function<void()>>;
    [[nodiscard]] virtual const steps& variants() const = 0;
    // Since the program began: the statements or commands that were sent, but for those of the
    // lock.
    [[nodiscard]] virtual std::int64_t statements() const = 0;
    // The commits of transactions that have written, where the store does not tell them otherwise.
    [[nodiscard]] virtual std::int64_t commits() const { return 0; }
};

// "sqlite:/FILE", "postgresql://…" or "mariadb://…".
std::unique_ptr<store> open_database_store(const std::string& url, pawl::blocking::client& locks);
std::unique_ptr<store> open_redis_store(const std::string& url, pawl::blocking::client& locks);

}  // namespace layers
