// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How the service is selected without an option: which configuration file takes precedence, and
// which files are not trusted.
#include "command.hpp"

#include <config/configuration.hpp>

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

// A home folder and a host without any configured URL.
class Config : public ::testing::Test {
protected:
    Config() {
        std::filesystem::create_directories(sandbox_.file("config/pawl"));
        write_host_config("");
    }

    void write_user_config(const std::string& text) const { write(user_path(), text); }
    void write_host_config(const std::string& text) const { write(host_path(), text); }
    [[nodiscard]] std::string user_path() const { return sandbox_.file("config/pawl/pawl.conf"); }
    [[nodiscard]] std::string host_path() const { return sandbox_.file("host.conf"); }

    static void write(const std::string& path, const std::string& text) {
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms(0644));
    }
    [[nodiscard]] variables environment_without_url() const {
        return {{"PAWL_URL", ""},
                {"PAWL_CONFIG", host_path()},
                {"XDG_CONFIG_HOME", sandbox_.file("config")}};
    }
    [[nodiscard]] outcome run(const words& arguments, const variables& more = {}) const {
        auto all = environment_without_url();
        for (const auto& [name, value] : more)
            all[name] = value;
        return sandbox_.run(arguments, all);
    }
    // The URL that a command under the lock gets.
    [[nodiscard]] std::string used_url(const words& options = {},
                                       const variables& more = {}) const {
        const auto result =
            run(words{"run"} + options + words{"x", "--", "printenv", "PAWL_URL"}, more);
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(result.err, "");
        return result.out.substr(0, result.out.find('\n'));
    }
    [[nodiscard]] std::string sqlite_url(const std::string& file) const {
        return "sqlite:" + sandbox_.file(file);
    }
    void expect_refused(const outcome& result, int code, const std::string& sentence) const {
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_EQ(result.err, "pawl: " + sentence + "\n");
    }

    test_sandbox sandbox_;
};

TEST_F(Config, NoUrlAnywhereIsSaidInOneLine) {
    const auto result = run({"run", "x", "--", "echo", "ran"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.out, "ran\n");
    EXPECT_EQ(result.err,
              "pawl: No URL is set, so the locks are in " +
                  sandbox_.file(".local/state/pawl/locks.db") +
                  " and exclude only this user's processes on this host; use --on URL, set "
                  "PAWL_URL or url in /etc/pawl/pawl.conf, or use --local to confirm this file.\n");
    for (const words& row : std::vector<words>{{"ls"}, {"status", "x"}, {"doctor"}}) {
        const auto other = run(row);
        EXPECT_EQ(std::count(other.err.begin(), other.err.end(), '\n'), 1) << other.err;
        EXPECT_EQ(other.err.find("pawl: No URL is set"), 0U) << other.err;
    }
}

TEST_F(Config, LocalUsesTheDefaultFileSilently) {
    EXPECT_EQ(used_url({"--local"}), sqlite_url(".local/state/pawl/locks.db"));
    write_user_config("url = " + sqlite_url("user.db"));
    EXPECT_EQ(used_url({"--local"}, {{"PAWL_URL", sqlite_url("variable.db")}}),
              sqlite_url(".local/state/pawl/locks.db"));
    const auto before = run({"--local", "run", "x", "--", "true"});
    EXPECT_EQ(before.code, 0);
    EXPECT_EQ(before.err, "");
    expect_refused(run({"ls", "--local", "--on", sqlite_url("a.db")}), 64,
                   "--local and --on both name the service; use only one of them.");
    expect_refused(run({"ls", "--local", "--url-file", "/x"}), 64,
                   "--local and --url-file both name the service; use only one of them.");
}

// The precedence: the command line, the environment, the user's file, the host's file.
TEST_F(Config, TheNearestCounts) {
    write_host_config("url = " + sqlite_url("host.db"));
    EXPECT_EQ(used_url(), sqlite_url("host.db"));
    write_user_config("# nothing about a service\nttl = 10s\n");
    EXPECT_EQ(used_url(), sqlite_url("host.db"));
    write_user_config("url = " + sqlite_url("user.db") + "\n");
    EXPECT_EQ(used_url(), sqlite_url("user.db"));
    write(sandbox_.file("named"), sqlite_url("named.db") + "\n");
    EXPECT_EQ(used_url({}, {{"PAWL_URL_FILE", sandbox_.file("named")}}), sqlite_url("named.db"));
    EXPECT_EQ(used_url({}, {{"PAWL_URL", sqlite_url("variable.db")}, {"PAWL_URL_FILE", "/absent"}}),
              sqlite_url("variable.db"));
    EXPECT_EQ(
        used_url({"--on", sqlite_url("option.db")}, {{"PAWL_URL", sqlite_url("variable.db")}}),
        sqlite_url("option.db"));
}

TEST_F(Config, AFileMayNameAFileWithTheUrl) {
    write(sandbox_.file("secret"), sqlite_url("secret.db") + "\nmore\n");
    write_host_config("url_file = " + sandbox_.file("secret"));
    EXPECT_EQ(used_url(), sqlite_url("secret.db"));
    expect_refused((write_host_config("url_file = /absent/url"), run({"ls"})), 66,
                   host_path() +
                       ", line 1: the file '/absent/url' does not exist; create it with the URL in "
                       "its first line.");
}

TEST_F(Config, TheUsersNamespaceAndTtlCountBeforeTheHosts) {
    support::redis_server server;
    write_host_config("url = " + server.url() + "\nnamespace = all+hosts\nttl = 40s\n");
    EXPECT_EQ(used_url(), server.url() + "?namespace=all%2Bhosts");
    const auto left = [&](const words& options) {
        return run(words{"run"} + options +
                   words{"x", "--", "sh", "-c",
                         PAWL_COMMAND " status --json x | sed 's/.*remaining_ms\":\\([0-9]*\\).*"
                                      "/\\1/'"})
            .out;
    };
    EXPECT_GT(std::stoi(left({})), 30'000);
    write_user_config("namespace = mine\nttl = 10s\n");
    EXPECT_EQ(used_url(), server.url() + "?namespace=mine");
    EXPECT_LE(std::stoi(left({})), 10'000);
    EXPECT_GT(std::stoi(left({"--ttl", "1h"})), 3'000'000);
    // A URL with a namespace keeps it, and a URL from the environment is not changed.
    write_host_config("url = " + server.url("?namespace=own"));
    EXPECT_EQ(used_url(), server.url("?namespace=own"));
    EXPECT_EQ(used_url({}, {{"PAWL_URL", server.url()}}), server.url());
}

TEST_F(Config, AUrlCanBeRequired) {
    const auto required = [&](const std::string& by) {
        expect_refused(run({"run", "x", "--", "true"}), 78,
                       "No URL is set, and " + by +
                           ", requires one; use --on URL, set PAWL_URL or url in a configuration "
                           "file, or use --local for a lock file of this user.");
    };
    write_host_config("\nrequire_url = yes\n");
    required(host_path() + ", line 2");
    write_user_config("require_url = no\n");
    required(host_path() + ", line 2");
    EXPECT_EQ(used_url({"--local"}), sqlite_url(".local/state/pawl/locks.db"));
    EXPECT_EQ(used_url({"--on", sqlite_url("a.db")}), sqlite_url("a.db"));
    write_user_config("url = " + sqlite_url("user.db"));
    EXPECT_EQ(used_url(), sqlite_url("user.db"));
    write_host_config("require_url = no\n");
    write_user_config("require_url = yes\n");
    required(user_path() + ", line 1");
}

TEST_F(Config, DoctorAndStatusSayWhereTheUrlCameFrom) {
    write_host_config("# the locks of all hosts\nurl = " + sqlite_url("host.db"));
    const std::string source = host_path() + ", line 2";
    EXPECT_EQ(from_json(run({"doctor", "--json"}).out, "it['source']"), source);
    EXPECT_NE(run({"doctor"}).out.find("(from " + source + ")"), std::string::npos);
    EXPECT_EQ(from_json(run({"status", "--json", "x"}).out, "it['source']"), source);
    EXPECT_NE(run({"status", "x"}).out.find("(from " + source + ")"), std::string::npos);
    const auto source_of = [&](const words& options, const variables& more) {
        return from_json(run(words{"status", "--json", "x"} + options, more).out, "it['source']");
    };
    EXPECT_EQ(source_of({"--on", sqlite_url("a.db")}, {}), "--on");
    EXPECT_EQ(source_of({"--local"}, {}), "--local");
    EXPECT_EQ(source_of({}, {{"PAWL_URL", sqlite_url("a.db")}}), "PAWL_URL");
    write_host_config("");
    EXPECT_EQ(source_of({}, {}), "the default, because no URL is set");
}

TEST_F(Config, ABadLineIsNamedAndNotRepeated) {
    const auto complaint = [&](const std::string& line) {
        write_host_config("ttl = 20s\n" + line + "\n");
        const auto result = run({"ls", "--on", sqlite_url("a.db")});
        EXPECT_EQ(result.code, 78) << line << ": " << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        const std::string begin = "pawl: " + host_path() + ", line 2: ";
        EXPECT_EQ(result.err.find(begin), 0U) << result.err;
        EXPECT_EQ(result.err.find("s3cret"), std::string::npos) << result.err;
        return result.err.substr(std::min(begin.size(), result.err.size()));
    };
    const std::string form = "write key = value, as in: url = redis://host.\n";
    EXPECT_EQ(complaint("redis://:s3cret@host/?reply_timeout=1"), form);
    EXPECT_EQ(complaint("url redis://:s3cret@host"), form);
    EXPECT_EQ(complaint("= x"), form);
    EXPECT_EQ(complaint("wait = s3cret"),
              "'wait' is not a setting; use url, url_file, namespace, ttl or require_url.\n");
    EXPECT_EQ(complaint("url ="), "url has no value; add a value, or remove the line.\n");
    EXPECT_EQ(complaint("ttl = 30s"), "ttl is already set in line 1; remove one of the two.\n");
    EXPECT_EQ(complaint("url = sqlite:locks.db"),
              "the path must be absolute, as in sqlite:/var/lib/pawl/locks.db.\n");
    EXPECT_EQ(complaint("url_file = ./s3cret"), "url_file must be an absolute path.\n");
    EXPECT_EQ(complaint("require_url = s3cret"), "require_url must be yes or no.\n");
    EXPECT_EQ(complaint("url = redis://:s3cret@host # the first host"),
              "a comment must be on its own line.\n");
    EXPECT_EQ(complaint("namespace = shop\t# ours"), "a comment must be on its own line.\n");
    for (const char* quoted : {"\"redis://:s3cret@host\"", "'redis://:s3cret@host'"})
        EXPECT_EQ(complaint(std::string("url = ") + quoted), "remove the quotes.\n");
    EXPECT_EQ(complaint("namespace = \"shop\""), "remove the quotes.\n");
    EXPECT_EQ(complaint(std::string("url = a\x1b[2J")),
              "the line contains a control character; remove it.\n");
}

TEST_F(Config, UrlAndUrlFileTogetherAreRefused) {
    write_host_config("url = sqlite:/b\n\nurl_file = /a\n\n");
    expect_refused(
        run({"ls"}), 78,
        host_path() + ", line 3: url and url_file both name the service; remove one of them.");
}

TEST_F(Config, ABadTtlIsRefused) {
    for (const char* ttl : {"5", "forever", "9ms", "25h", "0", "-1s"}) {
        write_host_config(std::string("ttl = ") + ttl);
        expect_refused(run({"ls"}), 78,
                       host_path() +
                           ", line 1: ttl must be a time between 10ms and 24h, such as "
                           "30s.");
    }
}

TEST_F(Config, ABadUrlIsSaidToComeFromTheFile) {
    write_host_config("\n\nurl = redis://:s3cret@host/two");
    std::filesystem::permissions(host_path(), std::filesystem::perms(0600));
    const auto result = run({"ls"});
    EXPECT_EQ(result.code, 78);
    EXPECT_EQ(result.err.find("pawl: " + host_path() + ", line 3: "), 0U) << result.err;
    EXPECT_EQ(result.err.find("s3cret"), std::string::npos) << result.err;
}

// The error names the line of the namespace, not the line of the URL.
TEST_F(Config, ABadNamespaceIsSaidToComeFromItsLine) {
    write_host_config("url = redis://host\nnamespace = sh{op\n");
    const auto begin_of = [](const std::string& position) { return "pawl: " + position + ": "; };
    const auto of_host = run({"ls"});
    EXPECT_EQ(of_host.code, 78);
    EXPECT_EQ(of_host.err.find(begin_of(host_path() + ", line 2")), 0U) << of_host.err;
    write_user_config("\n\nnamespace = {\n");
    const auto of_user = run({"ls"});
    EXPECT_EQ(of_user.err.find(begin_of(user_path() + ", line 3")), 0U) << of_user.err;
    write_host_config("url = redis://host/two\nnamespace = shop\n");
    write_user_config("");
    const auto of_url = run({"ls"});
    EXPECT_EQ(of_url.err.find(begin_of(host_path() + ", line 1")), 0U) << of_url.err;
}

TEST_F(Config, AFileThatTheEnvironmentNamesMustExist) {
    for (const words& row : std::vector<words>{{"ls"}, {"ls", "--on", sqlite_url("a.db")}})
        expect_refused(run(row, {{"PAWL_CONFIG", "/no/such"}}), 78,
                       "PAWL_CONFIG names '/no/such', which does not exist; create the file, or "
                       "unset PAWL_CONFIG.");
    EXPECT_EQ(run({"ls", "--on", sqlite_url("a.db")}, {{"PAWL_CONFIG", "/dev/null"}}).code, 0);
}

// A source that programs in different folders use must not name a relative path.
TEST_F(Config, ARelativePathIsForTheCommandLineAlone) {
    const auto refused = [&](const outcome& result, int code) {
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_NE(result.err.find("relative path, which names a different file in each folder; use "
                                  "an absolute path"),
                  std::string::npos)
            << result.err;
    };
    write(sandbox_.file("named"), "sqlite:l.db\n");
    refused(run({"ls"}, {{"PAWL_URL", "sqlite:l.db"}}), 64);
    refused(run({"ls", "--url-file", sandbox_.file("named")}), 64);
    refused(run({"ls"}, {{"PAWL_URL_FILE", sandbox_.file("named")}}), 64);
    write_host_config("url_file = " + sandbox_.file("named"));
    refused(run({"ls"}), 78);
}

TEST_F(Config, ARelativePathOnTheCommandLineIsShownAndPassedOnWhole) {
    auto environment = sandbox_.environment();
    for (const auto& [name, value] : environment_without_url())
        environment[name] = value;
    const auto in_folder = [&](const words& arguments) {
        const words there{"env", "-C", sandbox_.file("."), PAWL_COMMAND};
        return started_process(there + arguments, environment).wait();
    };
    EXPECT_EQ(
        in_folder({"run", "--on", "sqlite:l.db?namespace=shop", "x", "--", "printenv", "PAWL_URL"})
            .out,
        sqlite_url("l.db") + "?namespace=shop\n");
    EXPECT_EQ(
        from_json(in_folder({"status", "--json", "--on", "sqlite:l.db", "x"}).out, "it['service']"),
        sqlite_url("l.db"));
}

// A mistyped option is the only error: the service is not selected then.
TEST_F(Config, ErrorsOfTheCommandLineComeBeforeTheMissingUrl) {
    for (const words& row : std::vector<words>{{"run", "--ttl", "1ms", "x", "--", "true"},
                                               {"run", "--max-hold", "5ms", "x", "--", "true"},
                                               {"run", "new\nline", "--", "true"},
                                               {"elect", "--ttl", "25h", "x", "--", "true"},
                                               {"status", ""},
                                               {"release", "--force", "--yes", "x\x7f"},
                                               {"resize", std::string(513, 'n'), "5"},
                                               {"bench", "--name", "tab\t"}}) {
        const auto result = run(row);
        EXPECT_EQ(result.code, 64) << row.back();
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_EQ(result.err.find("No URL is set"), std::string::npos) << result.err;
    }
}

TEST_F(Config, AFileThatOthersCanWriteIsRefused) {
    for (const unsigned rights : {0664U, 0646U, 0666U}) {
        for (const auto& path : {user_path(), host_path()}) {
            write(path, "url = " + sqlite_url("a.db"));
            std::filesystem::permissions(path, std::filesystem::perms(rights));
            expect_refused(run({"ls"}), 78,
                           "'" + path +
                               "' is writable by other users, who could redirect your locks; run: "
                               "chmod go-w " +
                               path);
            std::filesystem::remove(path);
        }
    }
}

TEST_F(Config, APasswordThatEverybodyMayReadIsRefused) {
    support::redis_server server({.config = {"requirepass s3cret"}, .password = "s3cret"});
    const std::string url_with_password =
        "redis://:s3cret@127.0.0.1:" + std::to_string(server.port());
    const std::string advice =
        "' contains a password and is readable by everybody; run: chmod o-r ";
    const std::string rest =
        ", or put the password into a file that the URL names with password_file or passfile.";
    write_host_config("url = " + url_with_password);
    expect_refused(run({"ls"}), 78, "'" + host_path() + advice + host_path() + rest);
    std::filesystem::permissions(host_path(), std::filesystem::perms(0640));
    EXPECT_EQ(used_url(), server.url());
    write(sandbox_.file("secret"), url_with_password);
    write_host_config("url_file = " + sandbox_.file("secret"));
    expect_refused(run({"ls"}), 78,
                   "'" + sandbox_.file("secret") + advice + sandbox_.file("secret") + rest);
    std::filesystem::permissions(sandbox_.file("secret"), std::filesystem::perms(0600));
    EXPECT_EQ(used_url(), server.url());
}

TEST_F(Config, AnAtSignInAnOptionIsNoPassword) {
    support::redis_server server;
    const auto url = server.url("?namespace=a@b");
    write_host_config("url = " + url);
    EXPECT_EQ(used_url(), url);
    write(sandbox_.file("url"), url);
    write_host_config("url_file = " + sandbox_.file("url"));
    EXPECT_EQ(used_url(), url);
}

TEST_F(Config, OnlyARegularFileOfSettingsIsRead) {
    std::filesystem::remove(host_path());
    std::filesystem::create_directory(host_path());
    expect_refused(run({"ls"}), 78,
                   "'" + host_path() + "' is not a regular file; use a regular file.");
    std::filesystem::remove(host_path());
    ASSERT_EQ(::mkfifo(host_path().c_str(), 0600), 0);
    expect_refused(run({"ls"}), 78,
                   "'" + host_path() + "' is not a regular file; use a regular file.");
    std::filesystem::remove(host_path());
    write_host_config("#" + std::string(70'000, 'x'));
    expect_refused(
        run({"ls"}), 78,
        "'" + host_path() + "' is longer than 64 KiB; shorten it, or name another file.");
    std::filesystem::remove(host_path());
    std::filesystem::create_symlink(host_path(), host_path());
    // Also for a command that needs no URL: the file might have a namespace.
    for (const words& command : {words{"ls"}, words{"ls", "--on", sqlite_url("a.db")}})
        expect_refused(run(command), 71,
                       "Cannot open '" + host_path() + "': Too many levels of symbolic links.");
    EXPECT_EQ(run({"ls", "--local"}, {{"PAWL_CONFIG", "/dev/null"}}).code, 0);
}

// Root can drop its capability to open every file; other users do not have it.
words without_overrides(const words& program) {
    if (::geteuid() != 0) return program;
    return words{"setpriv", "--bounding-set", "-dac_override,-dac_read_search"} + program;
}

TEST_F(Config, AFileThatThisUserMayNotReadIsAnErrorWhereItIsNeeded) {
    write_host_config("url = " + sqlite_url("a.db"));
    std::filesystem::permissions(host_path(), std::filesystem::perms(0));
    const auto refused = [&](const words& arguments) {
        auto environment = sandbox_.environment();
        for (const auto& [name, value] : environment_without_url())
            environment[name] = value;
        return started_process(without_overrides(words{PAWL_COMMAND} + arguments), environment)
            .wait();
    };
    const auto sentence = [](const std::string& path) {
        return "Cannot read '" + path +
               "': Permission denied; correct its permissions, or use --on URL.";
    };
    expect_refused(refused({"ls"}), 66, sentence(host_path()));
    EXPECT_EQ(refused({"ls", "--on", sqlite_url("b.db")}).code, 0);
    write_host_config("url = " + sqlite_url("a.db"));
    write_user_config("");
    std::filesystem::permissions(user_path(), std::filesystem::perms(0));
    expect_refused(refused({"ls"}), 66, sentence(user_path()));
    // A closed folder counts as a folder without a configuration file.
    std::filesystem::permissions(sandbox_.file("config/pawl"), std::filesystem::perms(0));
    EXPECT_EQ(refused({"ls"}).code, 0);
    std::filesystem::permissions(sandbox_.file("config/pawl"), std::filesystem::perms(0700));
}

// Root with another user's HOME, or any user with a file that a third user wrote.
TEST_F(Config, AFileOfAnotherUserIsRefused) {
    auto environment = sandbox_.environment();
    for (const auto& [name, value] : environment_without_url())
        environment[name] = value;
    words program{PAWL_COMMAND, "ls"};
    std::string path = user_path();
    if (::geteuid() == 0) {
        write_user_config("url = " + sqlite_url("a.db"));
        ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    } else {
        // In a new user namespace, files of the real root belong to an unknown user.
        path = "/etc/passwd";
        environment["PAWL_CONFIG"] = path;
        program = words{"unshare", "--user", "--map-root-user"} + program;
    }
    expect_refused(started_process(program, environment).wait(), 78,
                   "'" + path +
                       "' belongs to uid 65534, and pawl runs as uid 0; use the HOME of the user "
                       "that runs pawl (sudo -H), or change the owner of the file.");
}

TEST(ConfigPaths, OfAUserWithoutHomeComeFromTheUserDatabase) {
    const char* before = std::getenv("HOME");
    const std::string old_home = before == nullptr ? "" : before;
    for (const char* home : {"", "relative"}) {
        ::setenv("HOME", home, 1);
        EXPECT_EQ(pawl::cli::home_folder(), ::getpwuid(::geteuid())->pw_dir) << home;
    }
    ::setenv("HOME", "/somewhere", 1);
    EXPECT_EQ(pawl::cli::home_folder(), "/somewhere");
    ::setenv("HOME", old_home.c_str(), 1);
}

// The same command line in both orders.
TEST_F(Config, OptionsOfAllVerbsMayStandBeforeTheVerb) {
    EXPECT_EQ(run({"--on", sqlite_url("a.db"), "run", "x", "--", "printenv", "PAWL_URL"}).out,
              sqlite_url("a.db") + "\n");
    EXPECT_EQ(run({"--on=" + sqlite_url("a.db"), "run", "run", "--", "printenv", "PAWL_URL"}).out,
              sqlite_url("a.db") + "\n");
    write(sandbox_.file("named"), sqlite_url("named.db"));
    EXPECT_EQ(
        run({"--url-file", sandbox_.file("named"), "elect", "x", "--", "printenv", "PAWL_URL"}).out,
        sqlite_url("named.db") + "\n");
    EXPECT_EQ(run({"--local", "ls"}).err, "");
    EXPECT_EQ(run({"--local", "status", "run"}).code, 1) << "a lock with the name of a verb";
    expect_refused(run({"--on", sqlite_url("a.db"), "ls", "--on", sqlite_url("a.db")}), 64,
                   "--on is given twice; give it once.");
    expect_refused(
        run({"--wait", "5s", "run", "x", "--", "echo", "--wait"}), 64,
        "The option '--wait' must come after the verb, as in: pawl run --wait; see `pawl "
        "run --help`.");
    expect_refused(run({"--json", "ls", "--on", sqlite_url("a.db")}), 64,
                   "The option '--json' must come after the verb, as in: pawl ls --json; see `pawl "
                   "ls --help`.");
    EXPECT_NE(run({"--help"}).out.find("--on"), std::string::npos);
}

}  // namespace
