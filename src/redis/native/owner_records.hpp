// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of this client's owners, and the undos that refer to them.
#pragma once

#include "../common/keys.hpp"
#include "../common/undo_queue.hpp"
#include "lock_scripts.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::redis::native {

// The keys of a lock, and the names under which the server knows one owner of it: its entry in the
// queue, and the values of its holds. The undo of the owner's requests shares the record, and may
// outlive them.
class owner_record {
public:
    owner_record(keys keys_of_lock, std::string_view client, std::string_view owner,
                 std::string_view prefix_without_owner);
    // For another lock and owner, in the same memory. `take_key_text` empties the keys before.
    void assign(keys keys_of_lock, std::string_view client, std::string_view owner,
                std::string_view prefix_without_owner);
    [[nodiscard]] std::string take_key_text() noexcept { return std::move(lock_keys).take_text(); }

    // CLIENT:OWNER, the owner's entry in the queue if it waits
    [[nodiscard]] std::string_view member() const noexcept {
        return {text_.data(), owner_begin_ + owner_size_};
    }
    // Of the values of the owner's holds; it begins with the owner.
    [[nodiscard]] std::string_view value_prefix() const noexcept {
        return std::string_view(text_).substr(owner_begin_);
    }
    [[nodiscard]] std::string_view owner() const noexcept {
        return value_prefix().substr(0, owner_size_);
    }

    keys lock_keys;
    std::string kept_value{};  // of the owner's hold that the undo must not end; empty: none

private:
    std::string text_;  // the member, and then the rest of the prefix
    std::size_t owner_begin_ = 0;
    std::size_t owner_size_ = 0;
};

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
