// The verbs that run a command under a lock.
#include "arguments.hpp"
#include "duration.hpp"
#include "failure.hpp"

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

// K, or K/N.
void take_permits(run_options& to, std::string_view text) {
    const auto slash = text.find('/');
    const bool both = slash != std::string_view::npos;
    if (both && (slash == 0 || slash + 1 == text.size())) {
        throw failure(exit_code::usage, "--permits " + std::string(text) +
                                            " lacks a number; write first how many to take, then "
                                            "how many there are, as in 1/5.");
    }
    to.mode = lock_mode::permits;
    to.permits = count_option("--permits", text.substr(0, slash));
    to.of = both ? count_option("--permits", text.substr(slash + 1)) : 0;
    if (both && to.permits > to.of) {
        throw failure(exit_code::usage, "--permits " + std::string(text) +
                                            " asks for more than there are; write first how many "
                                            "to take, then how many there are, as in 1/5.");
    }
}

void take_mode(run_options& to, const arguments& from) {
    if (from.shared && from.permits) {
        throw failure(exit_code::usage,
                      "--shared and --permits are two ways to hold a lock; use one of them.");
    }
    if (from.permits && !from.also.empty()) {
        throw failure(exit_code::usage,
                      "--permits is for one semaphore and says nothing of --also; run one `pawl "
                      "run` inside the other.");
    }
    if (from.shared) to.mode = lock_mode::shared;
    if (from.permits) take_permits(to, *from.permits);
}

void check_others(const run_options& to) {
    auto all = names_of(to);
    std::sort(all.begin(), all.end());
    const auto twice = std::adjacent_find(all.begin(), all.end());
    if (twice != all.end()) {
        throw failure(exit_code::usage,
                      "'" + *twice + "' is named twice; name each lock once, as NAME or --also.");
    }
    if (all.size() > most_locks) {
        throw failure(exit_code::usage, "These are " + std::to_string(all.size()) +
                                            " locks at once; name at most " +
                                            std::to_string(most_locks) + ".");
    }
}

int busy_exit_of(const arguments& from) {
    if (!from.busy_exit) return static_cast<int>(exit_code::timed_out);
    const std::string& text = *from.busy_exit;
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

duration lease_of(const arguments& from) {
    if (from.ttl) return finite_option("--ttl", *from.ttl);
    return configured_ttl(from.on).value_or(std::chrono::seconds(30));
}

run_options to_run(const arguments& from) {
    run_options to{.on = from.on,
                   .name = from.name,
                   .also = from.also,
                   .command = from.command,
                   .label = from.label};
    take_mode(to, from);
    check_others(to);
    to.fair = from.fair;
    to.fenced = !from.no_token;
    to.ttl = lease_of(from);
    to.wait = duration_option("--wait", from.wait);
    to.max_hold = duration_option("--max-hold", from.max_hold);
    to.min_hold = duration_option("--min-hold", from.min_hold);
    to.on_loss = to_policy(from.on_loss);
    to.verbose = from.verbose;
    to.quiet = from.quiet;
    if (to.quiet && to.verbose)
        throw failure(exit_code::usage,
                      "--quiet and --verbose contradict each other; leave one out.");
    to.busy_exit = busy_exit_of(from);
    return to;
}

// What the two verbs call the same options.
struct wording {
    const char* verb;
    const char* purpose;
    const char* ttl;
    const char* wait;
    const char* max_hold;
};

CLI::App* add_runner(CLI::App& app, arguments& from, const wording& words) {
    CLI::App* verb = app.add_subcommand(words.verb, words.purpose);
    add_name(*verb, from);
    add_place(*verb, from);
    verb->add_option("--ttl", from.ttl, words.ttl)->type_name("TIME");
    verb->add_option("--wait", from.wait, words.wait)->type_name("TIME");
    verb->add_option("--max-hold", from.max_hold, words.max_hold)->type_name("TIME");
    verb->add_option("--label", from.label, "What others see as the command (its name)")
        ->type_name("TEXT");
    verb->add_flag("-v,--verbose", from.verbose,
                   "Tell of reconnects, retries and who has the lock");
    return verb;
}

void add_run(CLI::App& app, arguments& from, action& chosen) {
    CLI::App* verb =
        add_runner(app, from,
                   {.verb = "run",
                    .purpose = "Run a command while holding a lock: pawl run NAME -- COMMAND",
                    .ttl = "The lease: if this host dies, the lock is free after it (30s)",
                    .wait = "How long to wait for the lock: 10s, 0, forever (forever)",
                    .max_hold = "Stop the command after this long (forever)"});
    verb->add_option("--min-hold", from.min_hold, "Keep the lock at least this long (0)")
        ->type_name("TIME");
    verb->add_option("--on-loss", from.on_loss,
                     "What the command gets when the lock is lost: kill, term or continue (kill)")
        ->type_name("WHAT");
    verb->add_flag("--shared", from.shared, "Beside other readers, with no writer beside them");
    verb->add_option("--permits", from.permits,
                     "K of the N permits of a semaphore; K alone: of as many as the service has")
        ->type_name("K/N");
    verb->add_flag("--fair", from.fair, "Strictly in the order of asking, over all processes");
    verb->add_flag("--no-token", from.no_token, "Take no fencing token; PAWL_TOKEN is not set");
    verb->add_option("--also", from.also, "Another lock: all of them or none; may be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    verb->add_option("--busy-exit", from.busy_exit,
                     "The exit status when the lock is not free in time, 0 to 255 (75)")
        ->type_name("N");
    verb->add_flag("-q,--quiet", from.quiet, "Say nothing of a lock that is not free");
    verb->footer(
        "The command's environment has PAWL_NAME, PAWL_TOKEN and PAWL_SAFE_UNTIL; with --also\n"
        "PAWL_ALSO (how many) and, for each, PAWL_ALSO_1_NAME, PAWL_ALSO_1_TOKEN and so on.\n"
        "Exit: the command's own status; 75 not ours in time; 70 lost; 73 lost, and stopped too\n"
        "late or not at all; 69 service not reachable; 77 refused; 64 usage; 78 configuration;\n"
        "126 and 127 the command cannot be run.");
    verb->callback([&] { chosen = [&] { return run(to_run(from)); }; });
}

void add_elect(CLI::App& app, arguments& from, action& chosen) {
    CLI::App* verb =
        add_runner(app, from,
                   {.verb = "elect",
                    .purpose = "Keep exactly one of many running: pawl elect NAME -- COMMAND",
                    .ttl = "The lease: if this host dies, another takes over after it (30s)",
                    .wait = "How long to stand for election: 10s, 0, forever (forever)",
                    .max_hold = "The longest term (forever)"});
    verb->footer(
        "After a loss the command is stopped and this one stands for election again.\n"
        "The command's environment has PAWL_NAME, PAWL_TOKEN (the term) and PAWL_SAFE_UNTIL.\n"
        "Exit: the command's own status; else as `pawl run`.");
    verb->callback([&] { chosen = [&] { return elect(to_run(from)); }; });
}

}  // namespace

void add_runners(CLI::App& app, arguments& from, action& chosen) {
    add_run(app, from, chosen);
    add_elect(app, from, chosen);
}

}  // namespace pawl::cli
