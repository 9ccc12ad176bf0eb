// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A user with the permissions that a documentation page gives, read from the page itself. This user
// can do everything that the page says, is never refused, and has no superfluous permission.
#pragma once

#include "redis_fixture.hpp"

#include <functional>
#include <string>
#include <vector>

namespace chaos {

class least_rights : public redis_fixture {
public:
    // `page` is a file in docs.
    explicit least_rights(std::string page, support::redis_options server_options = {});

    // Gives the user the first line of the page's ACL SETUSER, the lines with these numbers (the
    // first is 0), and `extra_rights`.
    void allow(const std::vector<std::size_t>& line_numbers,
               const support::command_words& extra_rights = {});
    void allow_all(const support::command_words& extra_rights = {});
    // The permissions in the page's text, in backticks, that begin with `first`.
    [[nodiscard]] support::command_words sentence_rights(const std::string& first) const;
    // A client of that user.
    [[nodiscard]] client user_client(const std::string& options = {});

    // No request was refused since `allow`, not even one whose refusal a fallback hides.
    void expect_nothing_refused();
    // The commands that the page permits and that no client has sent since `allow`.
    [[nodiscard]] std::vector<std::string> unused_rights();

    // One client holds "it"; the other waits and gets it, or gives up.
    void exercise_handoff(client& first, client& second, pawl::lock_options options,
                          const std::function<bool()>& waits);
    void exercise_timeout(client& first, client& second, pawl::lock_options options);
    // The condition that `count` clients wait for "it", as `observer` sees them.
    [[nodiscard]] static std::function<bool()> waiter_condition(client& observer,
                                                                std::uint64_t count = 1);

    // `observer` sees the waiter.
    static void exercise_latch(client& first, client& second, client& observer);
    static void exercise_election(client& first, client& second);
    static void exercise_inspection(client& locks);

private:
    std::string text_;
    std::vector<support::command_words> lines_;
};

}  // namespace chaos
