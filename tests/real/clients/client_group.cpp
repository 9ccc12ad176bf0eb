// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "client_group.hpp"

#include <real/record/records.hpp>

#include <filesystem>
#include <thread>

namespace real {

using namespace std::chrono_literals;
using pawl::conformance::child;

client_group::client_group(const environment& servers, client_options common,
                           const group_options& group)
    : servers_(servers),
      common_(std::move(common)),
      lasting_(group.lasting),
      dice_(static_cast<std::minstd_rand::result_type>(group.seed)),
      next_fault_(clock::now() + 1s) {
    if (common_.outputs.empty()) common_.outputs = common_.folder;
    for (std::size_t i = 0; i < group.processes; ++i)
        members_.push_back(start(i));
}

client_group::member client_group::start(std::size_t index) {
    const auto number = started_++;
    auto client = common_;
    client.process = number;
    auto options = pawl::conformance::launch_as_helper(client_words(client));
    const auto machine = servers_.client_machine(index);
    options.arguments.insert(options.arguments.begin(), machine.launcher.begin(),
                             machine.launcher.end());
    options.output_file = common_.outputs + "/" + std::to_string(number) + ".output";
    return {.process = child(options), .number = number, .resume_at = {}};
}

void client_group::disturb() {
    const auto now = clock::now();
    for (member& each : members_)
        if (each.resume_at && now >= *each.resume_at) {
            each.process.resume();
            each.resume_at.reset();
        }
    if (now < next_fault_) return;
    next_fault_ = now + std::uniform_int_distribution<int>(300, 1500)(dice_) * 1ms;
    const auto index = dice_() % members_.size();
    member& victim = members_[index];
    if (victim.resume_at) return;
    if (dice_() % 4 == 0 && index >= lasting_) {
        victim.process.kill_and_reap();
        victim = start(index);
        ++kills_;
    } else {
        stop(victim);
    }
}

// For less or for more than the shorter ttl of 1 s.
void client_group::stop(member& victim) {
    victim.process.stop();
    if (is_resource_busy()) return victim.process.resume();
    victim.resume_at = clock::now() + std::uniform_int_distribution<int>(50, 3000)(dice_) * 1ms;
    ++pauses_;
}

bool client_group::is_resource_busy() const {
    std::this_thread::sleep_for(2ms);  // the accesses of the other processes end
    for (std::size_t i = 0; i < common_.locks; ++i)
        if (resource::is_busy(resource_path(common_.folder, i))) return true;
    return false;
}

std::string client_group::end_round(const std::string& next_folder) {
    common_.folder = next_folder;
    for (member& each : members_) {
        if (each.resume_at) each.process.resume();
        each.resume_at.reset();
        each.process.send(next_folder);
    }
    for (member& each : members_) {
        const auto limit = clock::now() + 60s;
        while (!has_journal(each.number)) {
            if (const auto status = each.process.wait(2ms)) return text_of_end(*status);
            if (clock::now() >= limit) return "A client process does not end its round.";
        }
    }
    return {};
}

void client_group::begin_round() {
    for (member& each : members_)
        each.process.send("go");
}

bool client_group::has_journal(std::size_t number) const {
    return std::filesystem::exists(journal_path(common_.folder, number));
}

std::vector<process_figures> client_group::lasting_figures() const {
    std::vector<process_figures> all;
    for (std::size_t i = 0; i < lasting_; ++i)
        all.push_back(figures_of(members_[i].process.pid()).value_or(process_figures()));
    return all;
}

std::string client_group::text_of_end(int status) const {
    return "A client process ended with the wait status " + std::to_string(status) + "; " +
           common_.outputs + " has its output.";
}

std::string client_group::finish() {
    std::string problems;
    for (member& each : members_) {
        each.process.resume();
        each.process.close_input();
    }
    for (member& each : members_) {
        const auto status = each.process.wait(60s);
        if (!status)
            problems = "A client process does not end.";
        else if (*status != 0)
            problems = text_of_end(*status);
    }
    return problems;
}

}  // namespace real
