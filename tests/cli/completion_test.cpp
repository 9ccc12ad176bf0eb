// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Completion in real shells, on a terminal. Any user who may take a lock chooses its name, and one
// key puts the name on an administrator's command line. The name must arrive unchanged, and the
// shell must not run any part of it.
#include "terminal_process.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace {

using namespace cli_test;

// Each begins with a different character, which the test types.
const std::vector<std::string> hostile{
    "a$(touch RUN)", "b`touch RUN`", "c two  blanks", "d'single'", "e\"double\"", "f*",
    "g[a-z]?",       "h;touch RUN",  "i\\back\\n",    "j~/ü→",     "k:l=m@n",     "n!history!!",
    "o&touch RUN&",  "p|touch RUN",  "q>RUN",         "r#comment", "s{x,y}",      "t%d$HOME",
    "u<(touch RUN)", "v${RUN:=x}",   "w(touch RUN)",  "x\\",       "y$'\\n'",     "z - --force"};

struct shell {
    const char* name;
    words command;
    const char* start;  // commands that prepare the shell
};

void PrintTo(const shell& value, std::ostream* out) { *out << value.name; }

class Completion : public ::testing::TestWithParam<shell> {
protected:
    void SetUp() override {
        words all{"run", "0"};
        for (const auto& name : hostile)
            all = all + words{"--also", name};
        holder_ = sandbox_.start(all + words{"--", "sleep", "600"});
        ASSERT_TRUE(sandbox_.eventually_held("0")) << holder_->err();
        // Completes as pawl does, and records the arguments of every other call.
        std::filesystem::create_directory(sandbox_.file("bin"));
        std::ofstream(sandbox_.file("bin/pawl")) << "#!/bin/sh\ncase $1 in ls) exec " PAWL_COMMAND
                                                    " \"$@\";; esac\n"
                                                    "shift; printf '%s' \"$*\" >" +
                                                        arguments_file_ + ".new; mv " +
                                                        arguments_file_ + ".new " +
                                                        arguments_file_ + "\n";
        std::filesystem::permissions(sandbox_.file("bin/pawl"), std::filesystem::perms(0755));
        std::ofstream(script_) << sandbox_.run({"completion", GetParam().name}).out;
    }

    // The arguments that pawl got after `line` was typed.
    std::string completed_arguments(terminal_process& shell, const std::string& line) {
        std::filesystem::remove(arguments_file_);
        shell.type(line);
        EXPECT_TRUE(support::eventually([&] { return std::filesystem::exists(arguments_file_); }))
            << line << " gives\n"
            << shell.all_output();
        return read_file(arguments_file_);
    }

    test_sandbox sandbox_;
    std::string arguments_file_ = sandbox_.file("asked");
    std::string script_ = sandbox_.file("script");
    std::unique_ptr<started_process> holder_;
};

TEST_P(Completion, OffersHostileNamesAsTheyAre) {
    variables more{{"PATH", sandbox_.file("bin") + ":" + sandbox_.environment().at("PATH")},
                   {"COMPLETION", script_},
                   {"ZDOTDIR", sandbox_.file(".")},
                   {"XDG_CONFIG_HOME", sandbox_.file("config")},
                   {"XDG_DATA_HOME", sandbox_.file("data")}};
    terminal_process shell(sandbox_, words{"env", "-C", sandbox_.file(".")} + GetParam().command,
                           more);
    shell.type(std::string(GetParam().start) + "echo rea''dy\n");
    ASSERT_TRUE(shell.eventually_shows("ready")) << shell.all_output();
    // The scripts give up listing the names after 2 s, which a busy machine may need.
    const auto is_completed = [&](const std::string& line, const std::string& arguments) {
        return support::eventually([&] { return completed_arguments(shell, line) == arguments; });
    };
    for (const auto& name : hostile) {
        EXPECT_TRUE(is_completed("pawl status " + name.substr(0, 1) + "\t\n", name)) << name;
        EXPECT_FALSE(std::filesystem::exists(sandbox_.file("RUN"))) << name;
    }
    EXPECT_TRUE(is_completed("pawl status k:l\t\n", "k:l=m@n"));
    EXPECT_TRUE(is_completed("pawl run 0 --also a\t\n", "0 --also a$(touch RUN)"));
    EXPECT_EQ(completed_arguments(shell, "pawl redlock re\t\n"), "rejoin");
    // Without a typed character, all names are offered and none is run.
    shell.type("pawl status \t\t");
    EXPECT_TRUE(shell.eventually_shows("blanks")) << shell.all_output();
    EXPECT_FALSE(std::filesystem::exists(sandbox_.file("RUN")));
}

INSTANTIATE_TEST_SUITE_P(
    Shells, Completion,
    ::testing::Values(
        shell{"bash",
              {"bash", "--norc", "--noprofile", "-i"},
              "bind 'set enable-bracketed-paste off'; bind 'set page-completions off'; "
              "bind 'set completion-query-items 0'; source \"$COMPLETION\"; "},
        shell{"zsh",
              {"zsh", "-f", "-i"},
              "autoload -U compinit; compinit -u -D; unsetopt zle_bracketed_paste; "
              "LISTMAX=1000; source \"$COMPLETION\"; "},
        shell{"fish", {"fish", "--no-config", "-i"}, "source \"$COMPLETION\"; "}),
    [](const ::testing::TestParamInfo<shell>& each) { return std::string(each.param.name); });

}  // namespace
