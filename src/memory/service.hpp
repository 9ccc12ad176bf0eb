// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the clients of a memory service share.
#pragma once

#include "latches.hpp"
#include "lock_store.hpp"
#include "request_gate.hpp"

#include <pawl/service.hpp>

#include <memory>
#include <string>

namespace pawl::memory {

class memory_service final : public service::definition {
public:
    struct state {
        std::shared_ptr<lock_store> locks = std::make_shared<lock_store>();
        std::shared_ptr<latch_store> latches = std::make_shared<latch_store>();
        std::shared_ptr<request_gate> gate{};  // null: no faults
    };

    explicit memory_service(std::string name, std::shared_ptr<request_gate> gate = {})
        : name_(std::move(name)) {
        state_.gate = std::move(gate);
    }
    std::unique_ptr<backend> open(backend_context context) const override;
    std::string describe() const override { return "memory:" + name_; }
    [[nodiscard]] lock_store& locks() const noexcept { return *state_.locks; }

private:
    const std::string name_;
    state state_;
};

}  // namespace pawl::memory
