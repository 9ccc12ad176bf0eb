#include "command_line.hpp"

#include "duration.hpp"
#include "failure.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <functional>
#include <iostream>
#include <string_view>
#include <vector>

namespace pawl::cli {

namespace {

// What the verbs' options are read into; durations stay text until the verb is known.
struct parsed {
    place_options on = places_of_environment();
    std::string name;
    std::string prefix;
    std::string shell;
    std::string ttl = "30s";
    std::string wait = "forever";
    std::string max_hold = "forever";
    std::string min_hold = "0";
    std::string on_loss = "kill";
    std::string interval = "1s";
    std::string lasting = "3s";
    std::string label;
    bool verbose = false;
    bool json = false;
    bool names_only = false;
    bool force = false;
    bool yes = false;
    std::vector<std::string> command;  // behind --
    bool has_command = false;
};

using action = std::function<int()>;

void add_place(CLI::App& verb, parsed& into) {
    verb.add_option("--on", into.on.on,
                    "Where the locks live; else $PAWL_URL, else a file of this user")
        ->type_name("URL");
    verb.add_option("--url-file", into.on.url_file, "Read the URL from a file ($PAWL_URL_FILE)")
        ->type_name("FILE");
}

void add_json(CLI::App& verb, parsed& into) { verb.add_flag("--json", into.json, "Print JSON"); }

void add_name(CLI::App& verb, parsed& into) {
    verb.add_option("NAME", into.name, "The lock")->required()->type_name("");
}

run_options to_run(const parsed& from) {
    run_options to{.on = from.on, .name = from.name, .command = from.command, .label = from.label};
    to.ttl = finite_option("--ttl", from.ttl);
    to.wait = duration_option("--wait", from.wait);
    to.max_hold = duration_option("--max-hold", from.max_hold);
    to.min_hold = duration_option("--min-hold", from.min_hold);
    to.verbose = from.verbose;
    if (from.on_loss == "kill")
        to.on_loss = loss_policy::kill;
    else if (from.on_loss == "term")
        to.on_loss = loss_policy::term;
    else if (from.on_loss == "continue")
        to.on_loss = loss_policy::resume;
    else
        throw failure(
            exit_code::usage,
            "'" + from.on_loss + "' is nothing for --on-loss; use kill, term or continue.");
    return to;
}

void add_run(CLI::App& app, parsed& from, action& chosen) {
    CLI::App* verb =
        app.add_subcommand("run", "Run a command while holding a lock: pawl run NAME -- COMMAND");
    add_name(*verb, from);
    add_place(*verb, from);
    verb->add_option("--ttl", from.ttl,
                     "The lease: if this host dies, the lock is free after it (30s)")
        ->type_name("TIME");
    verb->add_option("--wait", from.wait,
                     "How long to wait for the lock: 10s, 0, forever (forever)")
        ->type_name("TIME");
    verb->add_option("--max-hold", from.max_hold, "Stop the command after this long (forever)")
        ->type_name("TIME");
    verb->add_option("--min-hold", from.min_hold, "Keep the lock at least this long (0)")
        ->type_name("TIME");
    verb->add_option("--on-loss", from.on_loss,
                     "What the command gets when the lock is lost: kill, term or continue (kill)")
        ->type_name("WHAT");
    verb->add_option("--label", from.label, "What others see as the command (its name)")
        ->type_name("TEXT");
    verb->add_flag("-v,--verbose", from.verbose, "Tell of reconnects and retries");
    verb->footer(
        "The command's environment has PAWL_NAME, PAWL_TOKEN and PAWL_SAFE_UNTIL.\n"
        "Exit: the command's own status; 75 not ours in time; 70 lost; 69 service not reachable;\n"
        "77 refused; 64 usage; 126 and 127 the command cannot be run.");
    verb->callback([&] { chosen = [&] { return run(to_run(from)); }; });
}

void add_elect(CLI::App& app, parsed& from, action& chosen) {
    CLI::App* verb =
        app.add_subcommand("elect", "Keep exactly one of many running: pawl elect NAME -- COMMAND");
    add_name(*verb, from);
    add_place(*verb, from);
    verb->add_option("--ttl", from.ttl,
                     "The lease: if this host dies, another takes over after it (30s)")
        ->type_name("TIME");
    verb->add_option("--wait", from.wait,
                     "How long to stand for election: 10s, 0, forever (forever)")
        ->type_name("TIME");
    verb->add_option("--max-hold", from.max_hold, "The longest term (forever)")->type_name("TIME");
    verb->add_option("--label", from.label, "What others see as the command (its name)")
        ->type_name("TEXT");
    verb->add_flag("-v,--verbose", from.verbose, "Tell of reconnects and retries");
    verb->footer(
        "After a loss the command is stopped and this one stands for election again.\n"
        "The command's environment has PAWL_NAME, PAWL_TOKEN (the term) and PAWL_SAFE_UNTIL.\n"
        "Exit: the command's own status; else as `pawl run`.");
    verb->callback([&] { chosen = [&] { return elect(to_run(from)); }; });
}

void add_status(CLI::App& app, parsed& from, action& chosen) {
    CLI::App* verb = app.add_subcommand("status", "Show who holds a lock; exit 0 held, 1 free");
    add_name(*verb, from);
    add_place(*verb, from);
    add_json(*verb, from);
    verb->callback([&] {
        chosen = [&] { return status({.on = from.on, .name = from.name, .json = from.json}); };
    });
}

void add_list(CLI::App& app, parsed& from, action& chosen) {
    CLI::App* verb = app.add_subcommand("ls", "List the locks that are held or waited for");
    verb->add_option("PREFIX", from.prefix, "Only names that begin so")->type_name("");
    verb->add_flag("--names", from.names_only, "Only the names, one per line");
    add_place(*verb, from);
    add_json(*verb, from);
    verb->callback([&] {
        chosen = [&] {
            return list({.on = from.on,
                         .prefix = from.prefix,
                         .json = from.json,
                         .names_only = from.names_only});
        };
    });
}

void add_watch(CLI::App& app, parsed& from, action& chosen) {
    CLI::App* verb = app.add_subcommand("watch", "Show the locks live");
    verb->add_option("PREFIX", from.prefix, "Only names that begin so")->type_name("");
    verb->add_option("--interval", from.interval, "How often to look (1s)")->type_name("TIME");
    add_place(*verb, from);
    add_json(*verb, from);
    verb->callback([&] {
        chosen = [&] {
            return watch({.on = from.on,
                          .prefix = from.prefix,
                          .interval = finite_option("--interval", from.interval),
                          .json = from.json});
        };
    });
}

void add_release(CLI::App& app, parsed& from, action& chosen) {
    CLI::App* verb = app.add_subcommand("release", "Take a lock from its holder, who is told");
    add_name(*verb, from);
    verb->add_flag("--force", from.force, "Needed, because the holder may be at work");
    verb->add_flag("-y,--yes", from.yes, "Do not ask");
    add_place(*verb, from);
    add_json(*verb, from);
    verb->callback([&] {
        chosen = [&] {
            if (!from.force) {
                throw failure(exit_code::usage,
                              "The lock is its holder's to release; say --force to take it away.");
            }
            return release({.on = from.on, .name = from.name, .yes = from.yes, .json = from.json});
        };
    });
}

void add_tools(CLI::App& app, parsed& from, action& chosen) {
    CLI::App* verb =
        app.add_subcommand("doctor", "Examine the service: what it is worth, and what to change");
    add_place(*verb, from);
    add_json(*verb, from);
    verb->callback([&] { chosen = [&] { return doctor({.on = from.on, .json = from.json}); }; });

    verb = app.add_subcommand("bench", "Measure the service from here");
    verb->add_option("--for", from.lasting, "How long each of the two measurements takes (3s)")
        ->type_name("TIME");
    verb->add_option("--name", from.name, "The lock to use (one of its own)")->type_name("NAME");
    add_place(*verb, from);
    add_json(*verb, from);
    verb->callback([&] {
        chosen = [&] {
            const std::string own = "pawl-bench/" + std::to_string(::getpid());
            return bench({.on = from.on,
                          .name = from.name.empty() ? own : from.name,
                          .lasting = finite_option("--for", from.lasting),
                          .json = from.json});
        };
    });

    verb = app.add_subcommand("completion", "Print the completion script of a shell");
    verb->add_option("SHELL", from.shell, "bash, zsh or fish")->required()->type_name("");
    verb->callback([&] { chosen = [&] { return completion(from.shell); }; });
}

bool runs_commands(std::string_view verb) { return verb == "run" || verb == "elect"; }

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

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
        return what.substr(0, what.find_first_of(" :")) + " needs a value; see " + help + ".";
    }
    return what + "; see " + help + ".";
}

// COMMAND is nobody's to interpret: everything behind the first -- of `run` and `elect` is set
// aside.
std::vector<std::string> split(int argc, char** argv, parsed& into) {
    std::vector<std::string> own(argv + 1, argv + argc);
    if (own.empty() || !runs_commands(own.front())) return own;
    const auto mark = std::find(own.begin(), own.end(), "--");
    if (mark == own.end()) return own;
    into.has_command = true;
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
    parsed from;
    action chosen;
    CLI::App app("Distributed locks whose fencing tokens only go forward.", "pawl");
    app.set_version_flag("--version", std::string("pawl ") + PAWL_VERSION);
    app.require_subcommand(1);
    app.get_formatter()->column_width(26);
    add_run(app, from, chosen);
    add_elect(app, from, chosen);
    add_status(app, from, chosen);
    add_list(app, from, chosen);
    add_watch(app, from, chosen);
    add_release(app, from, chosen);
    add_tools(app, from, chosen);

    auto arguments = split(argc, argv, from);
    hide_passwords(argc, argv);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
        app.parse(std::move(arguments));
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
