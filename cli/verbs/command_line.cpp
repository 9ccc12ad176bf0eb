// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command_line.hpp"

#include "../config/url_passwords.hpp"
#include "../ui/failure.hpp"
#include "../ui/messages.hpp"
#include "arguments.hpp"
#include "suggestions.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

namespace pawl::cli {

namespace {

bool runs_commands(std::string_view verb) { return verb == "run" || verb == "elect"; }

// CLI11 does not see what follows the `--`.
class help_formatter : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App* app, std::string name) const override {
        auto usage = CLI::Formatter::make_usage(app, std::move(name));
        if (runs_commands(app->get_name()))
            usage.insert(usage.find_last_not_of('\n') + 1, " -- COMMAND [ARGUMENT...]");
        return usage;
    }
};

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

bool is_given_twice(const std::vector<CLI::App*>& verbs, const std::string& name) {
    if (verbs.empty()) return false;
    const CLI::Option* option = verbs.front()->get_option_no_throw(name);
    return option != nullptr && option->count() > 1;
}

std::string option_name_in(const std::string& word) { return word.substr(0, word.find('=')); }

// For "--wait 0": whether the verb has --wait. True for advice without an option.
bool has_option(const CLI::App& verb, const std::string& meant) {
    return !meant.starts_with("--") ||
           verb.get_option_no_throw(meant.substr(0, meant.find(' '))) != nullptr;
}

// What the user may have meant by an unknown option or verb; empty if nothing is similar.
std::string meaning_of(const CLI::App& app, const CLI::App* verb, const std::string& word) {
    const auto name = option_name_in(word);
    std::vector<std::string> names;
    if (verb == nullptr && (name == "-v" || name == "-V")) return "--version";
    if (!name.starts_with('-')) {
        for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
            names.push_back(each->get_name());
        return verb == nullptr ? verb_meant_by(name, names) : std::string();
    }
    if (verb != nullptr && runs_commands(verb->get_name()))
        if (auto meant = option_meant_by(name); !meant.empty() && has_option(*verb, meant))
            return meant;
    for (const CLI::App* each : {verb, &app})
        for (const CLI::Option* option :
             each == nullptr ? std::vector<const CLI::Option*>() : each->get_options())
            for (const auto& long_name : option->get_lnames())
                names.push_back("--" + long_name);
    // The command has options that not every verb takes.
    auto meant = closest_to(name, names);
    return meant == name ? std::string() : meant;
}

// Whether an option of the verb stands before the verb, as in `pawl --wait 10s run …`.
bool is_misplaced(const std::vector<CLI::App*>& verbs, const std::string& word) {
    if (verbs.empty()) return false;
    const auto name = option_name_in(word);
    return name != "--" && verbs.front()->get_option_no_throw(name) != nullptr;
}

// The first verb with this option, for an option that stands alone; empty if there is none.
std::string verb_with(const CLI::App& app, const std::string& option) {
    const auto verbs = app.get_subcommands(
        [&](const CLI::App* verb) { return verb->get_option_no_throw(option) != nullptr; });
    return option == "--" || verbs.empty() ? std::string() : verbs.front()->get_name();
}

std::string misplaced_option_sentence(const std::string& option, const std::string& verb,
                                      const std::string& help) {
    return "The option " + in_quotes(option) + " must come after the verb, as in: pawl " + verb +
           " " + option + "; see " + help + ".";
}

// For a word before the `--` of `run` and `elect` that is neither the name nor an option.
std::string superfluous_word_sentence(const std::string& verb, const std::string& word,
                                      bool has_command) {
    if (!has_command)
        return "The command must come after --, as in: pawl " + verb + " NAME -- COMMAND.";
    return in_quotes(word) + " is one argument too many; " +
           (verb == "run" ? "for a second lock write --also " + word : "name one lock") + ".";
}

std::string missing_sentence(const CLI::App& verb, const std::string& argument,
                             const std::string& help) {
    const auto& name = verb.get_name();
    if (argument != "NAME") return argument + " is missing; see " + help + ".";
    const auto* const arguments = runs_commands(name) ? " NAME -- COMMAND."
                                  : name == "resize"  ? " NAME N."
                                  : name == "release" ? " NAME --force."
                                                      : " NAME.";
    return std::string(name == "resize" ? "The semaphore's" : "The lock's") +
           " name is missing, as in: pawl " + name + arguments;
}

// Turns CLI11's messages into sentences for users. `has_command`: the line has a `--`.
std::string sentence_for(const CLI::App& app, const CLI::ParseError& problem, bool has_command) {
    const auto verbs = app.get_subcommands();
    const std::string help =
        verbs.empty() ? "`pawl --help`" : "`pawl " + verbs.front()->get_name() + " --help`";
    const std::string text = problem.what();
    const auto unparsed = app.remaining(true);
    const bool required = dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr;
    if (!unparsed.empty() && (!required || verbs.empty())) {
        const bool option = unparsed.front().starts_with('-');
        const auto name = option_name_in(unparsed.front());
        if (!option && !verbs.empty() && runs_commands(verbs.front()->get_name()))
            return superfluous_word_sentence(verbs.front()->get_name(),
                                             hide_password(unparsed.front()), has_command);
        if (option && is_misplaced(verbs, unparsed.front()))
            return misplaced_option_sentence(name, verbs.front()->get_name(), help);
        if (const auto verb = option && verbs.empty() ? verb_with(app, name) : std::string();
            !verb.empty() && name.starts_with("--"))
            return misplaced_option_sentence(name, verb, help);
        const std::string kind = option ? "option " : verbs.empty() ? "verb " : "argument ";
        const CLI::App* verb = verbs.empty() ? nullptr : verbs.front();
        if (const auto meant = meaning_of(app, verb, unparsed.front()); !meant.empty())
            return "There is no " + kind + in_quotes(name) +
                   (meant.starts_with("--") || !option ? "; did you mean " + meant + "?"
                                                       : "; " + meant + ".");
        return "There is no " + kind + in_quotes(hide_password(unparsed.front())) + "; see " +
               help + ".";
    }
    if (required) {
        if (verbs.empty()) {
            return "A verb is missing, as in: pawl run NAME -- COMMAND; see " + help + ".";
        }
        return missing_sentence(*verbs.front(), text.substr(0, text.find(' ')), help);
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr) {
        const auto name = text.substr(0, text.find_first_of(" :"));
        if (is_given_twice(verbs, name)) return name + " is given twice; give it once.";
        return name + " needs a value; see " + help + ".";
    }
    return text + "; see " + help + ".";
}

// The verb: the first word that is neither an option nor the value of an option. Only the verb
// knows whether an option has a value. So a word after an unknown option is the verb only if it
// runs commands.
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

// Returns the words that CLI11 parses. COMMAND, everything after the first -- of `run` and `elect`,
// goes to `args.command`.
std::vector<std::string> split(int argc, char** argv, arguments& args) {
    std::vector<std::string> own(argv + 1, argv + argc);
    // `pawl help run` is the same as `pawl run --help`.
    if (!own.empty() && own.size() <= 2 && own.front() == "help") {
        own.erase(own.begin());
        own.emplace_back("--help");
    }
    if (!runs_commands(verb_of(own))) return own;
    const auto mark = std::find(own.begin(), own.end(), "--");
    if (mark == own.end()) return own;
    args.command.assign(mark + 1, own.end());
    own.erase(mark, own.end());
    return own;
}

// CLI11 counts the options before and after the verb separately.
void refuse_if_given_twice(const CLI::App& app) {
    for (const CLI::App* verb : app.get_subcommands()) {
        for (const char* name : {"--on", "--url-file"}) {
            const CLI::Option* option = verb->get_option_no_throw(name);
            if (option != nullptr && option->count() > 0 && app.get_option(name)->count() > 0)
                throw failure(exit_code::usage,
                              std::string(name) + " is given twice; give it once.");
        }
    }
}

// Opens /dev/null for missing descriptors, so that 0, 1 and 2 never become a socket.
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
    arguments args;
    action selected_action;
    CLI::App app("Distributed locks with fencing tokens that only grow.", "pawl");
    const std::string version = "pawl " PAWL_VERSION "\nbackends: " PAWL_BACKENDS;
    app.set_version_flag("--version", version);
    app.require_subcommand(1);
    app.formatter(std::make_shared<help_formatter>());
    app.get_formatter()->column_width(26);
    app.get_formatter()->label("SUBCOMMAND", "VERB");
    app.footer(
        "Environment: PAWL_URL and PAWL_URL_FILE name the service; a command that pawl runs finds "
        "its lock in PAWL_NAME, PAWL_TOKEN and PAWL_SAFE_UNTIL.\n"
        "TIME: 500ms, 30s, 2min, 1h30m.\n"
        "Exit statuses: see `man pawl`.");
    add_location_options(app, args);
    add_runners(app, args, selected_action);
    add_views(app, args, selected_action);
    add_tools(app, args, selected_action);
    for (CLI::App* verb : app.get_subcommands({})) {
        verb->group("Verbs");
        verb->set_version_flag("--version", version)->group("");  // not in the help of the verb
    }

    auto words = split(argc, argv, args);
    hide_passwords(argc, argv);
    std::reverse(words.begin(), words.end());  // the order that CLI11 expects
    try {
        app.parse(std::move(words));
    } catch (const CLI::Success& success) {
        return app.exit(success, std::cout, std::cerr);
    } catch (const CLI::ParseError& problem) {
        throw failure(exit_code::usage, sentence_for(app, problem, !args.command.empty()));
    }
    refuse_if_given_twice(app);
    const int status = selected_action();
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
