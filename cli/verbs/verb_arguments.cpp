// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The verbs that show locks, and the verbs for operators.
#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "arguments.hpp"

#include <unistd.h>

namespace pawl::cli {

namespace {

void add_status(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb = app.add_subcommand("status", "Show who holds a lock; exit 0 held, 1 free");
    add_name(*verb, args);
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            return status({.location = args.location, .name = args.name, .json = args.json});
        };
    });
}

void add_list(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb = app.add_subcommand("ls", "List the locks that have holders or waiters");
    verb->add_option("PREFIX", args.prefix, "Only names that begin with PREFIX")->type_name("");
    verb->add_flag("--names", args.names_only, "Only the names, one per line");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            return list({.location = args.location,
                         .prefix = args.prefix,
                         .json = args.json,
                         .names_only = args.names_only});
        };
    });
}

void add_watch(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb = app.add_subcommand("watch", "Show the locks live");
    verb->add_option("PREFIX", args.prefix, "Only names that begin with PREFIX")->type_name("");
    verb->add_option("--interval", args.interval, "The time between two queries (1s)")
        ->type_name("TIME");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            return watch({.location = args.location,
                          .prefix = args.prefix,
                          .interval = finite_option("--interval", args.interval, "50ms to 24h"),
                          .json = args.json});
        };
    });
}

void add_release(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb =
        app.add_subcommand("release", "Take a lock from its holder and notify the holder");
    add_name(*verb, args);
    verb->add_flag("--force", args.force,
                   "Required, because only the holder should release a lock");
    verb->add_flag("-y,--yes", args.yes, "Do not ask for confirmation");
    verb->add_option("--token", args.token,
                     "Only if a holder has this token, as `pawl status` shows it")
        ->type_name("N");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            if (!args.force) {
                throw failure(exit_code::usage,
                              "Only the holder should release a lock; add --force to take the lock "
                              "from its holder.");
            }
            return release(
                {.location = args.location,
                 .name = args.name,
                 .token = args.token ? token_option(*args.token) : std::optional<fencing_token>(),
                 .yes = args.yes,
                 .json = args.json});
        };
    });
}

void add_resize(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb = app.add_subcommand("resize", "Set the number of permits of a semaphore");
    add_name(*verb, args, "The semaphore");
    verb->add_option("N", args.count, "The new number of permits for all users")
        ->required()
        ->type_name("");
    verb->add_flag("--create", args.create, "Create the semaphore if there is none");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            return resize({.location = args.location,
                           .name = args.name,
                           .permits = count_option("N", args.count),
                           .create = args.create,
                           .json = args.json});
        };
    });
}

void add_redlock(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb = app.add_subcommand("redlock", "Show, begin or repair a set of Redlock nodes");
    verb->add_option("OPERATION", args.operation,
                     "status; init, for a set that grants at once; rejoin, for lost data")
        ->required()
        ->type_name("");
    verb->add_flag("--force", args.force, "init: also if nodes are members of a set already");
    verb->add_flag("-y,--yes", args.yes, "init: do not ask for confirmation");
    add_url_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            return redlock_set({.location = args.location,
                                .operation = args.operation,
                                .force = args.force,
                                .yes = args.yes,
                                .json = args.json});
        };
    });
}

void add_cron(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb = app.add_subcommand("cron", "Run the commands of a file at their times");
    verb->add_option("FILE", args.file, "The schedules, the same on all hosts")->type_name("");
    verb->add_flag("--check", args.check, "Only check the file, and print when its commands run");
    verb->add_flag("--history", args.history, "Only print when commands ran, and how they ended");
    verb->add_option("--name", args.name, "--history: of this schedule only")->type_name("NAME");
    verb->add_option("--last", args.last, "--history: how many ticks at the most (50)")
        ->type_name("N");
    verb->add_flag("--schema", args.schema, "Only print the SQL of the table with the ticks");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->add_flag("-v,--verbose", args.verbose, "Print when commands begin and end");
    verb->footer(
        "A line of the file: 30 2 * * *  orders/nightly  max=2h,late=10m  /usr/bin/repair\n"
        "The environment of the command has PAWL_TICK, PAWL_NAME and PAWL_TOKEN.\n"
        "Exit status: 0 after a signal; 66 the file cannot be read; 78 it is not valid; 64 the\n"
        "service keeps no records, and so no history; 77 no right to make the table.");
    verb->callback([&] {
        selected_action = [&] {
            return cron({.location = args.location,
                         .file = args.file,
                         .check = args.check,
                         .history = args.history,
                         .schema = args.schema,
                         .name = args.name,
                         .last = count_option("--last", args.last),
                         .json = args.json,
                         .verbose = args.verbose});
        };
    });
}

void add_reconcile(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb =
        app.add_subcommand("reconcile", "Show the runs of the reconciliations of programs");
    verb->add_flag("--history", args.history, "Print when runs began and ended, newest first");
    verb->add_option("--name", args.name, "Of this reconciliation only")->type_name("NAME");
    verb->add_option("--last", args.last, "How many runs at the most (50)")->type_name("N");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            return reconcile({.location = args.location,
                              .history = args.history,
                              .name = args.name,
                              .last = count_option("--last", args.last),
                              .json = args.json});
        };
    });
}

once_records_options once_options_of(const arguments& args) {
    if (args.older_than && args.operation != "unfinished")
        throw failure(exit_code::usage, "--older-than is for `once unfinished`; leave it out.");
    return {
        .location = args.location,
        .operation = args.operation,
        .older_than = finite_option("--older-than", args.older_than.value_or("0s"), "0 to 106751d"),
        .last = count_option("--last", args.last),
        .json = args.json};
}

void add_once(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb =
        app.add_subcommand("once", "Show or purge the records of `once` that programs make");
    verb->add_option("OPERATION", args.operation,
                     "unfinished; failed; purge, for records whose `keep` is over")
        ->required()
        ->type_name("");
    verb->add_option("--older-than", args.older_than,
                     "unfinished: whose lease has been over for this time (0s)")
        ->type_name("TIME");
    verb->add_option("--last", args.last, "How many operations at the most (50)")->type_name("N");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] { selected_action = [&] { return once_records(once_options_of(args)); }; });
}

void add_examiners(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb =
        app.add_subcommand("doctor", "Examine the service: what it guarantees, and what to change");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] { return doctor({.location = args.location, .json = args.json}); };
    });

    verb = app.add_subcommand("acl", "Print the least rights (ACL) for a user of Redis or Valkey");
    verb->add_option("--for", args.features,
                     "What the user does: exclusive, modes, latches, admin (these by default), "
                     "replicas, disk")
        ->type_name("LIST");
    verb->add_flag("--cluster-node", args.cluster_node, "The server is a node of a cluster");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            return acl({.location = args.location,
                        .features = args.features,
                        .cluster_node = args.cluster_node,
                        .json = args.json});
        };
    });

    verb = app.add_subcommand("schema", "Print the SQL that prepares a database for locks");
    verb->add_option("--role", args.role,
                     "Also make a role that owns the schema, and grant this one what locks need")
        ->type_name("ROLE");
    verb->add_flag("--guard", args.guard,
                   "Print the tables of pawl::guard, such as the records of once, instead")
        ->excludes("--role");
    add_location_options(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            return schema({.location = args.location, .role = args.role, .guard = args.guard});
        };
    });

    verb = app.add_subcommand("bench", "Measure the service from this host");
    verb->add_option("--for", args.lasting, "The duration of each of the two measurements (3s)")
        ->type_name("TIME");
    verb->add_option("--name", args.name, "The lock to use (a new name)")->type_name("NAME");
    add_location_options(*verb, args);
    add_json(*verb, args);
    verb->callback([&] {
        selected_action = [&] {
            const std::string own = "pawl-bench/" + std::to_string(::getpid());
            return bench({.location = args.location,
                          .name = args.name.empty() ? own : args.name,
                          .lasting = finite_option("--for", args.lasting, "10ms to 1h"),
                          .json = args.json});
        };
    });

    verb = app.add_subcommand("completion", "Print the completion script for a shell");
    verb->add_option("SHELL", args.shell, "bash, zsh or fish")->required()->type_name("");
    verb->callback([&] { selected_action = [&] { return completion(args.shell); }; });
}

}  // namespace

void add_views(CLI::App& app, arguments& args, action& selected_action) {
    add_status(app, args, selected_action);
    add_list(app, args, selected_action);
    add_watch(app, args, selected_action);
}

void add_tools(CLI::App& app, arguments& args, action& selected_action) {
    add_release(app, args, selected_action);
    add_resize(app, args, selected_action);
    add_redlock(app, args, selected_action);
    add_cron(app, args, selected_action);
    add_reconcile(app, args, selected_action);
    add_once(app, args, selected_action);
    add_examiners(app, args, selected_action);
}

}  // namespace pawl::cli
