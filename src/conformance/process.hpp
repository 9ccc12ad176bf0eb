// A child process that is always reaped, with lines in and out.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace pawl::conformance {

struct launch {
    std::vector<std::string>
        words;  // the program (an absolute path, or found in PATH) and its arguments
    std::vector<std::pair<std::string, std::string>> environment;  // added to ours
    std::string output_file;  // where stdout and stderr go; empty: stdout is read with `read_line`
    std::string folder;       // to start in; empty: ours
};

// Not thread-safe. The destructor kills and reaps. The child dies with the thread that made it.
class child {
public:
    explicit child(const launch& how);
    child(child&& other) noexcept;
    child& operator=(child&& other) noexcept;
    ~child();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] bool running();

    void send(std::string_view line);
    void close_input() noexcept;
    // Without its line end; empty when there was none in time, or none will come.
    std::optional<std::string> read_line(std::chrono::milliseconds bound);

    void signal(int number);
    void kill9();    // and reaps
    void stop();     // SIGSTOP; returns when it stands still
    void proceed();  // SIGCONT
    // Its wait status; empty when it still runs after `bound`.
    std::optional<int> wait(std::chrono::milliseconds bound);

private:
    void close_pipes() noexcept;

    pid_t pid_ = -1;
    int to_ = -1;
    int from_ = -1;
    std::string pending_;
    std::optional<int> status_;
};

// This program again, as `--pawl-helper WORDS…`.
[[nodiscard]] launch myself_as_helper(std::vector<std::string> words);

}  // namespace pawl::conformance
