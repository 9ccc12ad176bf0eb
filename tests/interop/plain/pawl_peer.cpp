// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "peer.hpp"

#include <pawl/blocking.hpp>

#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace plain {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

class pawl_peer {
public:
    explicit pawl_peer(const std::string& url) : locks_(pawl::from_url(url)) {}

    std::string execute(std::istringstream arguments) {
        std::string verb, name;
        int ttl = 0, bound = 0;
        arguments >> verb >> name >> ttl;
        if (verb == "give") return release() ? "gave" : "lost";
        if (verb == "crowd") return acquire_repeatedly(name, milliseconds(ttl), arguments);
        arguments >> bound;
        return acquire(name, milliseconds(ttl), milliseconds(bound)) ? "got" : "busy";
    }

private:
    bool acquire(const std::string& name, milliseconds ttl, milliseconds bound) {
        try {
            held_ = bound == 0ms ? locks_.try_acquire(name, {.ttl = ttl})
                                 : locks_.acquire(name, {.ttl = ttl, .wait = bound});
        } catch (const pawl::error& thrown) {
            // On a busy machine, too few nodes may answer in time.
            if (thrown.reason() != pawl::errc::timed_out &&
                thrown.reason() != pawl::errc::no_quorum)
                throw;
            return false;
        }
        return static_cast<bool>(held_);
    }

    bool release() { return held_.release() == pawl::release_result::released; }

    std::string acquire_repeatedly(const std::string& name, milliseconds ttl,
                                   std::istream& arguments) {
        std::string journal, stop, holder;
        arguments >> journal >> stop >> holder;
        const int journal_file = ::open(journal.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
        std::minstd_rand dice(std::random_device{}());
        int late_count = 0;
        while (!std::filesystem::exists(stop)) {
            if (acquire(name, ttl, 1s)) {
                write_line(journal_file, "in " + holder + "\n");
                std::this_thread::sleep_for(1ms);  // work
                write_line(journal_file, "out " + holder + "\n");
                if (!release()) ++late_count;
            }
            // More work.
            std::this_thread::sleep_for(milliseconds(dice() % 10));
        }
        ::close(journal_file);
        return "late " + std::to_string(late_count);
    }

    static void write_line(int journal_file, const std::string& line) {
        if (::write(journal_file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
            throw std::runtime_error("cannot write to the journal");
    }

    pawl::blocking::client locks_;
    pawl::blocking::held_lock held_;
};

}  // namespace

int run_pawl(const std::string& url) {
    pawl_peer self(url);
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);)
        std::cout << self.execute(std::istringstream(line)) << std::endl;
    return 0;
}

}  // namespace plain
