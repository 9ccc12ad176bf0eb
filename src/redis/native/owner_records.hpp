// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of this client's owners, and the undos that refer to them.
#pragma once

#include "../common/undo_queue.hpp"
#include "lock_scripts.hpp"
#include "waiters.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::redis::native {

// Used on one strand.
class owner_records {
public:
    // `client`: 16 hex digits. `scripts` must outlive the object, and the object the undos.
    owner_records(lock_scripts& scripts, std::string client, const identity& process);
    owner_records(const owner_records&) = delete;
    owner_records& operator=(const owner_records&) = delete;

    // One attempt's record and its undo, which shares the record.
    struct prepared_attempt {
        std::shared_ptr<owner_record> record;
        undo_queue::prepared_entry undo;
    };
    // Uses the memory of an earlier attempt, if there is one.
    [[nodiscard]] prepared_attempt prepare_attempt(std::string_view name, std::string_view owner);
    // The next attempt uses the memory of this one.
    void keep_memory(prepared_attempt ended) noexcept { spare_attempt_ = std::move(ended); }

    [[nodiscard]] std::shared_ptr<owner_record> make_record(std::string_view name,
                                                            std::string_view owner) const;
    // The undo that removes the waiter and its grants from the server, except for its `kept_value`.
    [[nodiscard]] undo_queue::undo leave_of(std::shared_ptr<const owner_record> record);

private:
    boost::asio::awaitable<reply> send_leave(std::shared_ptr<const owner_record> record,
                                             time_point give_up_at);

    lock_scripts& scripts_;
    const std::string client_;
    const std::string prefix_without_owner_;  // what follows the owner in a value's prefix
    prepared_attempt spare_attempt_;          // of an earlier acquire, for the next one
};

}  // namespace pawl::redis::native
