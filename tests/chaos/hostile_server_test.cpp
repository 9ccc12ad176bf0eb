// A server that sends without end, or announces what nobody can keep: the connection is ended with
// a sentence, made again after a pause, and the client stays small. In a child process, whose
// memory can be told from the test's.
#include "scene.hpp"

#include <support/scripted_server.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;
using support::conversation;

constexpr std::size_t plenty = 256 << 20;

struct shape {
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

const std::vector<shape>& shapes() {
    static const std::vector<shape> all = {
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

// What a client says to whoever asks it for a lock.
std::string report_of(const std::string& url) {
    std::string said;
    pawl::client_options options;
    options.log = [&said](std::string_view line) { said += std::string(line) + "\n"; };
    {
        pawl::blocking::client locks(pawl::redis::at(url), options);
        for (const auto wait : {0ms, 400ms}) {
            try {
                pawl::blocking::held_lock got;
                if (wait == 0ms)
                    got = locks.try_acquire("it", {.ttl = 2s});
                else
                    got = locks.acquire("it", {.ttl = 2s, .wait = wait});
                said += got ? "granted\n" : "somebody else's\n";
            } catch (const pawl::error& e) {
                said += std::string("error: ") + e.what() + "\n";
            }
        }
    }
    return std::to_string(peak_rss()) + "\n" + said;
}

struct told {
    std::size_t kib = 0;
    std::string text;
};

// In a child that was forked before this process has a second thread.
class patient {
public:
    patient() {
        if (::pipe(url_) != 0 || ::pipe(report_) != 0) throw std::runtime_error("no pipe");
        pid_ = ::fork();
        if (pid_ == 0) live();
        ::close(url_[0]);
        ::close(report_[1]);
    }
    ~patient() {
        ::close(url_[1]);
        ::close(report_[0]);
        ::waitpid(pid_, nullptr, 0);
    }
    patient(const patient&) = delete;
    patient& operator=(const patient&) = delete;

    told meet(const std::string& url) {
        (void)!::write(url_[1], url.data(), url.size());
        const auto text = read_all(report_[0]);
        told report;
        const auto end = std::min(text.find('\n'), text.size());
        if (end > 0) report.kib = std::stoul(text.substr(0, end));
        report.text = text.substr(std::min(end + 1, text.size()));
        return report;
    }

private:
    static std::string read_all(int from) {
        std::string text;
        char some[4096];
        for (auto got = ::read(from, some, sizeof some); got > 0;
             got = ::read(from, some, sizeof some))
            text.append(some, static_cast<std::size_t>(got));
        return text;
    }
    [[noreturn]] void live() {
        char some[256];
        const auto got = ::read(url_[0], some, sizeof some);
        const auto text =
            got > 0 ? report_of(std::string(some, static_cast<std::size_t>(got))) : std::string();
        (void)!::write(report_[1], text.data(), text.size());
        ::_exit(0);
    }

    int url_[2] = {};
    int report_[2] = {};
    pid_t pid_ = -1;
};

class HostileServer : public testing::Test {
protected:
    // What the client did is the same for every shape: it kept small, said why, and came back after
    // pauses only.
    static void expect_bounded(const shape& what, bool greets) {
        const auto began = boot_clock::now();
        patient client;
        const support::scripted_server server([&what, greets](conversation& with) {
            const auto asked = greets ? with.greet() : with.receive();
            if (asked && with.send(what.head)) with.flood(what.unit, plenty);
        });
        const auto report = client.meet(server.url("?connect_timeout_ms=500&reply_timeout_ms=500"));
        EXPECT_GT(report.kib, 0U) << what.name;
        EXPECT_LE(report.kib, 64U << 10) << what.name;
        EXPECT_NE(report.text.find("error: "), std::string::npos) << what.name << report.text;
        EXPECT_EQ(report.text.find("granted"), std::string::npos) << what.name << report.text;
        // The pauses are at least 10, 20, 40 … 500 ms.
        const auto seconds = (boot_clock::now() - began) / 1s;
        EXPECT_LE(server.connections(), 8U + 2U * static_cast<std::size_t>(seconds + 1))
            << what.name << report.text;
        if (std::getenv("PAWL_SHOW_PEAKS") != nullptr)
            std::cout << (greets ? "after  " : "before ") << what.name << ": " << report.kib
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

// What is too large is said.
TEST_F(HostileServer, IsNamedAsSuch) {
    for (const bool greets : {false, true}) {
        patient client;
        const support::scripted_server server([greets](conversation& with) {
            const auto asked = greets ? with.greet() : with.receive();
            if (asked && with.send("*2147483647\r\n")) with.flood("_\r\n", plenty);
        });
        const auto report = client.meet(server.url("?connect_timeout_ms=500&reply_timeout_ms=500"));
        EXPECT_NE(report.text.find("it sent a larger reply than any that Pawl asks for"),
                  std::string::npos)
            << report.text;
    }
}

}  // namespace
