// The command `pawl`, started the way a shell starts it.
#pragma once

#include <support/eventually.hpp>
#include <support/temp_folder.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cli_test {

using words = std::vector<std::string>;
using variables = std::map<std::string, std::string>;

struct outcome {
    int code = -1;  // -1 when a signal ended it
    int signal = 0;
    std::string out;
    std::string err;
};

// One started process with stdin from /dev/null; stdout and stderr in files. In a process group of
// its own. The destructor kills the group and reaps.
class started {
public:
    started(const words& program, const variables& environment, int in = -1);
    started(const started&) = delete;
    started& operator=(const started&) = delete;
    ~started();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] std::string out() const;
    [[nodiscard]] std::string err() const;
    void signal(int number) const;
    // Throws when it still runs after `bound`.
    outcome wait(std::chrono::seconds bound = std::chrono::seconds(30));
    [[nodiscard]] bool running();

private:
    support::temp_folder folder_;
    pid_t pid_ = -1;
    std::optional<int> status_;
};

// A place for locks and the environment to use it with. By default the SQLite file of an empty
// home, named in PAWL_URL; no configuration file of this host counts.
class world {
public:
    world() : world("") {}
    explicit world(const std::string& url);

    [[nodiscard]] std::unique_ptr<started> start(const words& arguments,
                                                 const variables& more = {}) const;
    [[nodiscard]] outcome run(const words& arguments, const variables& more = {}) const;
    [[nodiscard]] const variables& environment() const noexcept { return environment_; }
    [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

    // The lock is held by somebody; the answer of `status --json`, or empty.
    [[nodiscard]] bool held(const std::string& name) const;
    // Waits until it is.
    [[nodiscard]] bool soon_held(const std::string& name) const;

private:
    support::temp_folder folder_;
    variables environment_;
};

[[nodiscard]] std::string read_file(const std::string& path);
// What Python makes of it: `expression` over `it`, printed. Throws when the text is no JSON.
[[nodiscard]] std::string from_json(const std::string& text, const std::string& expression);

// This program as a child that beats: see main.cpp.
[[nodiscard]] words heartbeat(const std::string& file, const std::string& how = "");
// CLOCK_BOOTTIME of the newest beat in ns; 0 before the first.
[[nodiscard]] std::int64_t last_beat(const std::string& file);
[[nodiscard]] std::int64_t boot_time();
[[nodiscard]] bool beats(const std::string& file);
// The beats have come to their end: no process with that file open is left.
[[nodiscard]] bool soon_silent(const std::string& file);

// The words with others behind them.
[[nodiscard]] words operator+(words left, const words& right);

// Living processes whose parent is `parent` and whose name is `name`.
[[nodiscard]] pid_t child_named(pid_t parent, const std::string& name);
[[nodiscard]] bool alive(pid_t process);

}  // namespace cli_test
