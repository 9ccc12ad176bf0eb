// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// pawl_bench [--quick] [--only ID] [--json FILE] [--out FOLDER]
//
// Starts its own Redis server and measures Pawl. Each baseline is measured in the same run.
#include "report.hpp"
#include "workers.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

namespace {

struct measurement {
    const char* ids;  // prefix of the ids of the rows
    void (*run)(const bench_context&, std::vector<row>&);
};

constexpr measurement measurements[] = {
    {"pair", measure_uncontended},   {"throughput", measure_throughput},
    {"requests.", measure_requests}, {"handoff", measure_handoff},
    {"waiter", measure_waiter},      {"hot", measure_hot},
    {"held", measure_held},          {"counts", measure_counts},
    {"no_lock", measure_no_lock},
};

constexpr const char* usage =
    "usage: pawl_bench [--quick] [--only ID] [--json FILE] [--out FOLDER]\n"
    "  ID: pair, throughput, requests, handoff, waiter, hot, held, counts or no_lock\n";

settings parse(const std::vector<std::string>& arguments) {
    settings result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& name = arguments[i];
        if (name == "--quick") {
            result.quick = true;
            continue;
        }
        if ((name != "--only" && name != "--json" && name != "--out") ||
            i + 1 == arguments.size()) {
            throw std::invalid_argument(usage);
        }
        (name == "--only"   ? result.only
         : name == "--json" ? result.json
                            : result.out) = arguments[++i];
    }
    const auto is_selected = [&](const measurement& each) {
        return std::string(each.ids).starts_with(result.only);
    };
    if (std::none_of(std::begin(measurements), std::end(measurements), is_selected))
        throw std::invalid_argument("There is no measurement '" + result.only + "'.\n" + usage);
    return result;
}

int run_worker(const std::vector<std::string>& arguments) {
    const std::string& kind = arguments.at(0);
    if (kind == "waiter") {
        return waiter_process(arguments.at(1));
    }
    if (kind == "subscriber") {
        return subscriber_process(static_cast<std::uint16_t>(std::stoi(arguments.at(1))));
    }
    if (kind == "hot") {
        return hot_process(arguments.at(1), arguments.at(2), std::stod(arguments.at(3)));
    }
    if (kind == "pairs") {
        return pairs_process(arguments.at(1), arguments.at(2),
                             static_cast<std::uint16_t>(std::stoi(arguments.at(3))),
                             std::stoi(arguments.at(4)));
    }
    if (kind == "holder") {
        return holder_process(arguments.at(1), std::stoi(arguments.at(2)),
                              std::stoi(arguments.at(3)));
    }
    if (kind == "load") {
        return load_process(arguments.at(1), std::stoi(arguments.at(2)), std::stoi(arguments.at(3)),
                            std::stoi(arguments.at(4)));
    }
    if (kind == "redlock") {
        return redlock_process(arguments.at(1), std::stoul(arguments.at(2)));
    }
    if (kind == "redlock-init") {
        begin_redlock_set(arguments.at(1));
        return 0;
    }
    if (kind == "delay") {
        return delay_process({arguments.begin() + 1, arguments.end()});
    }
    throw std::invalid_argument(usage);
}

void run(const settings& options) {
    const support::temporary_folder folder;
    const support::private_redis server(folder.path());
    const bench_context context{.options = options, .port = server.port(), .url = server.url()};
    const machine_info machine =
        describe_machine("redis " + hiredis_client(context.port).info("server", "redis_version") +
                         ", loopback, no persistence");
    std::vector<row> rows;
    for (const measurement& each : measurements) {
        if (std::string(each.ids).starts_with(options.only)) {
            each.run(context, rows);
        }
    }
    print_table(machine, rows);
    if (!options.out.empty()) {
        std::filesystem::create_directories(options.out);
        write_json(options.out + "/bench.json", machine, rows);
        write_chart(options.out + "/bench.svg", machine, rows);
        std::printf("\nwritten: %s/bench.json and %s/bench.svg\n", options.out.c_str(),
                    options.out.c_str());
    }
    if (!options.json.empty()) {
        write_json(options.json, machine, rows);
    }
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    std::vector<std::string> arguments(argv + 1, argv + argc);
    try {
        if (!arguments.empty() && arguments[0] == "worker") {
            arguments.erase(arguments.begin());
            return bench::run_worker(arguments);
        }
        if (arguments == std::vector<std::string>{"--help"}) {
            std::printf("%s", bench::usage);
            return 0;
        }
        bench::run(bench::parse(arguments));
        return 0;
    } catch (const std::invalid_argument& e) {
        std::fprintf(stderr, "%s", e.what());
        return 64;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "pawl_bench: %s\n", e.what());
        return 1;
    }
}
