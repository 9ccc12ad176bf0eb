// Completion in the real shells, on a terminal. Whoever may take a lock chooses its name, and the
// name is on the command line of an administrator after one key. It must arrive as it is, and no
// part of it may be run, neither at the key nor when the line is.
#include "on_terminal.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace {

using namespace cli_test;

// Each begins with a letter of its own, which is what will be typed.
const std::vector<std::string> hostile{
    "a$(touch RUN)", "b`touch RUN`", "c two  blanks", "d'single'", "e\"double\"", "f*",
    "g[a-z]?",       "h;touch RUN",  "i\\back\\n",    "j~/ü→",     "k:l=m@n",     "n!history!!",
    "o&touch RUN&",  "p|touch RUN",  "q>RUN",         "r#comment", "s{x,y}",      "t%d$HOME",
    "u<(touch RUN)", "v${RUN:=x}",   "w(touch RUN)",  "x\\",       "y$'\\n'",     "z - --force"};

struct shell {
    const char* name;
    words command;
    const char* start;  // lines that make it ready
};

void PrintTo(const shell& value, std::ostream* out) { *out << value.name; }

class Completion : public ::testing::TestWithParam<shell> {
protected:
    void SetUp() override {
        words all{"run", "0"};
        for (const auto& name : hostile)
            all = all + words{"--also", name};
        holder_ = home_.start(all + words{"--", "sleep", "600"});
        ASSERT_TRUE(home_.soon_held("0")) << holder_->err();
        // Answers completion as pawl does, and writes down what else it is asked.
        std::filesystem::create_directory(home_.file("bin"));
        std::ofstream(home_.file("bin/pawl")) << "#!/bin/sh\ncase $1 in ls) exec " PAWL_COMMAND
                                                 " \"$@\";; esac\n"
                                                 "shift; printf '%s' \"$*\" >" +
                                                     asked_ + ".new; mv " + asked_ + ".new " +
                                                     asked_ + "\n";
        std::filesystem::permissions(home_.file("bin/pawl"), std::filesystem::perms(0755));
        std::ofstream(script_) << home_.run({"completion", GetParam().name}).out;
    }

    // What pawl was asked for after `line` was typed.
    std::string typed(on_terminal& shell, const std::string& line) {
        std::filesystem::remove(asked_);
        shell.type(line);
        EXPECT_TRUE(support::eventually([&] { return std::filesystem::exists(asked_); }))
            << line << " gives\n"
            << shell.all();
        return read_file(asked_);
    }

    world home_;
    std::string asked_ = home_.file("asked");
    std::string script_ = home_.file("script");
    std::unique_ptr<started> holder_;
};

TEST_P(Completion, OffersHostileNamesAsTheyAre) {
    variables more{{"PATH", home_.file("bin") + ":" + home_.environment().at("PATH")},
                   {"COMPLETION", script_},
                   {"ZDOTDIR", home_.file(".")},
                   {"XDG_CONFIG_HOME", home_.file("config")},
                   {"XDG_DATA_HOME", home_.file("data")}};
    on_terminal shell(home_, words{"env", "-C", home_.file(".")} + GetParam().command, more);
    shell.type(std::string(GetParam().start) + "echo rea''dy\n");
    ASSERT_TRUE(shell.shows("ready")) << shell.all();
    for (const auto& name : hostile) {
        EXPECT_EQ(typed(shell, "pawl status " + name.substr(0, 1) + "\t\n"), name);
        EXPECT_FALSE(std::filesystem::exists(home_.file("RUN"))) << name;
    }
    EXPECT_EQ(typed(shell, "pawl status k:l\t\n"), "k:l=m@n");
    EXPECT_EQ(typed(shell, "pawl run 0 --also a\t\n"), "0 --also a$(touch RUN)");
    // Nothing typed: all of them, and nothing is run.
    shell.type("pawl status \t\t");
    EXPECT_TRUE(shell.shows("blanks")) << shell.all();
    EXPECT_FALSE(std::filesystem::exists(home_.file("RUN")));
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
