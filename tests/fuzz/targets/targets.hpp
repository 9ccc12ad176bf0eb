// What is fuzzed: each target takes any bytes and must neither crash, hang nor fill the memory.
#pragma once

#include <span>
#include <string_view>

namespace fuzz {

struct target {
    const char* name;
    void (*run)(std::string_view input);
};

[[nodiscard]] std::span<const target> all_targets() noexcept;

void resp(std::string_view input);       // bytes of a server, from the socket to handled pushes
void replies(std::string_view input);    // well-formed replies with what others wrote into our keys
void urls(std::string_view input);       // URLs of services
void templates(std::string_view input);  // namespace, key template and lock name
void times(std::string_view input);      // durations, permits and other words of the command line
void config(std::string_view input);     // configuration files
void rows(std::string_view input);       // rows of a SQLite file

// Ends the program, as a target does for what must not be: the input is kept.
[[noreturn]] void fail(const char* sentence);

}  // namespace fuzz
