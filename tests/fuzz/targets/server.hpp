// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A Redis server that replies with the input, and its client, in one event loop and with a clock
// that advances only while both wait.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace fuzz {

struct server_script {
    std::string options;     // of the URL, such as "layout=redisson"
    std::string operations;  // one letter for each: see operations.hpp
    // True: the handshake is answered as Redis does. False: the server only sends `raw_bytes`.
    bool answers_handshake = true;
    std::deque<std::string> replies;  // one for each command after the handshake
    std::string raw_bytes;            // sent after the replies
    std::size_t chunk = 4096;         // the most bytes that are sent at once
    bool is_finished = false;         // all was sent, and the server has ended
};

// Returns when every operation has an outcome. Ends the program if one never has.
void run_script(server_script script);

}  // namespace fuzz
