// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "stretch.hpp"

#include <real/record/journal_counter.hpp>
#include <real/run_parts.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

namespace real::soak {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t kept_rounds = 10;  // of one environment: an overnight run fills no disk

class stretch {
public:
    stretch(const environment_entry& entry, const soak_parts& parts, totals& result)
        : entry_(entry),
          parts_(parts),
          result_(result),
          servers_(entry.start(real::options_of(entry, processes()))),
          pace_(parts.options.seed, [this] { step(); }) {
        client_ = {.access = servers_->access(safeguards::pawl),
                   .folder = folder_of_round(),
                   .locks = lock_count,
                   .checks_tokens = parts.options.checks_tokens,
                   .longest_ttl = entry.longest_ttl,
                   .outputs = folder_named(entry.name)};
        if (entry.is_one_process) client_.threads *= parts.options.clients;
        clients_.emplace(*servers_, client_,
                         group_options{.processes = processes(),
                                       .lasting = (processes() + 1) / 2,
                                       .seed = parts.options.seed});
        result_.figures.resize((processes() + 1) / 2);
        counter_.emplace(client_.folder);
    }

    void run(clock::time_point end) {
        fault_order order(chosen_faults());
        const auto has_time = [&](clock::time_point limit) {
            return parts_.signals.count() == 0 && clock::now() < limit;
        };
        bool goes_on = true;
        while (goes_on) {
            const auto round_end = std::min(clock::now() + parts_.options.round, end);
            pace_.pause(500ms, 1s);
            while (has_time(round_end))
                if (result_.faults.empty())
                    pace_.pause(100ms, 100ms);
                else
                    inject(order.next(pace_));
            goes_on = end_round() && has_time(end);
            if (goes_on) clients_->begin_round();
        }
        finish();
    }

private:
    [[nodiscard]] std::size_t processes() const {
        return entry_.is_one_process ? 1 : parts_.options.clients;
    }

    // Creates the folder.
    [[nodiscard]] std::string folder_named(const std::string& name) const {
        auto path = parts_.folder + "/" + name;
        std::filesystem::create_directories(path);
        return path;
    }

    [[nodiscard]] std::string folder_of_round() const {
        return folder_named(entry_.name + "-" + std::to_string(round_));
    }

    std::vector<fault> chosen_faults() {
        auto all = servers_->faults();
        std::erase_if(all, [this](const fault& each) {
            if (!each.obstacle.empty()) result_.obstacles[each.name] = each.obstacle;
            return !each.obstacle.empty() || each.is_by_name_only;
        });
        for (const auto& each : all)
            result_.faults[each.name] = 0;
        return all;
    }

    void inject(const fault& next) {
        parts_.figures.mark_fault(next.name);
        fault_record record{.name = next.name, .begin = now()};
        real::inject(next, *servers_, pace_);
        record.end = now();
        faults_.push_back(std::move(record));
        ++result_.faults[next.name];
        pace_.pause(200ms, 1500ms);
    }

    void step() {
        if (parts_.signals.count() > 1) throw interrupted();
        clients_->disturb();
        result_.kills = clients_->kills();
        result_.pauses = clients_->pauses();
        if (clock::now() < next_line_) return;
        next_line_ += parts_.options.line_interval;
        add_sample(round_, counter_->update(clients_->started()));
    }

    // Adds a line of figures: of all environments so far, with the counts of the present round.
    void add_sample(std::size_t round, const journal_counts& of_round) {
        auto sum = of_round;
        sample next{.environment = entry_.name, .round = round};
        const auto add = [&](const totals& each) {
            sum += each.load;
            next.faults += each.fault_count();
            next.kills += each.kills;
            next.pauses += each.pauses;
            next.equal_tokens += each.outcome.equal_tokens;
            next.tokens_back += each.outcome.tokens_back;
            next.overlaps += each.outcome.overlaps;
        };
        std::ranges::for_each(parts_.earlier, add);
        add(result_);
        next.holds = sum.holds;
        next.losses = sum.losses;
        next.refused = sum.refused;
        next.errors = sum.errors;
        for (const auto& each : clients_->lasting_figures()) {
            next.client_bytes = std::max(next.client_bytes, each.resident_bytes);
            next.descriptors = std::max(next.descriptors, each.descriptors);
        }
        for (const auto process : servers_->server_processes())
            next.server_bytes += figures_of(process).value_or(process_figures()).resident_bytes;
        parts_.figures.add(std::move(next));
    }

    // False: the stretch is over.
    bool end_round() {
        const auto folder = client_.folder;
        ++round_;
        client_.folder = folder_of_round();
        if (const auto problem = clients_->end_round(client_.folder); !problem.empty()) {
            fail(problem + " (" + label_of_round(folder) + ")");
            return false;
        }
        const auto figures = clients_->lasting_figures();
        for (std::size_t i = 0; i < figures.size(); ++i)
            result_.figures[i].push_back(figures[i]);
        const bool is_kept = check_round(folder);
        continue_resources(folder);
        if (!is_kept) std::filesystem::remove_all(folder);
        counter_.emplace(client_.folder);
        return !is_kept || !parts_.options.ends_at_failure;
    }

    // Whether the records are to be kept.
    bool check_round(const std::string& folder) {
        auto records = read_records(folder, clients_->started(), lock_count);
        records.history = servers_->history();
        records.memory_losses = servers_->memory_losses();
        records.faults = faults_;
        records.have_epochs = entry_.have_epochs;
        records.begin = begin_;
        for (std::size_t i = 0; i < lock_count; ++i)
            records.locks[i].earlier = std::move(earlier_[i]);
        const auto outcome = check(records);
        add_round(result_, outcome, counter_->update(clients_->started()));
        for (std::size_t i = 0; i < lock_count; ++i)
            earlier_[i] = newest_holds(records.locks[i], entry_.have_epochs);
        return outcome.violations() != 0 && report_failure(outcome, folder);
    }

    bool report_failure(const verdict& outcome, const std::string& folder) {
        const bool is_kept = ++result_.failed_rounds <= kept_rounds;
        auto sentences = broken_promises(outcome);
        for (const auto& each : sentences)
            fail(each + " (" + label_of_round(is_kept ? folder : "") + ")");
        if (!is_kept) return false;
        std::ofstream details(folder + "/details.txt");
        sentences.insert(sentences.end(), outcome.details.begin(), outcome.details.end());
        for (const auto& each : sentences)
            details << each << "\n";
        return true;
    }

    // Of the round that has just ended. `folder` is empty if its records are not kept.
    [[nodiscard]] std::string label_of_round(const std::string& folder) const {
        return "round " + std::to_string(round_ - 1) + ", --seed " +
               std::to_string(parts_.options.seed) + ", records " +
               (folder.empty() ? "not kept" : "in " + folder);
    }

    void fail(const std::string& problem) {
        std::cout << entry_.name << ": " << problem << std::endl;
        result_.failures.push_back(problem);
    }

    // The next round begins with the last access to each resource, so that smaller tokens are still
    // refused.
    void continue_resources(const std::string& folder) {
        for (std::size_t i = 0; i < lock_count; ++i)
            if (const auto all = resource::load(resource_path(folder, i)); !all.empty())
                resource::begin_with(resource_path(client_.folder, i), all.back());
    }

    void finish() {
        add_sample(result_.rounds, {});
        if (const auto problem = clients_->finish(); !problem.empty()) fail(problem);
        std::filesystem::remove_all(client_.folder);
        if (!entry_.is_one_process)
            for (const auto& each : expect_free_locks(*servers_, client_))
                fail(each);
        for (const auto& each : leaks(result_))
            fail(each);
        if (result_.outcome.holds == 0 && parts_.signals.count() == 0) fail("There were no holds.");
    }

    const environment_entry& entry_;
    const soak_parts& parts_;
    totals& result_;
    std::size_t round_ = 1;
    std::unique_ptr<environment> servers_;
    client_options client_;
    std::optional<client_group> clients_;
    std::optional<journal_counter> counter_;
    const instant begin_ = now();
    std::vector<fault_record> faults_;
    std::vector<std::vector<hold_record>> earlier_{lock_count};
    clock::time_point next_line_ = clock::now() + parts_.options.line_interval;
    pace pace_;
};

}  // namespace

totals run_stretch(const environment_entry& entry, const soak_parts& parts, clock::time_point end) {
    totals result{.environment = entry.name};
    parts.figures.begin_environment(entry.name, entry.description);
    const auto begin = clock::now();
    try {
        stretch(entry, parts, result).run(end);
    } catch (const interrupted&) {
        std::cout << entry.name << ": interrupted; the last round is not checked." << std::endl;
    } catch (const std::exception& problem) {
        result.failures.push_back(problem.what());
        std::cout << entry.name << ": " << problem.what() << std::endl;
    }
    result.time = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
    return result;
}

}  // namespace real::soak
