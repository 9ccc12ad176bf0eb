// The verbs that look, and those for operators.
#include "arguments.hpp"
#include "duration.hpp"
#include "failure.hpp"

#include <unistd.h>

namespace pawl::cli {

namespace {

void add_status(CLI::App& app, arguments& from, action& chosen) {
    CLI::App* verb = app.add_subcommand("status", "Show who holds a lock; exit 0 held, 1 free");
    add_name(*verb, from);
    add_place(*verb, from);
    add_json(*verb, from);
    verb->callback([&] {
        chosen = [&] { return status({.on = from.on, .name = from.name, .json = from.json}); };
    });
}

void add_list(CLI::App& app, arguments& from, action& chosen) {
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

void add_watch(CLI::App& app, arguments& from, action& chosen) {
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

void add_release(CLI::App& app, arguments& from, action& chosen) {
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

void add_resize(CLI::App& app, arguments& from, action& chosen) {
    CLI::App* verb = app.add_subcommand("resize", "Say how many permits a semaphore has");
    add_name(*verb, from, "The semaphore");
    verb->add_option("N", from.count, "How many from now on, for everybody")
        ->required()
        ->type_name("");
    verb->add_flag("--create", from.create, "Make it where nobody has said a number yet");
    add_place(*verb, from);
    add_json(*verb, from);
    verb->callback([&] {
        chosen = [&] {
            return resize({.on = from.on,
                           .name = from.name,
                           .permits = count_option("N", from.count),
                           .create = from.create,
                           .json = from.json});
        };
    });
}

void add_examiners(CLI::App& app, arguments& from, action& chosen) {
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

}  // namespace

void add_views(CLI::App& app, arguments& from, action& chosen) {
    add_status(app, from, chosen);
    add_list(app, from, chosen);
    add_watch(app, from, chosen);
}

void add_tools(CLI::App& app, arguments& from, action& chosen) {
    add_release(app, from, chosen);
    add_resize(app, from, chosen);
    add_examiners(app, from, chosen);
}

}  // namespace pawl::cli
