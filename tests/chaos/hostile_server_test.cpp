// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server that sends without end, or announces more than fits into memory. The connection is ended
// with an error and made again after a pause, and the client stays small. The client runs in a
// child process, so that its memory can be measured.
#include "redis_fixture.hpp"

#include <support/scripted_server.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;
using support::scripted_connection;

constexpr std::size_t plenty = 256 << 20;

struct hostile_shape {
    std::string name;
    std::string head;
    std::string unit;
};

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i)
        all += text;
    return all;
}

const std::vector<hostile_shape>& shapes() {
    static const std::vector<hostile_shape> all = {
        {"nulls", "*2147483647\r\n", "_\r\n"},
        {"nulls of a number that is in bounds", "*60000\r\n", "*60000\r\n_\r\n_\r\n"},
        {"many small arrays", "*60000\r\n", "*64\r\n" + repeated("_\r\n", 64)},
        {"empty strings", "*65000\r\n", "$0\r\n\r\n"},
        {"nested arrays", "", "*1\r\n"},
        {"nested arrays that end", "*60000\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n_\r\n"},
        {"a map whose double is small", "%9223372036854775808\r\n", "_\r\n"},
        {"a huge string", "$2147483647\r\n", "x"},
        {"the hugest string", "$18446744073709551615\r\n", "x"},
        {"a streamed string", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n$?\r\n", ";4\r\nxxxx\r\n"},
        {"strings", "*60000\r\n", "$1000\r\n" + std::string(1000, 'x') + "\r\n"},
        {"a status without an end", "+", "x"},
        {"an error without an end", "-ERR ", "x"},
        {"a big number without an end", "(", "1"},
        {"a huge verbatim string", "=2147483647\r\n", "txt:x"},
        {"a huge error", "!2147483647\r\n", "x"},
        {"a huge push", ">2147483647\r\n", "_\r\n"},
        {"pushes", "", ">2\r\n+invalidate\r\n*1\r\n$3\r\nabc\r\n"},
        {"messages", "", ">3\r\n+message\r\n$1\r\nc\r\n$1\r\nm\r\n"},
        {"attributes", "", "|1\r\n+ttl\r\n:3600\r\n"},
        {"a huge attribute", "|2147483647\r\n", "+a\r\n:1\r\n"},
        {"answers that nobody asked for", "", "+OK\r\n"},
        {"refusals", "", "-ERR no\r\n"},
    };
    return all;
}

// The highest resident size so far, in KiB.
std::size_t peak_rss() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6));
    }
    return 0;
}

// The client's result of a request for a lock.
std::string report_of(const std::string& url) {
    std::string output;
    pawl::client_options options;
    options.log = [&output](std::string_view line) { output += std::string(line) + "\n"; };
    {
        pawl::blocking::client locks(pawl::redis::at(url), options);
        for (const auto wait : {0ms, 400ms}) {
            try {
                pawl::blocking::held_lock acquired;
                if (wait == 0ms)
                    acquired = locks.try_acquire("it", {.ttl = 2s});
                else
                    acquired = locks.acquire("it", {.ttl = 2s, .wait = wait});
                output += acquired ? "granted\n" : "somebody else's\n";
            } catch (const pawl::error& e) {
                output += std::string("error: ") + e.what() + "\n";
            }
        }
    }
    return std::to_string(peak_rss()) + "\n" + output;
}

struct child_report {
    std::size_t kib = 0;
    std::string text;
};

// In a child that is forked before this process has a second thread.
class bounded_child {
public:
    bounded_child() {
        if (::pipe(url_) != 0 || ::pipe(report_) != 0) throw std::runtime_error("no pipe");
        pid_ = ::fork();
        if (pid_ == 0) run_child();
        ::close(url_[0]);
        ::close(report_[1]);
    }
    ~bounded_child() {
        ::close(url_[1]);
        ::close(report_[0]);
        ::waitpid(pid_, nullptr, 0);
    }
    bounded_child(const bounded_child&) = delete;
    bounded_child& operator=(const bounded_child&) = delete;

    child_report report_from(const std::string& url) {
        (void)!::write(url_[1], url.data(), url.size());
        const auto text = read_all(report_[0]);
        child_report report;
        const auto end = std::min(text.find('\n'), text.size());
        if (end > 0) report.kib = std::stoul(text.substr(0, end));
        report.text = text.substr(std::min(end + 1, text.size()));
        return report;
    }

private:
    static std::string read_all(int descriptor) {
        std::string text;
        char some[4096];
        for (auto count = ::read(descriptor, some, sizeof some); count > 0;
             count = ::read(descriptor, some, sizeof some))
            text.append(some, static_cast<std::size_t>(count));
        return text;
    }
    [[noreturn]] void run_child() {
        char some[256];
        const auto count = ::read(url_[0], some, sizeof some);
        const auto text = count > 0 ? report_of(std::string(some, static_cast<std::size_t>(count)))
                                    : std::string();
        (void)!::write(report_[1], text.data(), text.size());
        ::_exit(0);
    }

    int url_[2] = {};
    int report_[2] = {};
    pid_t pid_ = -1;
};

class HostileServer : public testing::Test {
protected:
    // The client behaves the same for every shape: it stays small, reports the reason, and
    // reconnects only after pauses.
    static void expect_bounded(const hostile_shape& hostile, bool greets) {
        const auto began = boot_clock::now();
        bounded_child client;
        const support::scripted_server server([&hostile, greets](scripted_connection& connection) {
            const auto request = greets ? connection.complete_handshake() : connection.receive();
            if (request && connection.send(hostile.head)) connection.flood(hostile.unit, plenty);
        });
        const auto report =
            client.report_from(server.url("?connect_timeout=500&reply_timeout=500"));
        EXPECT_GT(report.kib, 0U) << hostile.name;
        EXPECT_LE(report.kib, 64U << 10) << hostile.name;
        EXPECT_NE(report.text.find("error: "), std::string::npos) << hostile.name << report.text;
        EXPECT_EQ(report.text.find("granted"), std::string::npos) << hostile.name << report.text;
        // The pauses are at least 10, 20, 40 … 500 ms.
        const auto seconds = (boot_clock::now() - began) / 1s;
        EXPECT_LE(server.connections(), 8U + 2U * static_cast<std::size_t>(seconds + 1))
            << hostile.name << report.text;
        if (std::getenv("PAWL_SHOW_PEAKS") != nullptr)
            std::cout << (greets ? "after  " : "before ") << hostile.name << ": " << report.kib
                      << " KiB, " << server.connections() << " connections\n"
                      << report.text;
    }
};

TEST_F(HostileServer, FloodsBeforeTheHandshake) {
    for (const auto& each : shapes())
        expect_bounded(each, false);
}

TEST_F(HostileServer, FloodsAfterTheHandshake) {
    for (const auto& each : shapes())
        expect_bounded(each, true);
}

// The error says what is too large.
TEST_F(HostileServer, IsNamedAsSuch) {
    for (const bool greets : {false, true}) {
        bounded_child client;
        const support::scripted_server server([greets](scripted_connection& connection) {
            const auto request = greets ? connection.complete_handshake() : connection.receive();
            if (request && connection.send("*2147483647\r\n")) connection.flood("_\r\n", plenty);
        });
        const auto report =
            client.report_from(server.url("?connect_timeout=500&reply_timeout=500"));
        EXPECT_NE(report.text.find("it sent a larger reply than any that Pawl asks for"),
                  std::string::npos)
            << report.text;
    }
}

}  // namespace
