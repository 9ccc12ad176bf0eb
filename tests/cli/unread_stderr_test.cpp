// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The reader of stderr has stopped reading, like a pager that waits for a key, and the pipe is
// full. Neither the command nor the lock may wait for it.
#include "command.hpp"
#include "renewals.hpp"

#include <ui/failure.hpp>
#include <ui/messages.hpp>

#include <support/redis_server.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

namespace {

using namespace cli_test;

// The ends of the pipe do not block in this process.
class full_pipe {
public:
    explicit full_pipe(std::string path) : path_(std::move(path)) {
        if (::mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("cannot make a pipe");
        file_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        const std::array<char, 4096> chatter{};
        while (::write(file_, chatter.data(), chatter.size()) > 0) {}
    }
    full_pipe(const full_pipe&) = delete;
    full_pipe& operator=(const full_pipe&) = delete;
    ~full_pipe() { close(); }

    // Ends the only reader.
    void close() { ::close(std::exchange(file_, -1)); }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // Everything so far, without the filling.
    const std::string& text() {
        std::array<char, 4096> part{};
        for (ssize_t size = 0; (size = ::read(file_, part.data(), part.size())) > 0;)
            text_.append(part.data(), static_cast<std::size_t>(size));
        std::erase(text_, '\0');
        return text_;
    }

private:
    std::string path_;
    int file_ = -1;
    std::string text_;
};

class UnreadStderr : public ::testing::Test {
protected:
    void start(const test_sandbox& sandbox, const words& options, const std::string& command,
               const std::string& verb = "run") {
        const auto script = "exec " PAWL_COMMAND " \"$@\" 2>" + stderr_.path();
        pawl_ = std::make_unique<started_process>(
            words{"sh", "-c", script, "sh", verb} + options + words{"x", "--", "sh", "-c", command},
            sandbox.environment());
        ASSERT_TRUE(sandbox.eventually_held("x"));
    }
    // The command itself writes nothing to stderr: the shell would report a killed `sleep`.
    void lose(const words& options, const std::string& after) {
        start(sandbox_, options,
              "exec 2>/dev/null; trap 'echo told; " + after +
                  "' TERM; echo ready; while :; do sleep 0.02; done");
        ASSERT_TRUE(support::eventually([&] { return pawl_->out() == "ready\n"; }));
        EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
        EXPECT_TRUE(support::eventually([&] { return pawl_->out() == "ready\ntold\n"; }));
    }
    [[nodiscard]] bool eventually_says(const std::string& text) {
        return support::eventually([&] { return stderr_.text().find(text) != std::string::npos; });
    }

    test_sandbox sandbox_;
    full_pipe stderr_{sandbox_.file("stderr")};
    std::unique_ptr<started_process> pawl_;
};

TEST_F(UnreadStderr, DoesNotKeepALossFromTheCommand) {
    lose({"--ttl", "6s", "--on-loss", "term"}, "exit");
    EXPECT_EQ(pawl_->wait().code, 70);
}

TEST_F(UnreadStderr, DoesNotKeepPawlFromKilling) {
    lose({"--ttl", "6s"}, "");
    EXPECT_EQ(pawl_->wait().code, 70);
}

TEST_F(UnreadStderr, GetsTheMessageWhenItIsReadAgain) {
    lose({"--ttl", "6s", "--on-loss", "term"}, "");
    EXPECT_TRUE(eventually_says("pawl: Lost 'x': it was released by force")) << stderr_.text();
    EXPECT_TRUE(pawl_->is_running());
}

//   -v | the connection is cut: the lock process reports it, on the thread that renews
TEST_F(UnreadStderr, DoesNotKeepTheLockFromItsRenewals) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    start(sandbox, {"-v", "--ttl", "4s"}, "exec sleep 600");
    (void)server.execute({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    (void)server.execute({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_TRUE(eventually_renewed(sandbox, "x", 2));
    EXPECT_TRUE(pawl_->is_running());
    EXPECT_TRUE(eventually_says("pawl: ")) << "what there was to tell";
}

//   the reader of stderr ends | pawl: writes a message and gets SIGPIPE, which it has blocked |
//   pawl: restores its signal mask at the end of the run
TEST_F(UnreadStderr, WithoutAReaderLeavesTheExitStatus) {
    start(sandbox_, {"--max-hold", "1s"}, "exec sleep 600");
    stderr_.close();
    const auto ended = pawl_->wait();
    EXPECT_EQ(ended.signal, 0);
    EXPECT_EQ(ended.code, 70);
}

TEST_F(UnreadStderr, WithoutAReaderLeavesACandidate) {
    start(sandbox_, {}, "echo leads; exec sleep 600", "elect");
    ASSERT_TRUE(support::eventually([&] { return pawl_->out() == "leads\n"; }));
    stderr_.close();
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_TRUE(support::eventually([&] { return pawl_->out() == "leads\nleads\n"; }));
}

// More lines than are kept: the first lines remain in order, and the others are counted.
TEST_F(UnreadStderr, LosesAFloodButNotItsBeginning) {
    std::array<int, 2> gate{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate.data()), 0);
    char byte = 0;
    const pid_t child = ::fork();
    if (child == 0) {
        const int file = ::open(stderr_.path().c_str(), O_WRONLY | O_CLOEXEC);
        ::dup2(file, STDERR_FILENO);
        pawl::cli::never_block_on_stderr();
        for (int i = 1; i <= 130; ++i)
            pawl::cli::say("Line " + std::to_string(i) + ".");
        if (::write(gate[0], &byte, 1) != 1 || ::read(gate[0], &byte, 1) != 1) ::_exit(1);
        pawl::cli::say(std::string(100'000, 'x'));
        pawl::cli::say_rest();
        ::_exit(0);
    }
    ASSERT_EQ(::read(gate[1], &byte, 1), 1);
    EXPECT_EQ(stderr_.text(), "") << "nothing but what filled it";
    ASSERT_EQ(::write(gate[1], &byte, 1), 1);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    for (const int end : gate)
        ::close(end);
    const auto text = stderr_.text();
    EXPECT_TRUE(text.starts_with("pawl: Line 1.\npawl: Line 2.\n")) << text;
    EXPECT_THAT(text, testing::HasSubstr("pawl: Line 100.\npawl: 30 more messages were omitted"));
    EXPECT_THAT(text, testing::EndsWith("x…\n"));
    EXPECT_EQ(text.find("Line 101"), std::string::npos) << "left out";
}

}  // namespace
