// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "worker.hpp"

#include "injector.hpp"
#include "shops.hpp"

#include <pawl/error.hpp>

#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

namespace real::orders {

namespace {

using namespace std::chrono_literals;

// Written at once: the process may die in the next statement.
void say(const std::string& line) { std::cout << line << std::endl; }

class worker {
public:
    explicit worker(const worker_options& options) : options_(options) {}

    void run() {
        reconnect();
        say("ready");
        for (std::string line; std::getline(std::cin, line);)
            say(line == "repair" ? repair() : call(line));
    }

private:
    // The primary may be another server after an error.
    void reconnect() {
        shop_.reset();
        for (;;) {
            try {
                shop_ = make_shop(options_, faults_);
                return;
            } catch (const std::exception&) {
                std::this_thread::sleep_for(50ms);  // the back-off; the driver ends the process
            }
        }
    }

    std::string call(const std::string& line) {
        std::istringstream words(line);
        std::string order;
        planned_fault planned;
        words >> order;
        const bool is_planned = static_cast<bool>(words >> planned.index >> planned.step);
        faults_.arm(is_planned ? std::optional(planned) : std::nullopt);
        return text_of([&] { return shop_->call(order); });
    }

    std::string repair() {
        faults_.arm(std::nullopt);
        return text_of([&] {
            shop_->repair();
            return shop_answer{.state = "repaired", .value = {}};
        });
    }

    template <class Work>
    std::string text_of(Work work) {
        try {
            const auto answer = work();
            const auto vain = shop_->take_vain_work();
            return answer.state + " " + std::to_string(vain.polls) + " " +
                   std::to_string(vain.refused) + " " + answer.value;
        } catch (const std::exception& failure) {
            reconnect();
            std::string reason = failure.what();
            for (auto& each : reason)
                if (each == '\n') each = ' ';
            return "error 0 0 " + reason;
        }
    }

    const worker_options options_;
    fault_injector faults_{[] { say("hit"); },
                           [] {
                               std::string go;
                               std::getline(std::cin, go);
                           }};
    std::unique_ptr<worker_shop> shop_;
};

}  // namespace

std::vector<std::string> worker_words(const worker_options& options) {
    return {"orders-worker",
            to_string(options.story),
            options.without,
            options.locks,
            options.database,
            std::to_string(options.outside),
            std::to_string(options.stripes),
            std::to_string(options.number)};
}

std::optional<worker_options> read_worker_words(const std::vector<std::string>& words) {
    if (words.size() != 8 || words[0] != "orders-worker") return std::nullopt;
    const auto story = story_of(words[1]);
    if (!story) return std::nullopt;
    return worker_options{.story = *story,
                          .without = words[2],
                          .locks = words[3],
                          .database = words[4],
                          .outside = static_cast<std::uint16_t>(std::stoul(words[5])),
                          .stripes = std::stoul(words[6]),
                          .number = std::stoul(words[7])};
}

int run_worker(const worker_options& options) {
    worker(options).run();
    return 0;
}

}  // namespace real::orders
