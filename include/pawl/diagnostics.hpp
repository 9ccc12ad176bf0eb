// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The message of an async operation that failed. An error code has no room for it. Standard headers
// only.
#pragma once

#include <string>
#include <utility>

namespace pawl {

// With `redirect_diagnostics`, an operation sets this object: to the message of its failure, which
// says what happened, to which lock or URL, and what to do next, or to an empty message when it
// succeeds. It does so on the handler's executor, directly before it calls the handler. The object
// must outlive the operation, and belongs to one operation at a time. A plain value.
class diagnostics {
public:
    diagnostics() noexcept = default;
    // With this message.
    explicit diagnostics(std::string message) noexcept : message_(std::move(message)) {}

    // Empty after a success, and when there was no memory for the message. Never has a password.
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    void clear() noexcept { message_.clear(); }

private:
    std::string message_;
};

}  // namespace pawl
