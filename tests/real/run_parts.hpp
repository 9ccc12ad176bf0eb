// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a run of the proof and a soak have in common.
#pragma once

#include <real/clients/client_group.hpp>
#include <real/servers/environments.hpp>
#include <real/servers/pace.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace real {

inline constexpr std::size_t lock_count = 6;

[[nodiscard]] environment_options options_of(const environment_entry& entry, std::size_t clients);

// Each fault once, in random order, then again.
class fault_order {
public:
    explicit fault_order(std::vector<fault> all) : all_(std::move(all)) {}
    [[nodiscard]] const fault& next(pace& pace);

private:
    std::vector<fault> all_;
    std::vector<std::size_t> left_;
};

// Runs the fault. Its failure also has the ends of the servers' logs.
void inject(const fault& next, environment& servers, pace& pace);

// What is wrong, as sentences, if a new client does not get each lock soon. This process is outside
// of the client machines, so a client process tries.
[[nodiscard]] std::vector<std::string> expect_free_locks(const environment& servers,
                                                         const client_options& client);

}  // namespace real
