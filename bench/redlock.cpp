// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Pairs over independent servers, beside the same requests without Pawl: to one server after the
// other, and to all of them at the same time. The worker of `./dev bench redlock`.
#include "workers.hpp"

#include <pawl/blocking/redlock_administration.hpp>
#include <pawl/redlock.hpp>

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

const std::string pawl_name = "bench/pawl";
const std::string baseline_name = "bench/base";  // as long, so that the requests are

// A connection to a node, and the requests of one pair there.
struct node_baseline {
    std::uint16_t port;
    hiredis_client link{port};
    recorded_pair pair{};
    int outstanding = 0;
};

command_words of_baseline(command_words words) {
    for (std::string& each : words) {
        const auto at = each.find(pawl_name);
        if (at != std::string::npos) each.replace(at, pawl_name.size(), baseline_name);
    }
    return words;
}

class redlock_worker {
public:
    explicit redlock_worker(const std::string& url)
        : locks_(loop_.get_executor(), pawl::from_url(url)) {}

    std::vector<double> pairs(int count) { return time_pairs(loop_, locks_, pawl_name, count); }

    // The nodes that answer; the set has `majority` for a quorum.
    void set_nodes(const std::vector<std::uint16_t>& ports) {
        nodes_.clear();
        for (const auto port : ports)
            nodes_.push_back(std::make_unique<node_baseline>(port));
        for (const auto& each : nodes_)
            record(*each);
    }

    // The median of a pair at each node alone; of these the n-th smallest.
    double pair_of_slowest_needed(int times, std::size_t majority) {
        std::vector<double> medians;
        for (const auto& each : nodes_)
            medians.push_back(median(time_each(times, [&] {
                each->link.call(each->pair.acquire);
                each->link.call(each->pair.release);
            })));
        std::ranges::sort(medians);
        return medians.at(majority - 1);
    }

    // All nodes at the same time, until a majority has answered. As with Pawl, nobody waits for the
    // replies of the others.
    double pair_of_all(int times, std::size_t majority) {
        const double result = median(time_each(times, [&] {
            ask_all(&recorded_pair::acquire, majority);
            ask_all(&recorded_pair::release, majority);
        }));
        wait_for(nodes_.size());
        return result;
    }

private:
    void record(node_baseline& node) {
        for (int attempt = 0; attempt < 20; ++attempt) {
            monitor requests(node.port);
            pairs(1);
            std::this_thread::sleep_for(50ms);  // the pair may have ended without this node
            requests.mark();
            std::vector<command_words> sent;
            for (const auto& line : requests.until_mark())
                if (!line.in_script && name_of(line.command).starts_with("EVALSHA"))
                    sent.push_back(line.command);
            // Another request confirms or repeats something.
            if (sent.size() != 2) continue;
            node.pair = {of_baseline(sent[0]), of_baseline(sent[1])};
            return;
        }
        throw std::runtime_error("no pair has two requests for a node");
    }

    void ask_all(command_words recorded_pair::*request, std::size_t majority) {
        for (const auto& each : nodes_) {
            each->link.send(each->pair.*request);
            ++each->outstanding;
        }
        wait_for(majority);
    }

    // Until so many nodes have answered everything.
    void wait_for(std::size_t majority) {
        const auto is_idle = [](const auto& each) { return each->outstanding == 0; };
        std::vector<pollfd> waiting(nodes_.size());
        while (static_cast<std::size_t>(std::ranges::count_if(nodes_, is_idle)) < majority) {
            for (std::size_t i = 0; i < nodes_.size(); ++i)
                waiting[i] = {is_idle(nodes_[i]) ? -1 : nodes_[i]->link.descriptor(), POLLIN, 0};
            ::poll(waiting.data(), waiting.size(), 10'000);
            for (std::size_t i = 0; i < nodes_.size(); ++i)
                if (waiting[i].revents != 0) nodes_[i]->outstanding -= nodes_[i]->link.read_ready();
        }
    }

    asio::io_context loop_{1};
    pawl::client locks_;
    std::vector<std::unique_ptr<node_baseline>> nodes_;
};

std::vector<std::uint16_t> ports_of(std::istringstream& words) {
    std::vector<std::uint16_t> ports;
    for (int port = 0; words >> port;)
        ports.push_back(static_cast<std::uint16_t>(port));
    return ports;
}

// Short blocks in turn, so that a disturbance of the machine affects all three alike.
void measure(redlock_worker& worker, int pairs, std::size_t majority) {
    const int blocks = 5;
    std::vector<double> with_pawl, alone, all;
    for (int block = 0; block < blocks; ++block) {
        with_pawl.push_back(median(worker.pairs(pairs / blocks)));
        alone.push_back(worker.pair_of_slowest_needed(pairs / blocks, majority));
        all.push_back(worker.pair_of_all(pairs / blocks, majority));
    }
    char line[128];
    std::snprintf(line, sizeof line, "%.3f %.3f %.3f", median(with_pawl), median(alone),
                  median(all));
    write_line(line);
}

}  // namespace

void begin_redlock_set(const std::string& url) {
    pawl::blocking::redlock_administration(pawl::redlock::parse(url)).begin_set();
}

// Lines of input and output:
//   notice          the times of a first pair, and of the longest of the 20 after it, in µs
//   nodes PORT…     the nodes that answer; "ok"
//   measure PAIRS   "PAWL_US ALONE_US ALL_US": medians of a pair
int redlock_process(const std::string& url, std::size_t majority) {
    redlock_worker worker(url);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (verb == "notice") {
            const auto first = worker.pairs(1).front();
            const auto next = worker.pairs(20);
            write_line(std::to_string(first) + ' ' +
                       std::to_string(*std::max_element(next.begin(), next.end())));
        } else if (verb == "nodes") {
            worker.set_nodes(ports_of(words));
            write_line("ok");
        } else if (verb == "measure") {
            int pairs = 0;
            words >> pairs;
            measure(worker, pairs, majority);
        } else {
            throw std::invalid_argument("unknown command " + verb);
        }
    }
    return 0;
}

}  // namespace bench
