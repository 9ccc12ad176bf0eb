// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The verbs that run a command while holding a lock.
#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "arguments.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::cli {

namespace {

loss_policy to_policy(const std::string& text) {
    if (text == "kill") return loss_policy::kill;
    if (text == "term") return loss_policy::term;
    if (text == "continue") return loss_policy::resume;
    throw failure(exit_code::usage,
                  "'" + text + "' is not a value of --on-loss; use kill, term or continue.");
}

constexpr std::string_view replicas = "replicas:";

std::uint32_t to_replicas(const std::string& text) {
    std::uint32_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data() + replicas.size(), end, value);
    if (problem == std::errc{} && stopped == end && value >= 1 && value <= 1000) return value;
    throw failure(exit_code::usage, "'" + text.substr(replicas.size()) +
                                        "' is not a number of replicas for --durable; use a whole "
                                        "number from 1 to 1000, such as 1.");
}

durability to_durability(const std::string& text) {
    if (text == "primary") return durability::primary;
    if (text == "disk") return durability::disk;
    if (text.starts_with(replicas)) return durability::replicas(to_replicas(text));
    throw failure(exit_code::usage, "'" + text +
                                        "' is not a value of --durable; use primary, replicas:K "
                                        "or disk.");
}

// K or K/N.
void set_permits(run_options& options, std::string_view text) {
    const auto slash = text.find('/');
    const bool both = slash != std::string_view::npos;
    if (both && (slash == 0 || slash + 1 == text.size())) {
        throw failure(exit_code::usage,
                      "--permits " + std::string(text) +
                          " lacks a number; write the permits to take, then the total, as in 1/5.");
    }
    options.mode = lock_mode::permits;
    options.permits = count_option("--permits", text.substr(0, slash));
    options.total_permits = both ? count_option("--permits", text.substr(slash + 1)) : 0;
    if (both && options.permits > options.total_permits) {
        throw failure(exit_code::usage, "--permits " + std::string(text) +
                                            " asks for more permits than the total; write the "
                                            "permits to take, then the total, as in 1/5.");
    }
}

void set_mode(run_options& options, const arguments& args) {
    if (args.shared && args.permits) {
        throw failure(exit_code::usage,
                      "--shared and --permits cannot be combined; use one of them.");
    }
    if (args.permits && !args.also.empty()) {
        throw failure(
            exit_code::usage,
            "--permits and --also cannot be combined; run one `pawl run` inside the other.");
    }
    if (args.shared) options.mode = lock_mode::shared;
    if (args.permits) set_permits(options, *args.permits);
}

void check_others(const run_options& options) {
    auto all = names_of(options);
    std::sort(all.begin(), all.end());
    const auto twice = std::adjacent_find(all.begin(), all.end());
    if (twice != all.end()) {
        throw failure(exit_code::usage,
                      "'" + *twice + "' is named twice; name each lock once, as NAME or --also.");
    }
    if (all.size() > max_locks) {
        throw failure(exit_code::usage, "The command line names " + std::to_string(all.size()) +
                                            " locks; name at most " + std::to_string(max_locks) +
                                            ".");
    }
}

int busy_exit_from(const arguments& args) {
    if (!args.busy_exit) return static_cast<int>(exit_code::timed_out);
    const std::string& text = *args.busy_exit;
    int value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || value < 0 ||
        value > 255) {
        throw failure(exit_code::usage, "'" + text +
                                            "' is not an exit status for --busy-exit; use a whole "
                                            "number from 0 to 255.");
    }
    return value;
}

duration ttl_from(const arguments& args) {
    if (args.ttl) return finite_option("--ttl", *args.ttl, "10ms to 24h");
    return configured_ttl(args.location).value_or(std::chrono::seconds(30));
}

run_options to_run_options(const arguments& args) {
    run_options options{.location = args.location,
                        .name = args.name,
                        .also = args.also,
                        .command = args.command,
                        .label = args.label};
    set_mode(options, args);
    check_others(options);
    options.fair = args.fair;
    options.fenced = !args.no_token;
    options.durable = to_durability(args.durable);
    options.ttl = ttl_from(args);
    options.wait = duration_option("--wait", args.wait);
    options.max_hold = duration_option("--max-hold", args.max_hold);
    options.min_hold = duration_option("--min-hold", args.min_hold);
    options.on_loss = to_policy(args.on_loss);
    options.verbose = args.verbose;
    options.quiet = args.quiet;
    if (options.quiet && options.verbose)
        throw failure(exit_code::usage,
                      "--quiet and --verbose contradict each other; leave one out.");
    options.busy_exit = busy_exit_from(args);
    return options;
}

// The texts of the options that both verbs have.
struct wording {
    const char* verb;
    const char* purpose;
    const char* ttl;
    const char* wait;
    const char* max_hold;
};

CLI::App* add_runner(CLI::App& app, arguments& args, const wording& texts) {
    CLI::App* verb = app.add_subcommand(texts.verb, texts.purpose);
    add_name(*verb, args);
    add_location_options(*verb, args);
    verb->add_option("--ttl", args.ttl, texts.ttl)->type_name("TIME");
    verb->add_option("--wait", args.wait, texts.wait)->type_name("TIME");
    verb->add_option("--max-hold", args.max_hold, texts.max_hold)->type_name("TIME");
    verb->add_option("--durable", args.durable,
                     "Where a lock must be before the command runs: primary, replicas:K (on K "
                     "replicas, too) or disk (primary)")
        ->type_name("LEVEL");
    verb->add_option("--label", args.label, "The command that other users see (its name)")
        ->type_name("TEXT");
    verb->add_flag("-v,--verbose", args.verbose,
                   "Print reconnects, retries and the holder of the lock");
    return verb;
}

void add_run(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb =
        add_runner(app, args,
                   {.verb = "run",
                    .purpose = "Run a command while holding a lock: pawl run NAME -- COMMAND",
                    .ttl = "The lease; if this host dies, the lock is free after this time (30s)",
                    .wait = "How long to wait for the lock: 10s, 0, forever (forever)",
                    .max_hold = "Stop the command after this time (forever)"});
    verb->add_option("--min-hold", args.min_hold, "Hold the lock for at least this time (0)")
        ->type_name("TIME");
    verb->add_option(
            "--on-loss", args.on_loss,
            "What to do with the command if the lock is lost: kill, term or continue (kill)")
        ->type_name("ACTION");
    verb->add_flag("--shared", args.shared,
                   "Hold the lock as a reader, together with other readers");
    verb->add_option(
            "--permits", args.permits,
            "Take K of the N permits of a semaphore; K alone uses the N that the service has")
        ->type_name("K/N");
    verb->add_flag("--fair", args.fair,
                   "Grant strictly in the order of the requests, across all processes");
    verb->add_flag("--no-token", args.no_token, "Take no fencing token; PAWL_TOKEN is not set");
    verb->add_option("--also", args.also, "Take another lock, all or none; may be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    verb->add_option("--busy-exit", args.busy_exit,
                     "The exit status if the lock is not free in time, 0 to 255 (75)")
        ->type_name("N");
    verb->add_flag("-q,--quiet", args.quiet, "Print nothing about a lock that is not free");
    verb->footer(
        "TIME: 500ms, 30s, 2min, 1h30m.\n"
        "The environment of the command has PAWL_NAME, PAWL_TOKEN and PAWL_SAFE_UNTIL. With "
        "--also\n"
        "it has PAWL_ALSO (the number of these locks) and for each lock PAWL_ALSO_1_NAME,\n"
        "PAWL_ALSO_1_TOKEN and so on.\n"
        "Exit status: that of the command; 75 not free in time; 70 lost; 73 lost, and stopped too\n"
        "late or not at all; 69 service not reachable; 77 access refused; 64 usage;\n"
        "78 configuration; 126 and 127 the command cannot be executed.");
    verb->callback([&] { selected_action = [&] { return run(to_run_options(args)); }; });
}

void add_elect(CLI::App& app, arguments& args, action& selected_action) {
    CLI::App* verb = add_runner(
        app, args,
        {.verb = "elect",
         .purpose = "Keep at most one of several commands running: pawl elect NAME -- COMMAND",
         .ttl = "The lease; if this host dies, another candidate leads after this time (30s)",
         .wait = "How long to stand for election: 10s, 0, forever (forever)",
         .max_hold = "The longest term (forever)"});
    verb->footer(
        "TIME: 500ms, 30s, 2min, 1h30m.\n"
        "After a loss, the command is stopped and this candidate stands for election again.\n"
        "The environment of the command has PAWL_NAME, PAWL_TOKEN (the term) and PAWL_SAFE_UNTIL.\n"
        "Exit status: that of the command, otherwise as for `pawl run`.");
    verb->callback([&] { selected_action = [&] { return elect(to_run_options(args)); }; });
}

}  // namespace

void add_runners(CLI::App& app, arguments& args, action& selected_action) {
    add_run(app, args, selected_action);
    add_elect(app, args, selected_action);
}

}  // namespace pawl::cli
