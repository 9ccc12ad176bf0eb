// Where the locks live when nobody says it on the command line: the configuration files, which of
// them counts, and which are not believed.
#include "command.hpp"

#include <configuration.hpp>

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace cli_test;

// A home and a host of its own, on which nothing has said yet where the locks live.
class Config : public ::testing::Test {
protected:
    Config() {
        std::filesystem::create_directories(here_.file("config/pawl"));
        host("");
    }

    void user(const std::string& text) const { write(user_path(), text); }
    void host(const std::string& text) const { write(host_path(), text); }
    [[nodiscard]] std::string user_path() const { return here_.file("config/pawl/pawl.conf"); }
    [[nodiscard]] std::string host_path() const { return here_.file("host.conf"); }

    static void write(const std::string& path, const std::string& text) {
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms(0644));
    }
    [[nodiscard]] variables bare() const {
        return {{"PAWL_URL", ""},
                {"PAWL_CONFIG", host_path()},
                {"XDG_CONFIG_HOME", here_.file("config")}};
    }
    [[nodiscard]] outcome run(const words& arguments, const variables& more = {}) const {
        auto all = bare();
        for (const auto& [name, value] : more)
            all[name] = value;
        return here_.run(arguments, all);
    }
    // Where a command under the lock would find it.
    [[nodiscard]] std::string url(const words& options = {}, const variables& more = {}) const {
        const auto found =
            run(words{"run"} + options + words{"x", "--", "printenv", "PAWL_URL"}, more);
        EXPECT_EQ(found.code, 0) << found.err;
        EXPECT_EQ(found.err, "");
        return found.out.substr(0, found.out.find('\n'));
    }
    [[nodiscard]] std::string in(const std::string& file) const {
        return "sqlite:" + here_.file(file);
    }
    void expect_refused(const outcome& found, int code, const std::string& sentence) const {
        EXPECT_EQ(found.code, code) << found.err;
        EXPECT_EQ(found.out, "");
        EXPECT_EQ(found.err, "pawl: " + sentence + "\n");
    }

    world here_;
};

TEST_F(Config, NoUrlAnywhereIsSaidInOneLine) {
    const auto found = run({"run", "x", "--", "echo", "ran"});
    EXPECT_EQ(found.code, 0);
    EXPECT_EQ(found.out, "ran\n");
    EXPECT_EQ(found.err,
              "pawl: No URL is set, so the locks are in " +
                  here_.file(".local/state/pawl/locks.db") +
                  " and exclude nobody but this user on this host; say --on URL, set PAWL_URL or "
                  "url in /etc/pawl/pawl.conf, or say --local if that is meant.\n");
    for (const words& row : std::vector<words>{{"ls"}, {"status", "x"}, {"doctor"}}) {
        const auto other = run(row);
        EXPECT_EQ(std::count(other.err.begin(), other.err.end(), '\n'), 1) << other.err;
        EXPECT_EQ(other.err.find("pawl: No URL is set"), 0U) << other.err;
    }
}

TEST_F(Config, LocalIsTheSamePlaceAndSaysNothing) {
    EXPECT_EQ(url({"--local"}), in(".local/state/pawl/locks.db"));
    user("url = " + in("user.db"));
    EXPECT_EQ(url({"--local"}, {{"PAWL_URL", in("variable.db")}}),
              in(".local/state/pawl/locks.db"));
    const auto before = run({"--local", "run", "x", "--", "true"});
    EXPECT_EQ(before.code, 0);
    EXPECT_EQ(before.err, "");
    expect_refused(run({"ls", "--local", "--on", in("a.db")}), 64,
                   "--local and --on both say where the locks live; leave one out.");
    expect_refused(run({"ls", "--local", "--url-file", "/x"}), 64,
                   "--local and --url-file both say where the locks live; leave one out.");
}

// The command line, then the environment, then the user's file, then the host's.
TEST_F(Config, TheNearestCounts) {
    host("url = " + in("host.db"));
    EXPECT_EQ(url(), in("host.db"));
    user("# nothing about a service\nttl = 10s\n");
    EXPECT_EQ(url(), in("host.db"));
    user("url = " + in("user.db") + "\n");
    EXPECT_EQ(url(), in("user.db"));
    write(here_.file("named"), in("named.db") + "\n");
    EXPECT_EQ(url({}, {{"PAWL_URL_FILE", here_.file("named")}}), in("named.db"));
    EXPECT_EQ(url({}, {{"PAWL_URL", in("variable.db")}, {"PAWL_URL_FILE", "/absent"}}),
              in("variable.db"));
    EXPECT_EQ(url({"--on", in("option.db")}, {{"PAWL_URL", in("variable.db")}}), in("option.db"));
}

TEST_F(Config, AFileMayNameAFileWithTheUrl) {
    write(here_.file("secret"), in("secret.db") + "\nmore\n");
    host("url_file = " + here_.file("secret"));
    EXPECT_EQ(url(), in("secret.db"));
    expect_refused((host("url_file = /absent/url"), run({"ls"})), 66,
                   host_path() +
                       ", line 1: there is no file '/absent/url'; write the URL into "
                       "its first line.");
}

TEST_F(Config, TheUsersNamespaceAndTtlCountBeforeTheHosts) {
    support::redis_server server;
    host("url = " + server.url() + "\nnamespace = all+hosts\nttl = 40s\n");
    EXPECT_EQ(url(), server.url() + "?namespace=all%2Bhosts");
    const auto left = [&](const words& options) {
        return run(words{"run"} + options +
                   words{"x", "--", "sh", "-c",
                         PAWL_COMMAND " status --json x | sed 's/.*remaining_ms\":\\([0-9]*\\).*"
                                      "/\\1/'"})
            .out;
    };
    EXPECT_GT(std::stoi(left({})), 30'000);
    user("namespace = mine\nttl = 10s\n");
    EXPECT_EQ(url(), server.url() + "?namespace=mine");
    EXPECT_LE(std::stoi(left({})), 10'000);
    EXPECT_GT(std::stoi(left({"--ttl", "1h"})), 3'000'000);
    // A URL that names one keeps it, and one that was given stands as it is.
    host("url = " + server.url("?namespace=own"));
    EXPECT_EQ(url(), server.url("?namespace=own"));
    EXPECT_EQ(url({}, {{"PAWL_URL", server.url()}}), server.url());
}

TEST_F(Config, AUrlCanBeRequired) {
    const auto required = [&](const std::string& by) {
        expect_refused(run({"run", "x", "--", "true"}), 78,
                       "No URL is set, and " + by +
                           ", requires one; say --on URL, set PAWL_URL or url in a configuration "
                           "file, or say --local for a file of this user.");
    };
    host("\nrequire_url = yes\n");
    required(host_path() + ", line 2");
    user("require_url = no\n");
    required(host_path() + ", line 2");
    EXPECT_EQ(url({"--local"}), in(".local/state/pawl/locks.db"));
    EXPECT_EQ(url({"--on", in("a.db")}), in("a.db"));
    user("url = " + in("user.db"));
    EXPECT_EQ(url(), in("user.db"));
    host("require_url = no\n");
    user("require_url = yes\n");
    required(user_path() + ", line 1");
}

TEST_F(Config, DoctorAndStatusSayWhereTheUrlCameFrom) {
    host("# the locks of all hosts\nurl = " + in("host.db"));
    const std::string source = host_path() + ", line 2";
    EXPECT_EQ(from_json(run({"doctor", "--json"}).out, "it['source']"), source);
    EXPECT_NE(run({"doctor"}).out.find("(from " + source + ")"), std::string::npos);
    EXPECT_EQ(from_json(run({"status", "--json", "x"}).out, "it['source']"), source);
    EXPECT_NE(run({"status", "x"}).out.find("(from " + source + ")"), std::string::npos);
    const auto source_of = [&](const words& options, const variables& more) {
        return from_json(run(words{"status", "--json", "x"} + options, more).out, "it['source']");
    };
    EXPECT_EQ(source_of({"--on", in("a.db")}, {}), "--on");
    EXPECT_EQ(source_of({"--local"}, {}), "--local");
    EXPECT_EQ(source_of({}, {{"PAWL_URL", in("a.db")}}), "PAWL_URL");
    host("");
    EXPECT_EQ(source_of({}, {}), "the default, because no URL is set");
}

TEST_F(Config, ABadLineIsNamedAndNotRepeated) {
    const auto complaint = [&](const std::string& line) {
        host("ttl = 20s\n" + line + "\n");
        const auto found = run({"ls", "--on", in("a.db")});
        EXPECT_EQ(found.code, 78) << line << ": " << found.err;
        EXPECT_EQ(std::count(found.err.begin(), found.err.end(), '\n'), 1) << found.err;
        const std::string begin = "pawl: " + host_path() + ", line 2: ";
        EXPECT_EQ(found.err.find(begin), 0U) << found.err;
        EXPECT_EQ(found.err.find("s3cret"), std::string::npos) << found.err;
        return found.err.substr(std::min(begin.size(), found.err.size()));
    };
    const std::string form = "write key = value, as in: url = redis://host.\n";
    EXPECT_EQ(complaint("redis://:s3cret@host/?reply_timeout_ms=1"), form);
    EXPECT_EQ(complaint("url redis://:s3cret@host"), form);
    EXPECT_EQ(complaint("= x"), form);
    EXPECT_EQ(
        complaint("wait = s3cret"),
        "'wait' is not a setting; there are url, url_file, namespace, ttl and require_url.\n");
    EXPECT_EQ(complaint("url ="), "url has no value; write one, or take the line out.\n");
    EXPECT_EQ(complaint("ttl = 30s"), "ttl stands in line 1 already; keep one of the two.\n");
    EXPECT_EQ(complaint("url = sqlite:locks.db"),
              "the path of a file must be absolute here, as in sqlite:/var/lib/pawl/locks.db.\n");
    EXPECT_EQ(complaint("url_file = ./s3cret"), "url_file must be an absolute path.\n");
    EXPECT_EQ(complaint("require_url = s3cret"), "require_url must be yes or no.\n");
    EXPECT_EQ(complaint("url = redis://:s3cret@host # the first host"),
              "a comment needs a line of its own.\n");
    EXPECT_EQ(complaint("namespace = shop\t# ours"), "a comment needs a line of its own.\n");
    for (const char* quoted : {"\"redis://:s3cret@host\"", "'redis://:s3cret@host'"})
        EXPECT_EQ(complaint(std::string("url = ") + quoted), "leave out the quotes.\n");
    EXPECT_EQ(complaint("namespace = \"shop\""), "leave out the quotes.\n");
    EXPECT_EQ(complaint(std::string("url = a\x1b[2J")),
              "a control character is no part of a setting.\n");
}

TEST_F(Config, TwoPlacesInOneFileAreRefused) {
    host("url = sqlite:/b\n\nurl_file = /a\n\n");
    expect_refused(run({"ls"}), 78,
                   host_path() +
                       ", line 3: url and url_file both name the service; leave one "
                       "out.");
}

TEST_F(Config, ABadTtlIsRefused) {
    for (const char* ttl : {"5", "forever", "9ms", "25h", "0", "-1s"}) {
        host(std::string("ttl = ") + ttl);
        expect_refused(run({"ls"}), 78,
                       host_path() +
                           ", line 1: ttl must be a time between 10ms and 24h, such as "
                           "30s.");
    }
}

TEST_F(Config, ABadUrlIsSaidToComeFromTheFile) {
    host("\n\nurl = redis://:s3cret@host/two");
    std::filesystem::permissions(host_path(), std::filesystem::perms(0600));
    const auto found = run({"ls"});
    EXPECT_EQ(found.code, 78);
    EXPECT_EQ(found.err.find("pawl: " + host_path() + ", line 3: "), 0U) << found.err;
    EXPECT_EQ(found.err.find("s3cret"), std::string::npos) << found.err;
}

// The line that is wrong, not the one that it was added to.
TEST_F(Config, ABadNamespaceIsSaidToComeFromItsLine) {
    host("url = redis://host\nnamespace = sh{op\n");
    const auto begin_of = [](const std::string& place) { return "pawl: " + place + ": "; };
    const auto of_host = run({"ls"});
    EXPECT_EQ(of_host.code, 78);
    EXPECT_EQ(of_host.err.find(begin_of(host_path() + ", line 2")), 0U) << of_host.err;
    user("\n\nnamespace = {\n");
    const auto of_user = run({"ls"});
    EXPECT_EQ(of_user.err.find(begin_of(user_path() + ", line 3")), 0U) << of_user.err;
    host("url = redis://host/two\nnamespace = shop\n");
    user("");
    const auto of_url = run({"ls"});
    EXPECT_EQ(of_url.err.find(begin_of(host_path() + ", line 1")), 0U) << of_url.err;
}

TEST_F(Config, AFileThatTheEnvironmentNamesMustExist) {
    for (const words& row : std::vector<words>{{"ls"}, {"ls", "--on", in("a.db")}})
        expect_refused(run(row, {{"PAWL_CONFIG", "/no/such"}}), 78,
                       "PAWL_CONFIG names '/no/such', which does not exist; write that file, or "
                       "unset PAWL_CONFIG.");
    EXPECT_EQ(run({"ls", "--on", in("a.db")}, {{"PAWL_CONFIG", "/dev/null"}}).code, 0);
}

// What is read in many folders would name another file in each of them.
TEST_F(Config, ARelativePathIsForTheCommandLineAlone) {
    const auto refused = [&](const outcome& found, int code) {
        EXPECT_EQ(found.code, code) << found.err;
        EXPECT_NE(found.err.find("relative path, which is another file in each folder; make it "
                                 "absolute"),
                  std::string::npos)
            << found.err;
    };
    write(here_.file("named"), "sqlite:l.db\n");
    refused(run({"ls"}, {{"PAWL_URL", "sqlite:l.db"}}), 64);
    refused(run({"ls", "--url-file", here_.file("named")}), 64);
    refused(run({"ls"}, {{"PAWL_URL_FILE", here_.file("named")}}), 64);
    host("url_file = " + here_.file("named"));
    refused(run({"ls"}), 78);
}

TEST_F(Config, ARelativePathOnTheCommandLineIsShownAndPassedOnWhole) {
    auto environment = here_.environment();
    for (const auto& [name, value] : bare())
        environment[name] = value;
    const auto in_folder = [&](const words& arguments) {
        const words there{"env", "-C", here_.file("."), PAWL_COMMAND};
        return started(there + arguments, environment).wait();
    };
    EXPECT_EQ(
        in_folder({"run", "--on", "sqlite:l.db?namespace=shop", "x", "--", "printenv", "PAWL_URL"})
            .out,
        in("l.db") + "?namespace=shop\n");
    EXPECT_EQ(
        from_json(in_folder({"status", "--json", "--on", "sqlite:l.db", "x"}).out, "it['service']"),
        in("l.db"));
}

// A mistyped option is told alone: where the locks would live does not matter then.
TEST_F(Config, WhatIsWrongInTheCommandLineIsToldBeforeTheMissingUrl) {
    for (const words& row : std::vector<words>{{"run", "--ttl", "1ms", "x", "--", "true"},
                                               {"run", "--max-hold", "5ms", "x", "--", "true"},
                                               {"run", "new\nline", "--", "true"},
                                               {"elect", "--ttl", "25h", "x", "--", "true"},
                                               {"status", ""},
                                               {"release", "--force", "--yes", "x\x7f"},
                                               {"resize", std::string(513, 'n'), "5"},
                                               {"bench", "--name", "tab\t"}}) {
        const auto found = run(row);
        EXPECT_EQ(found.code, 64) << row.back();
        EXPECT_EQ(std::count(found.err.begin(), found.err.end(), '\n'), 1) << found.err;
        EXPECT_EQ(found.err.find("No URL is set"), std::string::npos) << found.err;
    }
}

TEST_F(Config, AFileThatOthersCanWriteIsRefused) {
    for (const unsigned rights : {0664U, 0646U, 0666U}) {
        for (const auto& path : {user_path(), host_path()}) {
            write(path, "url = " + in("a.db"));
            std::filesystem::permissions(path, std::filesystem::perms(rights));
            expect_refused(run({"ls"}), 78,
                           "'" + path +
                               "' can be written by other users, who could move your locks "
                               "elsewhere; run: chmod go-w " +
                               path);
            std::filesystem::remove(path);
        }
    }
}

TEST_F(Config, APasswordThatEverybodyMayReadIsRefused) {
    support::redis_server server({.config = {"requirepass s3cret"}, .password = "s3cret"});
    const std::string with = "redis://:s3cret@127.0.0.1:" + std::to_string(server.port());
    const std::string advice = "' has a password and everybody may read it; run: chmod o-r ";
    const std::string rest =
        ", or keep the password in a file that the URL names with password_file.";
    host("url = " + with);
    expect_refused(run({"ls"}), 78, "'" + host_path() + advice + host_path() + rest);
    std::filesystem::permissions(host_path(), std::filesystem::perms(0640));
    EXPECT_EQ(url(), server.url());
    write(here_.file("secret"), with);
    host("url_file = " + here_.file("secret"));
    expect_refused(run({"ls"}), 78,
                   "'" + here_.file("secret") + advice + here_.file("secret") + rest);
    std::filesystem::permissions(here_.file("secret"), std::filesystem::perms(0600));
    EXPECT_EQ(url(), server.url());
}

TEST_F(Config, WhatIsNoFileOfSettingsIsRefused) {
    std::filesystem::remove(host_path());
    std::filesystem::create_directory(host_path());
    expect_refused(run({"ls"}), 78,
                   "'" + host_path() + "' is not a regular file; write the settings into one.");
    std::filesystem::remove(host_path());
    ASSERT_EQ(::mkfifo(host_path().c_str(), 0600), 0);
    expect_refused(run({"ls"}), 78,
                   "'" + host_path() + "' is not a regular file; write the settings into one.");
    std::filesystem::remove(host_path());
    host("#" + std::string(70'000, 'x'));
    expect_refused(run({"ls"}), 78,
                   "'" + host_path() +
                       "' is longer than 64 KiB, so it is no file of settings; name another one.");
    EXPECT_EQ(run({"ls", "--local"}, {{"PAWL_CONFIG", "/dev/null"}}).code, 0);
}

// Root may take away its own right to open every file; anybody else has no such right.
words without_overrides(const words& program) {
    if (::geteuid() != 0) return program;
    return words{"setpriv", "--bounding-set", "-dac_override,-dac_read_search"} + program;
}

TEST_F(Config, AFileThatThisUserMayNotReadIsAnErrorWhereItIsNeeded) {
    host("url = " + in("a.db"));
    std::filesystem::permissions(host_path(), std::filesystem::perms(0));
    const auto refused = [&](const words& arguments) {
        auto environment = here_.environment();
        for (const auto& [name, value] : bare())
            environment[name] = value;
        return started(without_overrides(words{PAWL_COMMAND} + arguments), environment).wait();
    };
    const auto sentence = [](const std::string& path) {
        return "Cannot read '" + path + "': Permission denied; repair it, or say --on URL.";
    };
    expect_refused(refused({"ls"}), 66, sentence(host_path()));
    EXPECT_EQ(refused({"ls", "--on", in("b.db")}).code, 0);
    host("url = " + in("a.db"));
    user("");
    std::filesystem::permissions(user_path(), std::filesystem::perms(0));
    expect_refused(refused({"ls"}), 66, sentence(user_path()));
    // A folder that is closed may have nothing in it for us.
    std::filesystem::permissions(here_.file("config/pawl"), std::filesystem::perms(0));
    EXPECT_EQ(refused({"ls"}).code, 0);
    std::filesystem::permissions(here_.file("config/pawl"), std::filesystem::perms(0700));
}

// As root with the HOME of somebody else, or anybody with a file that a third user wrote.
TEST_F(Config, AFileOfAnotherUserIsRefused) {
    auto environment = here_.environment();
    for (const auto& [name, value] : bare())
        environment[name] = value;
    words program{PAWL_COMMAND, "ls"};
    std::string path = user_path();
    if (::geteuid() == 0) {
        user("url = " + in("a.db"));
        ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    } else {
        // In a user namespace of our own, files of the real root belong to nobody that is known.
        path = "/etc/passwd";
        environment["PAWL_CONFIG"] = path;
        program = words{"unshare", "--user", "--map-root-user"} + program;
    }
    expect_refused(started(program, environment).wait(), 78,
                   "'" + path +
                       "' belongs to uid 65534, and pawl runs as uid 0; use that user's own HOME "
                       "(sudo -H), or give the file to it or to root.");
}

TEST(ConfigPaths, OfAUserWithoutHomeComeFromTheUserDatabase) {
    const char* before = std::getenv("HOME");
    const std::string kept = before == nullptr ? "" : before;
    for (const char* given : {"", "relative"}) {
        ::setenv("HOME", given, 1);
        EXPECT_EQ(pawl::cli::home_folder(), ::getpwuid(::geteuid())->pw_dir) << given;
    }
    ::setenv("HOME", "/somewhere", 1);
    EXPECT_EQ(pawl::cli::home_folder(), "/somewhere");
    ::setenv("HOME", kept.c_str(), 1);
}

// One command line, written in both orders.
TEST_F(Config, OptionsOfAllVerbsMayStandBeforeTheVerb) {
    EXPECT_EQ(run({"--on", in("a.db"), "run", "x", "--", "printenv", "PAWL_URL"}).out,
              in("a.db") + "\n");
    EXPECT_EQ(run({"--on=" + in("a.db"), "run", "run", "--", "printenv", "PAWL_URL"}).out,
              in("a.db") + "\n");
    write(here_.file("named"), in("named.db"));
    EXPECT_EQ(
        run({"--url-file", here_.file("named"), "elect", "x", "--", "printenv", "PAWL_URL"}).out,
        in("named.db") + "\n");
    EXPECT_EQ(run({"--local", "ls"}).err, "");
    EXPECT_EQ(run({"--local", "status", "run"}).code, 1) << "a lock with the name of a verb";
    expect_refused(run({"--on", in("a.db"), "ls", "--on", in("a.db")}), 64,
                   "--on is given twice; give it once.");
    expect_refused(run({"--wait", "5s", "run", "x", "--", "echo", "--wait"}), 64,
                   "The option '--wait' stands behind the verb, as in: pawl run --wait; see `pawl "
                   "run --help`.");
    expect_refused(run({"--json", "ls", "--on", in("a.db")}), 64,
                   "The option '--json' stands behind the verb, as in: pawl ls --json; see `pawl "
                   "ls --help`.");
    EXPECT_NE(run({"--help"}).out.find("--on"), std::string::npos);
}

}  // namespace
