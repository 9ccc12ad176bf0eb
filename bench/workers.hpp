// The measurements, and the processes that help with them. Each measurement starts what it needs.
#pragma once

#include "measure.hpp"
#include "wire.hpp"

#include "support/process.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct scene {
    settings how;
    std::uint16_t port = 0;
    std::string url;
};

void measure_uncontended(const scene& where, std::vector<row>& rows);
void measure_throughput(const scene& where, std::vector<row>& rows);
void measure_requests(const scene& where, std::vector<row>& rows);
void measure_handoff(const scene& where, std::vector<row>& rows);
void measure_waiter(const scene& where, std::vector<row>& rows);
void measure_hot(const scene& where, std::vector<row>& rows);
void measure_held(const scene& where, std::vector<row>& rows);

// The two commands that Pawl sends for one uncontended pair, recorded from the server.
struct recorded_pair {
    words acquire;
    words release;
};
recorded_pair record_pair(const scene& where);

// The other side, in a process of its own: reads lines on standard input, answers on standard
// output.
int waiter_process(const std::string& url);
int subscriber_process(std::uint16_t port);
int hot_process(const std::string& url, const std::string& name, double for_seconds);
int holder_process(const std::string& url, int locks, int ttl_ms);

// A helper process; `arguments` come after "worker".
support::child start_worker(std::vector<std::string> arguments);
// The next line of what it says. Throws when it has ended.
std::string next_line(const support::child& worker);
void say(const std::string& line);

}  // namespace bench
