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

    std::string answer(std::istringstream words) {
        std::string verb, name;
        int ttl = 0, bound = 0;
        words >> verb >> name >> ttl;
        if (verb == "give") return give() ? "gave" : "lost";
        if (verb == "crowd") return crowd(name, milliseconds(ttl), words);
        words >> bound;
        return wait(name, milliseconds(ttl), milliseconds(bound)) ? "got" : "busy";
    }

private:
    bool wait(const std::string& name, milliseconds ttl, milliseconds bound) {
        try {
            held_ = bound == 0ms ? locks_.try_acquire(name, {.ttl = ttl})
                                 : locks_.acquire(name, {.ttl = ttl, .wait = bound});
        } catch (const pawl::error& what) {
            if (what.reason() != pawl::errc::timed_out) throw;
            return false;
        }
        return static_cast<bool>(held_);
    }

    bool give() { return held_.release() == pawl::release_result::released; }

    std::string crowd(const std::string& name, milliseconds ttl, std::istream& words) {
        std::string journal, stop, who;
        words >> journal >> stop >> who;
        const int book = ::open(journal.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
        std::minstd_rand dice(std::random_device{}());
        int late = 0;
        while (!std::filesystem::exists(stop)) {
            if (wait(name, ttl, 1s)) {
                note(book, "in " + who + "\n");
                std::this_thread::sleep_for(1ms);  // work
                note(book, "out " + who + "\n");
                if (!give()) ++late;
            }
            // Other work.
            std::this_thread::sleep_for(milliseconds(dice() % 10));
        }
        ::close(book);
        return "late " + std::to_string(late);
    }

    static void note(int book, const std::string& line) {
        if (::write(book, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
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
        std::cout << self.answer(std::istringstream(line)) << std::endl;
    return 0;
}

}  // namespace plain
