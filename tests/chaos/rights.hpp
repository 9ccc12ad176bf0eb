// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A user with the rights that pawl::redis::least_rights gives, and no others. It can use the
// features, is never refused, and has no right that it does not use.
#pragma once

#include "redis_fixture.hpp"

#include <pawl/redis_rights.hpp>

#include <functional>
#include <string>
#include <vector>

namespace chaos {

inline const support::command_words none;

class least_rights : public redis_fixture {
public:
    explicit least_rights(support::redis_options server_options = {})
        : redis_fixture(std::move(server_options)) {}

    // Gives the user the rights for these features of the URL's options, and no others.
    void allow(const pawl::redis::used_features& features, const std::string& url_options = {});
    // As the last `allow`, but without this word, such as "~pawl:*" or "+get".
    void allow_without(const std::string& word);
    // The words of the last `allow` that begin with one of these characters.
    [[nodiscard]] support::command_words allowed(const std::string& first_characters) const;
    // A client of that user.
    [[nodiscard]] client user_client(const std::string& options = {});

    // No request was refused since `allow`, not even one whose refusal a fallback hides.
    void expect_nothing_refused();
    // Something was refused.
    [[nodiscard]] bool was_refused();
    // The commands that the user may send and that no client has sent since `allow`.
    [[nodiscard]] support::command_words unused_commands();

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
    void set_user(const support::command_words& words);

    support::command_words words_;  // after the user's name
};

}  // namespace chaos
