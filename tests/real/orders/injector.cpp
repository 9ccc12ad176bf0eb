// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "injector.hpp"

#include <pawl/guard/fencing_header.hpp>

#include <csignal>
#include <string_view>

namespace real::orders {

namespace {

namespace guard = pawl::guard;

bool is_claim(std::string_view text) { return text.starts_with("INSERT INTO pawl_once"); }
bool is_finish(std::string_view text) { return text.starts_with("UPDATE pawl_once SET state"); }
bool is_look(std::string_view text) {
    return text.starts_with("SELECT state, token") &&
           text.find("FROM pawl_once") != std::string_view::npos;
}

}  // namespace

void fault_injector::arm(std::optional<planned_fault> planned) {
    planned_ = planned;
    step_ = 1;
}

bool fault_injector::is_due(moment at) const noexcept {
    return planned_ && planned_->kind().at == at && planned_->step == step_;
}

void fault_injector::reach(moment at) {
    if (!is_due(at)) return;
    const auto does = planned_->kind().does;
    if (does == action::lose_answer || does == action::lose_request) return;
    planned_.reset();
    announce_();
    if (does == action::kill) ::raise(SIGKILL);
    wait_();
}

const char* fault_injector::mark_of_commit() {
    if (!is_due(moment::before_commit)) return "";
    const auto does = planned_->kind().does;
    planned_.reset();
    announce_();
    return does == action::lose_answer ? lost_answer_mark : lost_request_mark;
}

guard::rows injected_connection::execute(const guard::statement& to_run) {
    const std::string_view text = to_run.text;
    const bool is_first = is_begun_ && text != "ROLLBACK";
    is_begun_ = text == "BEGIN";
    if (is_first) faults_.reach(moment::before_effect);
    if (is_claim(text)) faults_.reach(moment::before_claim);
    if (is_finish(text)) faults_.reach(moment::after_effect);
    if (text == "COMMIT" || (is_finish(text) && !in_transaction())) return commit(to_run);
    auto answer = target_.execute(to_run);
    count(to_run, answer);
    if (is_claim(text)) faults_.reach(moment::after_claim);
    return answer;
}

// The transaction of a sale has no record's end: its effect is followed by the commit.
guard::rows injected_connection::commit(const guard::statement& to_run) {
    faults_.reach(moment::after_effect);
    faults_.reach(moment::before_commit);
    auto marked = to_run;
    marked.text += faults_.mark_of_commit();
    auto answer = target_.execute(marked);
    faults_.reach(moment::after_commit);
    faults_.end_step();
    return answer;
}

void injected_connection::count(const guard::statement& ran, const guard::rows& answer) {
    if (is_claim(ran.text) && answer.values.empty()) ++vain_.refused;
    if (is_look(ran.text) && !answer.values.empty() &&
        guard::as_number(answer.values.front().front()) == 1)
        ++vain_.polls;
}

shop::answer marking_partner::post(const std::string& path, const std::string& body,
                                   const shop::header_list& headers) {
    return target_.post(
        path, body + " #" + prefix_ + "." + std::to_string(++count_) + " token=" + token_, headers);
}

shop::answer injected_partner::post(const std::string& path, const std::string& body,
                                    const shop::header_list& headers) {
    std::string token = "0";
    for (const auto& [name, content] : headers)
        if (name == guard::fencing_token_field)
            if (const auto parsed = guard::parse_fencing_token(content))
                token = std::to_string(parsed->value());
    marking_.set_token(token);
    faults_.reach(moment::before_effect);
    auto answer = target_.post(path, body, headers);
    faults_.reach(moment::after_effect);
    return answer;
}

}  // namespace real::orders
