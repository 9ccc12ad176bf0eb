// How the command ends: one sentence on stderr, and a status that says which kind of trouble it
// was. docs/cli.md has the table for users.
#pragma once

#include <pawl/error.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace pawl::cli {

// The numbers of sysexits.h where one fits.
enum class exit_code : int {
    ok = 0,
    no = 1,      // the answer is no: nobody holds it, not confirmed, doctor found something bad
    usage = 64,  // the command line, a name, an option or the URL is not valid
    wrong_data = 65,   // the key holds something that is no lock
    no_input = 66,     // a file named on the command line cannot be read
    unreachable = 69,  // no service there, or it cannot serve anybody now
    lost = 70,         // the lock ended before the command did, which was then stopped in time
    system = 71,       // this host refused something: no process, no memory, no file
    outlived = 73,     // the lock ended, and the command was stopped too late or not at all
    timed_out = 75,    // not ours within the given time
    refused = 77,      // the service will not serve us: password, permission
    config = 78,       // a configuration file is wrong, or requires a URL that nobody has given
    not_executable = 126,
    not_found = 127
};

class failure : public std::runtime_error {
public:
    failure(exit_code code, const std::string& sentence)
        : std::runtime_error(sentence), code_(code) {}
    [[nodiscard]] exit_code code() const noexcept { return code_; }

private:
    exit_code code_;
};

// A call of the system that failed; adds what errno says.
[[nodiscard]] failure system_failure(const std::string& what);

[[nodiscard]] exit_code code_for(errc reason) noexcept;

// "pawl: SENTENCE" on stderr, in one line and one write. See messages.hpp for a reader that does
// not read.
void say(std::string_view sentence) noexcept;

// To be called in a catch block: says what went wrong and returns the exit status.
[[nodiscard]] int report_current() noexcept;

}  // namespace pawl::cli
