// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/guard/connection.hpp>

#include <utility>

namespace pawl::guard {

// A view, and the handle of its client library, which closes the connection.
template <class Handle, class View>
class owned_connection final : public connection {
public:
    explicit owned_connection(Handle handle) : handle_(std::move(handle)), view_(handle_.get()) {}

    rows execute(const statement& to_run) override { return view_.execute(to_run); }
    [[nodiscard]] guard::dialect dialect() const noexcept override { return view_.dialect(); }
    [[nodiscard]] bool in_transaction() const noexcept override { return view_.in_transaction(); }

private:
    Handle handle_;
    View view_;
};

}  // namespace pawl::guard
