// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_storm.hpp"

#include <conformance/process.hpp>

#include <pawl/error.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/records.hpp>
#include <pawl/guard/schema.hpp>

#include <csignal>
#include <optional>
#include <random>
#include <thread>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;
using pawl::conformance::child;

constexpr std::size_t process_count = 6;

class storm {
public:
    storm(const product& tested, const std::string& isolation, storm_kind kind)
        : database_(tested.make({})), admin_(database_->connect()), kind_(kind) {
        guard::make_tables(admin_->view());
        const std::string columns = "(operation VARCHAR(80) NOT NULL, result VARCHAR(80))";
        for (const auto* each : {"effects", "ledger", "answers"})
            admin_->run("CREATE TABLE " + std::string(each) + columns);
        admin_->run(
            "CREATE TABLE known_outside(operation VARCHAR(80) PRIMARY KEY, "
            "result VARCHAR(80))");
        words_ = {"once-storm", tested.name, database_->address(), isolation,
                  std::to_string(static_cast<int>(kind))};
        for (std::size_t i = 0; i < process_count; ++i)
            children_.emplace_back(pawl::conformance::launch_as_helper(words_));
    }

    // One process is killed, or stopped for longer than the lease.
    void disturb() {
        auto& victim = children_[generator_() % children_.size()];
        if (!victim.is_running()) {
            report_.errors.push_back(victim.read_line(1s).value_or("a process has ended"));
        } else if (generator_() % 2 == 0) {
            victim.kill_and_reap();
            ++report_.kills;
        } else {
            victim.stop();
            std::this_thread::sleep_for(250ms);  // the pause is the fault
            victim.resume();
            ++report_.pauses;
            return;
        }
        victim = child(pawl::conformance::launch_as_helper(words_));
    }

    [[nodiscard]] std::int64_t operations() {
        return count("SELECT count(DISTINCT operation) FROM " + effects());
    }
    [[nodiscard]] std::int64_t repeated() {
        return count("SELECT count(*) FROM (SELECT operation FROM " + effects() +
                     " GROUP BY operation HAVING count(*) > 1) AS several");
    }

    // Repeats what was not finished, as callers do, and looks at everything.
    storm_report end() {
        children_.clear();
        finish_all();
        report_.operations = operations();
        report_.repeated = repeated();
        if (kind_ != storm_kind::outside && kind_ != storm_kind::outside_by_key)
            report_.torn = count(
                "SELECT count(*) FROM (SELECT operation, result FROM effects "
                "EXCEPT SELECT operation, result FROM ledger) AS torn");
        report_.unlike = count(
            "SELECT count(*) FROM (SELECT operation FROM answers GROUP BY operation "
            "HAVING count(DISTINCT result) > 1) AS unlike");
        report_.missing = count(
            "SELECT count(*) FROM answers WHERE operation NOT IN "
            "(SELECT operation FROM " +
            effects() + ")");
        return report_;
    }

private:
    std::int64_t count(const std::string& text) { return admin_->number(text); }
    [[nodiscard]] std::string effects() const {
        return kind_ == storm_kind::outside_by_key ? "known_outside" : "effects";
    }
    // The processes are dead, and their leases end soon.
    void finish_all() {
        guard::once_options options;
        options.attempts = 1'000'000;
        options.wait = 60s;
        const auto work = [&](const guard::attempt& claimed) -> guard::outcome {
            const bool is_known = kind_ == storm_kind::outside_by_key;
            for (const auto& each : {effects(), std::string("ledger")}) {
                const auto insert = "INSERT INTO " + each + "(operation, result) VALUES({}, 'end')";
                try {
                    admin_->run(with_places(insert, database_->dialect()), {claimed.key()});
                } catch (const guard::database_error&) {
                    if (!is_known) throw;
                }
            }
            return "end";
        };
        const auto is_inside =
            kind_ == storm_kind::inside || kind_ == storm_kind::inside_without_check;
        for (const auto& each : guard::unfinished(admin_->view(), -1h, {}, 1'000'000)) {
            const auto ended = is_inside
                                   ? guard::once(admin_->view(), each.key, options, work)
                                   : guard::at_least_once(admin_->view(), each.key, options, work);
            if (!ended) report_.errors.push_back(each.key + " does not end");
        }
    }

    std::unique_ptr<test_database> database_;
    std::unique_ptr<open_connection> admin_;
    const storm_kind kind_;
    std::vector<std::string> words_;
    std::vector<child> children_;
    std::minstd_rand generator_{std::random_device{}()};
    storm_report report_;
};

}  // namespace

storm_report run_storm(const product& tested, const std::string& isolation, storm_kind kind,
                       std::chrono::milliseconds length, bool until_damage) {
    storm running(tested, isolation, kind);
    const auto began = std::chrono::steady_clock::now();
    const auto is_over = [&] {
        const auto time = std::chrono::steady_clock::now() - began;
        if (time >= 60s) return true;
        if (until_damage) return running.repeated() > 0;
        return time >= length && running.operations() > 0;  // a busy machine begins late
    };
    do {
        std::this_thread::sleep_for(30ms);  // the pace of the faults
        running.disturb();
    } while (!is_over());
    return running.end();
}

}  // namespace guard_tests
