// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "worker.hpp"

#include "database.hpp"

#include <orders/flash_sale.hpp>
#include <orders/order_creation.hpp>
#include <orders/outside_client.hpp>
#include <orders/payment_verification.hpp>

#include <pawl/blocking.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace shop {
namespace {

using namespace std::chrono_literals;

// Nothing of a run is over before its processes are, however slow the machine is.
guard::once_options options_without(const layer_set& layers) {
    return {.lease = lease, .wait = 5min, .attempts = 1000, .with = once_layers(layers)};
}

const char* word_of(const guard::once_result& result) {
    if (result) return "done";
    return result.state == guard::once_state::running ? "later" : "failed";
}

class worker {
public:
    explicit worker(const worker_options& options)
        : options_(options),
          layers_(all_without(options.without)),
          counters_(options.folder + "/counters"),
          points_(options.folder),
          database_(open_database(options.database_url)),
          locks_(pawl::from_url(lock_url(layers_, options.lock_url))) {}

    std::string obey(const std::string& line) {
        std::istringstream words(line);
        std::string command, order, planned;
        words >> command >> order >> planned;
        try {
            if (command == "repair") return repair();
            points_.begin(order, fault_of(planned));
            const std::string result = serve(order);
            points_.end();
            return result;
        } catch (const std::exception& error) {
            points_.end();
            std::string reason = error.what();
            std::ranges::replace(reason, '\n', ' ');  // an answer is a line
            return "failed " + reason;
        }
    }

private:
    std::string serve(const std::string& order) {
        if (options_.told == story::payment)
            return word_of(payment_verification{locks_, db_, channel_, platform_, partner_,
                                                options_without(layers_), 100ms}
                               .verify(order));
        if (options_.told == story::sale) return buy(order);
        return word_of(creation().create(order, "one lamp"));
    }

    std::string buy(const std::string& request) {
        flash_sale sale{locks_, db_, pawl::striped("sale", stripes), {.ttl = lease, .wait = 5min}};
        for (;;) {
            try {
                sale.buy(request);
                return "done";
            } catch (const guard::conflict&) {
                std::this_thread::sleep_for(5ms);
            }
        }
    }

    std::string repair() {
        const auto report = creation().repair({.per_second = 1000, .ttl = 5s});
        if (report.end != guard::reconcile_end::finished)
            return std::string("failed the pass has ended early: ") + to_string(report.end);
        return "night " + std::to_string(report.counts.keys) + ' ' +
               std::to_string(report.counts.repaired);
    }

    order_creation creation() { return {locks_, db_, partner_, options_without(layers_), 100ms}; }

    worker_options options_;
    layer_set layers_;
    shared_counters counters_;
    fault_points points_;
    std::unique_ptr<database> database_;
    faulty_connection counted_db_{database_->view(), points_, *counters_};
    layered_connection db_{counted_db_, layers_};
    pawl::blocking::client locks_;
    outside_partner outside_{{options_.outside_port, 60s}};
    faulty_partner counted_outside_{outside_, points_, *counters_};
    layered_partner partner_{counted_outside_, layers_};
    outside_source channel_{{options_.outside_port, 60s}, "channel"};
    outside_source platform_{{options_.outside_port, 60s}, "platform"};
};

story story_of(std::string_view name) {
    for (const auto each : {story::payment, story::sale, story::orders})
        if (name_of(each) == name) return each;
    throw std::invalid_argument("There is no story " + std::string(name) + ".");
}

}  // namespace

std::vector<std::string> worker_options::to_arguments() const {
    return {"worker", std::string(name_of(told)),   database_url,
            lock_url, std::to_string(outside_port), folder,
            without};
}

worker_options worker_options::from_arguments(int argc, char** argv) {
    if (argc != 8) throw std::invalid_argument("only orders starts a worker");
    return {story_of(argv[2]), argv[3], argv[4], static_cast<std::uint16_t>(std::stoi(argv[5])),
            argv[6],           argv[7]};
}

int run_worker(const worker_options& options) {
    worker self(options);
    std::string line;
    while (std::getline(std::cin, line))
        std::cout << self.obey(line) << std::endl;
    return 0;
}

}  // namespace shop
