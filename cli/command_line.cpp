#include "command_line.hpp"

#include "arguments.hpp"
#include "failure.hpp"
#include "messages.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <iostream>
#include <string_view>

namespace pawl::cli {

namespace {

bool runs_commands(std::string_view verb) { return verb == "run" || verb == "elect"; }

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

bool is_twice(const std::vector<CLI::App*>& verbs, const std::string& name) {
    if (verbs.empty()) return false;
    const CLI::Option* option = verbs.front()->get_option_no_throw(name);
    return option != nullptr && option->count() > 1;
}

std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

// What flock(1) and others call the time to wait; empty where the word is none of these.
std::string option_of_flock(const std::string& word) {
    const auto name = name_in(word);
    for (const char* at_once : {"-n", "--nonblock", "--nonblocking", "--nb", "--no-wait"})
        if (name == at_once) return "--wait 0";
    for (const char* limit : {"-w", "-t", "--timeout", "--wait-time"})
        if (name == limit) return "--wait TIME";
    return {};
}

// Options of a verb that stand before it, as in `pawl --wait 10s run …`.
bool is_misplaced(const std::vector<CLI::App*>& verbs, const std::string& word) {
    if (verbs.empty()) return false;
    const auto name = name_in(word);
    return name != "--" && verbs.front()->get_option_no_throw(name) != nullptr;
}

// CLI11's words for programmers become a sentence for people.
std::string sentence_for(const CLI::App& app, const CLI::ParseError& problem) {
    const auto verbs = app.get_subcommands();
    const std::string help =
        verbs.empty() ? "`pawl --help`" : "`pawl " + verbs.front()->get_name() + " --help`";
    const std::string what = problem.what();
    const auto rest = app.remaining(true);
    const bool required = dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr;
    if (!rest.empty() && (!required || verbs.empty())) {
        const bool option = rest.front().starts_with('-');
        if (!option && !verbs.empty() && runs_commands(verbs.front()->get_name())) {
            return "The command to run stands behind --, as in: pawl " + verbs.front()->get_name() +
                   " NAME -- COMMAND.";
        }
        if (option && is_misplaced(verbs, rest.front())) {
            const auto name = name_in(rest.front());
            const auto verb = verbs.front()->get_name();
            return "The option " + in_quotes(name) + " stands behind the verb, as in: pawl " +
                   verb + " " + name + "; see " + help + ".";
        }
        if (option && !verbs.empty() && runs_commands(verbs.front()->get_name())) {
            if (const auto meant = option_of_flock(rest.front()); !meant.empty())
                return "There is no option " + in_quotes(name_in(rest.front())) +
                       " here; did you mean " + meant + "?";
        }
        const std::string kind = option ? "option " : verbs.empty() ? "command " : "argument ";
        return "There is no " + kind + in_quotes(without_password(rest.front())) + " here; see " +
               help + ".";
    }
    if (required) {
        if (verbs.empty()) {
            return "Say what to do, as in: pawl run NAME -- COMMAND; see " + help + ".";
        }
        return what.substr(0, what.find(' ')) + " is missing; see " + help + ".";
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr) {
        const auto name = what.substr(0, what.find_first_of(" :"));
        if (is_twice(verbs, name)) return name + " is given twice; give it once.";
        return name + " needs a value; see " + help + ".";
    }
    return what + "; see " + help + ".";
}

// The verb: the first word that is neither an option nor the value of one. An option that only a
// verb knows may have a value, so a word behind it is the verb only when it runs commands.
std::string verb_of(const std::vector<std::string>& words) {
    bool behind_an_option = false;
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        if (words[i] == "--on" || words[i] == "--url-file") {
            ++i;
        } else if (words[i].starts_with('-')) {
            behind_an_option = words[i] != "--local" && words[i].find('=') == std::string::npos;
        } else if (!behind_an_option || runs_commands(words[i])) {
            return words[i];
        } else {
            behind_an_option = false;
        }
    }
    return {};
}

// COMMAND is nobody's to interpret: everything behind the first -- of `run` and `elect` is set
// aside.
std::vector<std::string> split(int argc, char** argv, arguments& into) {
    std::vector<std::string> own(argv + 1, argv + argc);
    // `pawl help run`, as other commands have it.
    if (!own.empty() && own.size() <= 2 && own.front() == "help") {
        own.erase(own.begin());
        own.emplace_back("--help");
    }
    if (!runs_commands(verb_of(own))) return own;
    const auto mark = std::find(own.begin(), own.end(), "--");
    if (mark == own.end()) return own;
    into.command.assign(mark + 1, own.end());
    own.erase(mark, own.end());
    return own;
}

// Before the verb and behind it, CLI11 counts separately.
void refuse_twice(const CLI::App& app) {
    for (const CLI::App* verb : app.get_subcommands()) {
        for (const char* name : {"--on", "--url-file"}) {
            const CLI::Option* option = verb->get_option_no_throw(name);
            if (option != nullptr && option->count() > 0 && app.get_option(name)->count() > 0)
                throw failure(exit_code::usage,
                              std::string(name) + " is given twice; give it once.");
        }
    }
}

// The descriptors 0, 1 and 2 are the terminal's or nobody's, never a socket's.
void open_standard_descriptors() {
    while (true) {
        const int number = ::open("/dev/null", O_RDWR);
        if (number < 0) return;
        if (number > STDERR_FILENO) {
            ::close(number);
            return;
        }
    }
}

int parse_and_run(int argc, char** argv) {
    arguments from;
    action chosen;
    CLI::App app("Distributed locks whose fencing tokens only go forward.", "pawl");
    const std::string version = std::string("pawl ") + PAWL_VERSION;
    app.set_version_flag("--version", version);
    app.require_subcommand(1);
    app.get_formatter()->column_width(26);
    add_place(app, from);
    add_runners(app, from, chosen);
    add_views(app, from, chosen);
    add_tools(app, from, chosen);
    for (CLI::App* verb : app.get_subcommands({}))
        verb->set_version_flag("--version", version)->group("");  // not in its help

    auto words = split(argc, argv, from);
    hide_passwords(argc, argv);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
        app.parse(std::move(words));
    } catch (const CLI::Success& asked) {
        return app.exit(asked, std::cout, std::cerr);
    } catch (const CLI::ParseError& problem) {
        throw failure(exit_code::usage, sentence_for(app, problem));
    }
    refuse_twice(app);
    const int status = chosen();
    if (!std::cout.flush()) throw failure(exit_code::system, "The output could not be written.");
    return status;
}

}  // namespace

int run_command(int argc, char** argv) noexcept {
    int status = 0;
    try {
        open_standard_descriptors();
        status = parse_and_run(argc, argv);
    } catch (...) {
        status = report_current();
    }
    say_rest();
    return status;
}

}  // namespace pawl::cli
