// Files and folders that a command line, a URL or HOME leads to: what another user may have put
// there, and what would be read for ever.
#include "command.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace cli_test;
namespace fs = std::filesystem;

constexpr uid_t somebody_else = 65534;

void expect_refused(const outcome& found, int code, const std::string& sentence) {
    EXPECT_EQ(found.code, code) << found.err;
    EXPECT_EQ(found.out, "");
    EXPECT_EQ(found.err, "pawl: " + sentence + "\n");
}

class DefaultFile : public ::testing::Test {
protected:
    [[nodiscard]] outcome use(const variables& more = {}) const {
        return here_.run({"run", "--local", "x", "--", "true"}, more);
    }
    [[nodiscard]] static std::string of_somebody(const std::string& path) {
        return "'" + path + "', on the way to the default lock file, belongs to uid 65534, and " +
               "pawl runs as uid 0; use that user's own HOME (sudo -H), or name the place with "
               "--on URL.";
    }
    [[nodiscard]] static std::string written_by_others(const std::string& path) {
        return "'" + path +
               "', on the way to the default lock file, can be written by other users, who could "
               "move your locks elsewhere; run: chmod go-w " +
               path;
    }

    world here_;
    const std::string state_ = here_.file(".local/state");
    const std::string folder_ = here_.file(".local/state/pawl");
};

TEST_F(DefaultFile, IsNotMadeInTheHomeOfAnotherUser) {
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(state_.c_str(), somebody_else, somebody_else), 0);
        expect_refused(use(), 78, of_somebody(state_));
        EXPECT_FALSE(fs::exists(folder_ + "/locks.db"));
        EXPECT_EQ(here_.run({"ls"}).code, 0);  // a place that is named
        ASSERT_EQ(::chown(state_.c_str(), 0, 0), 0);
        EXPECT_EQ(use().code, 0);
    } else {
        // In a user namespace of our own, folders of the real root belong to nobody that is known.
        auto environment = here_.environment();
        environment["HOME"] = "/usr";
        const words program{"unshare", "--user", "--map-root-user", PAWL_COMMAND, "ls", "--local"};
        expect_refused(started(program, environment).wait(), 78, of_somebody("/usr"));
    }
}

// Whoever put the link there chooses where the locks are, and makes root write there.
TEST_F(DefaultFile, IsNotLookedForBehindALinkOfAnotherUser) {
    fs::rename(state_, here_.file("elsewhere"));
    fs::create_directory_symlink(here_.file("elsewhere"), state_);
    EXPECT_EQ(use().code, 0);  // a link of our own
    fs::remove(here_.file("elsewhere/pawl/locks.db"));
    if (::geteuid() != 0) return;
    ASSERT_EQ(::lchown(state_.c_str(), somebody_else, somebody_else), 0);
    expect_refused(use(), 78, of_somebody(state_));
    expect_refused(use({{"XDG_STATE_HOME", state_}}), 78, of_somebody(state_));
    EXPECT_FALSE(fs::exists(here_.file("elsewhere/pawl/locks.db")));
    fs::remove(state_);
    fs::rename(here_.file("elsewhere"), state_);
    const auto file = folder_ + "/locks.db";
    fs::create_symlink(here_.file("target"), file);
    ASSERT_EQ(::lchown(file.c_str(), somebody_else, somebody_else), 0);
    expect_refused(use(), 78, of_somebody(file));
    EXPECT_FALSE(fs::exists(here_.file("target")));
}

TEST_F(DefaultFile, IsNotPutWhereOthersMayWrite) {
    const auto with = [](const std::string& path, unsigned rights) {
        fs::permissions(path, fs::perms(rights));
    };
    for (const unsigned rights : {0770U, 0702U, 01777U}) {
        with(folder_, rights);
        expect_refused(use(), 78, written_by_others(folder_));
    }
    with(folder_, 0700);
    with(state_, 0777);
    expect_refused(use(), 78, written_by_others(state_));
    for (const unsigned rights : {0775U, 01777U, 0755U}) {
        with(state_, rights);
        EXPECT_EQ(use().code, 0) << rights;
    }
    with(folder_ + "/locks.db", 0666);
    expect_refused(use(), 78, written_by_others(folder_ + "/locks.db"));
}

class NamedFile : public ::testing::Test {
protected:
    [[nodiscard]] outcome status(const std::string& url_file) const {
        return here_.run({"status", "--url-file", url_file, "x"});
    }
    [[nodiscard]] std::string fifo() const {
        EXPECT_EQ(::mkfifo(here_.file("fifo").c_str(), 0600), 0);
        return here_.file("fifo");
    }
    [[nodiscard]] std::string url() const { return here_.environment().at("PAWL_URL"); }

    world here_;
};

TEST_F(NamedFile, WithTheUrlIsNotReadForEver) {
    const std::string by = "', which --url-file names, ";
    expect_refused(status("/dev/zero"), 64,
                   "'/dev/zero" + by + "is neither a file nor a pipe; write the URL into a file.");
    expect_refused(status("/"), 64,
                   "'/" + by + "is neither a file nor a pipe; write the URL into a file.");
    const auto large = here_.file("large");
    std::ofstream(large).flush();
    fs::resize_file(large, std::uintmax_t{1} << 33);
    expect_refused(status(large), 64,
                   "'" + large + by +
                       "has more than 64 KiB in its first line, so that is no URL; name another "
                       "file.");
    const auto path = fifo();
    expect_refused(status(path), 64,
                   "The first line of '" + path + by.substr(0, by.size() - 1) +
                       " is empty; write the URL there.");
    // Somebody has it open and writes nothing.
    const int silent = ::open(path.c_str(), O_RDWR);
    ASSERT_GE(silent, 0);
    expect_refused(status(path), 66,
                   "The pipe '" + path + by +
                       "gave no line within 5 s; have its writer write the URL at once.");
    ::close(silent);
}

TEST_F(NamedFile, WithTheUrlMayBeAPipeOfTheShell) {
    auto environment = here_.environment();
    const std::string command = PAWL_COMMAND;
    const words shell{"bash", "-c",
                      "'" + command + "' run --url-file <(sleep 0.3; echo '" + url() +
                          "') x -- echo ran; echo '" + url() + "' | '" + command +
                          "' run --url-file /dev/stdin x -- echo again"};
    const auto found = started(shell, environment).wait();
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.out, "ran\nagain\n");
}

TEST_F(NamedFile, OfAPasswordOrCertificateIsARegularOne) {
    const auto path = fifo();
    const auto refused = [&](const std::string& url, const std::string& subject) {
        const auto found = here_.run({"run", "--on", url, "--wait", "1s", "x", "--", "true"});
        EXPECT_EQ(found.code, 64) << found.err;
        EXPECT_EQ(found.err, "pawl: " + subject + "' is no regular file; name one.\n");
    };
    for (const std::string& each : {path, std::string("/dev/zero")}) {
        refused("redis://127.0.0.1:1?password_file=" + each, "The password file '" + each);
        refused("rediss://127.0.0.1:1?ca=" + each, "The CA file '" + each);
        refused("rediss://127.0.0.1:1?cert_key=/no/such&cert=" + each, "The certificate '" + each);
        refused("rediss://127.0.0.1:1?cert=/no/such&cert_key=" + each,
                "The key of the certificate '" + each);
    }
}

}  // namespace
