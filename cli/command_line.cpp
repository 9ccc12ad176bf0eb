#include "command_line.hpp"

#include "arguments.hpp"
#include "failure.hpp"

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

// COMMAND is nobody's to interpret: everything behind the first -- of `run` and `elect` is set
// aside.
std::vector<std::string> split(int argc, char** argv, arguments& into) {
    std::vector<std::string> own(argv + 1, argv + argc);
    if (own.empty() || !runs_commands(own.front())) return own;
    const auto mark = std::find(own.begin(), own.end(), "--");
    if (mark == own.end()) return own;
    into.command.assign(mark + 1, own.end());
    own.erase(mark, own.end());
    return own;
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
    app.set_version_flag("--version", std::string("pawl ") + PAWL_VERSION);
    app.require_subcommand(1);
    app.get_formatter()->column_width(26);
    add_runners(app, from, chosen);
    add_views(app, from, chosen);
    add_tools(app, from, chosen);

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
    const int status = chosen();
    if (!std::cout.flush()) throw failure(exit_code::system, "The output could not be written.");
    return status;
}

}  // namespace

int run_command(int argc, char** argv) noexcept {
    try {
        open_standard_descriptors();
        return parse_and_run(argc, argv);
    } catch (...) {
        return report_current();
    }
}

}  // namespace pawl::cli
