#include "forking_loop.hpp"

#include "agent.hpp"

#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>

#include <poll.h>
#include <unistd.h>

namespace pawl::conformance {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr int rounds = 50;

// Nobody writes to the helper any more. The child must not read: the words are its parent's.
bool is_left_alone() {
    pollfd input{STDIN_FILENO, 0, 0};
    return ::poll(&input, 1, 0) > 0;
}

}  // namespace

forking_loop::forking_loop(const service& where)
    : locks_(std::in_place, loop_.get_executor(), where) {}

forking_loop::~forking_loop() {
    has_work_.reset();
    lock_ = {};
    locks_.reset();
    if (thread_.joinable()) thread_.join();
}

// As Asio asks for it: no thread runs the loop meanwhile, and the loop is told before and after.
void forking_loop::fork(std::istream& words) {
    std::string how, name, ttl;
    words >> how >> name >> ttl;
    auto asked = locks_->async_acquire(
        name, {.ttl = std::chrono::milliseconds(std::stoll(ttl)), .wait = 10s}, asio::use_future);
    while (asked.wait_for(0s) != std::future_status::ready)
        loop_.run_one();
    lock_ = asked.get();
    say("held " + to_string(lock_.token()));
    loop_.notify_fork(asio::execution_context::fork_prepare);
    if (::fork() == 0) be_the_child(how);
    loop_.notify_fork(asio::execution_context::fork_parent);
    thread_ = std::thread([this] { loop_.run(); });
}

// Runs the loop for as long as the helper is asked anything, and longer where that was killed.
void forking_loop::be_the_child(const std::string& how) {
    loop_.notify_fork(asio::execution_context::fork_child);
    if (how == "use")
        use_the_copy();
    else
        say("child " + described(lock_));
    if (how == "close") locks_.reset();
    const auto latest = std::chrono::steady_clock::now() + 60s;
    while (!is_left_alone() && std::chrono::steady_clock::now() < latest)
        loop_.run_for(10ms);
    ::_exit(0);
}

void forking_loop::use_the_copy() {
    const std::string seen = described(lock_);
    auto release = lock_.async_release(asio::use_future);
    while (release.wait_for(0s) != std::future_status::ready)
        loop_.run_one();
    const int refusals = rounds - work("child's");
    say("child " + seen + " " + word(release.get()) + " " + std::to_string(refusals));
}

// So many locks were taken; the loop runs on another thread, or on this one.
int forking_loop::work(const std::string& prefix) {
    int taken = 0;
    for (int i = 0; i < rounds; ++i) {
        auto asked =
            locks_->async_try_acquire(prefix + std::to_string(i), {.ttl = 10s}, asio::use_future);
        while (asked.wait_for(0s) != std::future_status::ready)
            if (!thread_.joinable()) loop_.run_one();
        try {
            if (const auto lock = asked.get()) ++taken;
        } catch (const std::exception&) {}  // counted by not counting
    }
    return taken;
}

void forking_loop::serve(const std::string& verb) {
    if (verb == "loop_state")
        say("state " + described(lock_));
    else if (verb == "loop_release")
        say("release " + word(lock_.async_release(asio::use_future).get()));
    else if (verb == "loop_work")
        say("worked " + std::to_string(work("parent's")));
    else
        say("unknown command " + verb);
}

}  // namespace pawl::conformance
