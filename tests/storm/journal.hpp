// What the processes of a storm write down. Each line goes to the file in one write, so it survives
// the SIGKILL of its writer the moment after.
#pragma once

#include <support/history.hpp>

#include <string>

namespace storm {

// An append-only file, shared by the threads of a process.
class journal {
public:
    explicit journal(const std::string& path);
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;
    ~journal();

    void write(const std::string& line) const;

private:
    int file_;
};

// The resource that the lock guards: it records every token that is shown to it, in its own order.
class resource {
public:
    explicit resource(const std::string& path);
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    ~resource();

    // Runs `still_mine` alone; if it says yes, records the token at the time it gives.
    template <class StillMine>
    void show(std::uint64_t token, StillMine still_mine) const {
        const alone here(file_);
        if (const support::instant now = still_mine(); now != 0) append(token, now);
    }

private:
    struct alone {
        explicit alone(int on);
        ~alone();
        alone(const alone&) = delete;
        alone& operator=(const alone&) = delete;
        int file;
    };
    void append(std::uint64_t token, support::instant now) const;

    int file_;
};

// Everything that the journals and the resource in a folder say.
[[nodiscard]] support::history read_history(const std::string& folder);

}  // namespace storm
