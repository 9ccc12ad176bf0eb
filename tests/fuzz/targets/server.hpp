// A Redis that says what the input says, and a client of it, in one event loop and in a time that
// passes only while both wait.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace fuzz {

struct session {
    std::string options;     // of the URL, such as "layout=redisson"
    std::string operations;  // a letter each: see client.cpp
    // The handshake is answered as Redis does; otherwise `raw` is all that the server ever says.
    bool greets = true;
    std::deque<std::string> replies;  // to what is asked after the handshake, one for each command
    std::string raw;                  // behind them
    std::size_t chunk = 4096;         // at most so much is sent at once
    bool is_over = false;             // all was said, and the server is gone
};

// Returns when every operation has an outcome. Ends the program when one never has.
void play(session what);

}  // namespace fuzz
