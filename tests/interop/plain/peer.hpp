// Another process that uses locks of one library, Pawl's included. It is told what to do in lines:
//
//   take NAME TTL_MS                         asks once               -> got | busy
//   wait NAME TTL_MS BOUND_MS                asks until then         -> got | busy
//   take_as NAME TTL_MS VALUE                asks once, under that value        -> got | busy
//   adopt NAME TTL_MS VALUE                  extends what is held under it      -> got | busy
//   give                                     gives back what it got  -> gave | lost
//   crowd NAME TTL_MS JOURNAL STOP WHO       holds again and again until the file STOP is there;
//                                            each hold is a line "in WHO" and a line "out WHO" in
//                                            the journal             -> late N
#pragma once

#include <conformance/process.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>

namespace plain {

struct library {
    std::string name;                // of the test
    std::string language;            // the folder of its program; empty for Pawl itself
    std::string argument;            // what that program calls it
    std::string key;                 // Pawl's key template for it
    bool waits_for_signals = false;  // sleeps until its own kind signals, or its ttl is over
    bool has_values = false;         // its user may choose the value that it locks with
};

std::ostream& operator<<(std::ostream& out, const library& which);

class peer {
public:
    // Throws std::runtime_error if it does not get ready.
    peer(const library& which, std::uint16_t port);

    // Throws std::runtime_error without an answer.
    [[nodiscard]] std::string ask(const std::string& words);
    void tell(const std::string& words);
    [[nodiscard]] std::string answer();
    void kill9() { process_.kill9(); }

private:
    pawl::conformance::child process_;
    std::string name_;
};

// Pawl as such a process, until stdin ends.
int run_pawl(const std::string& url);

}  // namespace plain
