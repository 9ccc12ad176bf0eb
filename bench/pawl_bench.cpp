// pawl_bench [--quick] [--only ID] [--json FILE] [--out FOLDER]
//
// Starts a Redis server of its own, measures Pawl and, beside each number and in the same run, its
// limit.
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
    const char* ids;  // the rows' ids start so
    void (*run)(const scene&, std::vector<row>&);
};

constexpr measurement all[] = {
    {"pair", measure_uncontended},   {"throughput", measure_throughput},
    {"requests.", measure_requests}, {"handoff", measure_handoff},
    {"waiter", measure_waiter},      {"hot", measure_hot},
    {"held", measure_held},
};

constexpr const char* usage =
    "usage: pawl_bench [--quick] [--only ID] [--json FILE] [--out FOLDER]\n"
    "  ID: pair, throughput, requests, handoff, waiter, hot or held\n";

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
    const auto is_meant = [&](const measurement& each) {
        return std::string(each.ids).starts_with(result.only);
    };
    if (std::none_of(std::begin(all), std::end(all), is_meant))
        throw std::invalid_argument("There is no measurement '" + result.only + "'.\n" + usage);
    return result;
}

int work(const std::vector<std::string>& arguments) {
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
    if (kind == "holder") {
        return holder_process(arguments.at(1), std::stoi(arguments.at(2)),
                              std::stoi(arguments.at(3)));
    }
    throw std::invalid_argument(usage);
}

void run(const settings& how) {
    const support::temporary_folder folder;
    const support::private_redis server(folder.path());
    const scene where{.how = how, .port = server.port(), .url = server.url()};
    const surroundings around = look_around(
        "redis " + wire(where.port).info("server", "redis_version") + ", loopback, no persistence");
    std::vector<row> rows;
    for (const measurement& each : all) {
        if (std::string(each.ids).starts_with(how.only)) {
            each.run(where, rows);
        }
    }
    print_table(around, rows);
    if (!how.out.empty()) {
        std::filesystem::create_directories(how.out);
        write_json(how.out + "/bench.json", around, rows);
        write_chart(how.out + "/bench.svg", around, rows);
        std::printf("\nwritten: %s/bench.json and %s/bench.svg\n", how.out.c_str(),
                    how.out.c_str());
    }
    if (!how.json.empty()) {
        write_json(how.json, around, rows);
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
            return bench::work(arguments);
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
