// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Fenced files on the disk, with processes that are killed.
#include "refusals.hpp"

#include <guard/open_folder.hpp>
#include <support/child.hpp>
#include <support/eventually.hpp>
#include <support/temp_folder.hpp>

#include <pawl/error.hpp>
#include <pawl/guard/fenced_file.hpp>

#include <gmock/gmock.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using guard_tests::refusal_of;
using pawl::fencing_token;
using pawl::guard::fenced_file;
using pawl::guard::fenced_folder;
using testing::HasSubstr;

std::string text_of_file(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The real folder, in a process that is killed before one of its steps.
class killed_folder final : public fenced_folder {
public:
    killed_folder(const std::string& path, int steps) : folder_(path), steps_left_(steps) {}

    std::optional<std::string> read(const std::string& name) override { return folder_.read(name); }
    void write(const std::string& name, std::string_view content,
               const std::string& like) override {
        begin_step();
        folder_.write(name, content, like);
    }
    void sync(const std::string& name) override {
        begin_step();
        folder_.sync(name);
    }
    void rename(const std::string& from, const std::string& to) override {
        begin_step();
        folder_.rename(from, to);
    }
    void sync_folder() override {
        begin_step();
        folder_.sync_folder();
    }

private:
    void begin_step() {
        if (steps_left_-- == 0) std::raise(SIGKILL);
    }
    pawl::guard::open_folder folder_;
    int steps_left_;
};

using killed_write = std::function<void(fenced_folder&)>;

void write_9(fenced_folder& folder) {
    (void)pawl::guard::write_fenced(folder, "price", "of 9", fencing_token(9));
}
void write_9_content_first(fenced_folder& folder) {
    for (const auto& [name, text] : {std::pair<std::string, std::string>{"price", "of 9"},
                                     std::pair<std::string, std::string>{"price.fence", "9"}}) {
        folder.write(name + ".new", text, name);
        folder.sync(name + ".new");
        folder.rename(name + ".new", name);
        folder.sync_folder();
    }
}

// The holder of token 9 is killed after a step, whose number is the result's index. Then the late
// holder of token 7 writes. True: it has replaced the newer content.
std::vector<bool> goes_back_after_each_step(const killed_write& write) {
    std::vector<bool> results;
    for (bool was_killed = true; was_killed;) {
        const support::temp_folder folder;
        const fenced_file price(folder.file("price"));
        EXPECT_TRUE(price.write("of 5", fencing_token(5)));
        const int steps = static_cast<int>(results.size());
        was_killed = support::run_in_child([&] {
                         killed_folder killed(folder.path().string(), steps);
                         write(killed);
                         return std::string("ended");
                     }) != "ended";
        const bool had_new_content = text_of_file(price.path()) == "of 9";
        const auto late = price.write("of 7", fencing_token(7));
        EXPECT_EQ(text_of_file(price.path()) == "of 7", late.accepted);
        results.push_back(had_new_content && late.accepted);
        EXPECT_TRUE(price.write("of 10", fencing_token(10))) << "killed after step " << steps;
    }
    return results;
}

TEST(FencedFile, NeverGoesBackAfterAKill) {
    EXPECT_EQ(goes_back_after_each_step(write_9), std::vector<bool>(9, false));
}

TEST(FencedFile, WouldGoBackIfTheContentWereWrittenFirst) {
    EXPECT_THAT(goes_back_after_each_step(write_9_content_first), testing::Contains(true));
}

// Holders with tokens of their own write at the same time. Each looks at the content that its write
// replaced: a write that was accepted has never replaced that of a larger token.
TEST(FencedFile, KeepsThreadsApart) {
    const support::temp_folder folder;
    const fenced_file price(folder.file("price"));
    constexpr std::uint64_t writers = 4, rounds = 25;
    std::atomic<std::uint64_t> accepted = 0, stale = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t writer = 0; writer < writers; ++writer)
        threads.emplace_back([&, writer] {
            for (std::uint64_t round = 1; round <= rounds; ++round) {
                const fencing_token token(round * writers + writer);
                if (!price.write(to_string(token), token)) continue;
                ++accepted;
                if (std::stoull(text_of_file(price.path())) < token.value()) ++stale;
            }
        });
    for (auto& each : threads)
        each.join();
    EXPECT_EQ(stale, 0U);
    EXPECT_GE(accepted, 1U) << "the largest token";
    EXPECT_EQ(text_of_file(price.path()), to_string(price.newest()));
    EXPECT_EQ(price.newest(), fencing_token(rounds * writers + writers - 1));
}

TEST(FencedFile, KeepsItsModeAndItsLinks) {
    const support::temp_folder folder;
    const auto target = folder.file("real"), link = folder.file("link");
    std::ofstream(target) << "old";
    std::filesystem::permissions(target, std::filesystem::perms{0640});
    std::filesystem::create_symlink("real", link);
    const fenced_file by_link(link), by_name(target);
    EXPECT_TRUE(by_link.write("new", fencing_token(2)));
    EXPECT_EQ(text_of_file(target), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_FALSE(by_name.write("late", fencing_token(1))) << "both names have one fence";
    for (const auto* suffix : {"", ".fence", ".lock"})
        EXPECT_EQ(std::filesystem::status(target + suffix).permissions(),
                  std::filesystem::perms{0640})
            << suffix;
}

// Whether a process waits for the lock of this file.
bool has_waiter(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return false;
    const auto number = ':' + std::to_string(status.st_ino) + ' ';
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);)
        if (line.find("-> FLOCK") != std::string::npos && line.find(number) != std::string::npos)
            return true;
    return false;
}

// A writer waits for the lock file. It is deleted, a second writer makes it again and locks it, and
// the first holder ends. The waiting writer has its lock then, of a file that is gone: it must wait
// for the second writer.
TEST(FencedFile, NoticesThatItsLockFileWasReplaced) {
    const support::temp_folder folder;
    const fenced_file price(folder.file("price"));
    EXPECT_TRUE(price.write("a", fencing_token(1)));
    auto first = std::make_unique<pawl::guard::open_folder>(folder.path().string());
    first->lock("price");
    std::thread waiting([&] { EXPECT_TRUE(price.write("b", fencing_token(2))); });
    EXPECT_TRUE(support::eventually([&] { return has_waiter(folder.file("price.lock")); }));
    std::filesystem::remove(folder.file("price.lock"));
    auto second = std::make_unique<pawl::guard::open_folder>(folder.path().string());
    second->lock("price");
    first.reset();
    EXPECT_TRUE(support::eventually([&] { return has_waiter(folder.file("price.lock")); }));
    EXPECT_EQ(text_of_file(price.path()), "a");
    second.reset();
    waiting.join();
    EXPECT_EQ(text_of_file(price.path()), "b");
}

TEST(FencedFile, RefusesBadPathsAndTokens) {
    const support::temp_folder folder;
    const auto refused = [&](const std::string& path) {
        return refusal_of(pawl::errc::bad_option, [&] { const fenced_file file(path); });
    };
    EXPECT_THAT(refused(""), HasSubstr("add the name"));
    EXPECT_THAT(refused(folder.path().string() + "/"), HasSubstr("add the name"));
    EXPECT_THAT(refused(folder.path().string()), HasSubstr("not an ordinary file"));
    EXPECT_THAT(refused(folder.file("missing/price")), HasSubstr("make it first"));
    EXPECT_THAT(refused(folder.file("price.fence")), HasSubstr("another name"));
    EXPECT_THAT(refused(std::string("a\0b", 3)), HasSubstr("zero byte"));
    std::filesystem::create_symlink("nowhere", folder.file("link"));
    EXPECT_THAT(refused(folder.file("link")), HasSubstr("leads to no file"));
    std::filesystem::remove(folder.file("link"));

    const fenced_file price(folder.file("price"));
    EXPECT_THAT(
        refusal_of(pawl::errc::bad_option, [&] { (void)price.write("a", fencing_token()); }),
        HasSubstr("fenced = true"));
    EXPECT_EQ(price.newest(), fencing_token());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a refusal writes nothing";
}

// root is another user for this time, since nothing is forbidden to root.
TEST(FencedFile, SaysThatARightIsMissing) {
    const support::temp_folder folder;
    std::filesystem::permissions(
        folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const fenced_file price(folder.file("price"));
    const auto user = static_cast<uid_t>(::setfsuid(65534));
    EXPECT_THAT(refusal_of(pawl::errc::refused, [&] { (void)price.write("a", fencing_token(1)); }),
                HasSubstr("check the rights"));
    ::setfsuid(user);
}

TEST(FencedFile, RefusesFileSystemsOfSeveralHosts) {
    const auto on = [](unsigned long magic) {
        return refusal_of(pawl::errc::refused,
                          [&] { pawl::guard::refuse_shared_folder("/mnt/price", magic); });
    };
    EXPECT_THAT(on(0x6969), HasSubstr("/mnt/price is on NFS"));
    EXPECT_THAT(on(0xff534d42), HasSubstr("CIFS"));
    EXPECT_EQ(on(0xef53), "") << "ext4";
}

// Another user of the folder has put a FIFO in the place of a file: an open would wait for ever.
TEST(FencedFile, DoesNotWaitForAFifo) {
    for (const auto* beside : {".fence", ".lock"}) {
        const support::temp_folder folder;
        const fenced_file file(folder.file("report"));
        ASSERT_EQ(::mkfifo(folder.file("report" + std::string(beside)).c_str(), 0666), 0);
        const auto sentence =
            refusal_of(pawl::errc::bad_option, [&] { (void)file.write("text", fencing_token(1)); });
        EXPECT_THAT(sentence, HasSubstr(beside));
    }
}

}  // namespace
