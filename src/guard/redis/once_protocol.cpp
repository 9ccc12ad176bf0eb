// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_protocol.hpp"

#include "refusals.hpp"

#include <guard/once_outcome.hpp>
#include <pawl/error.hpp>

#include <utility>

namespace pawl::guard::redis {

once_protocol::once_protocol(const once_key& operation, const once_options& options,
                             std::stop_token lost)
    : operation_(operation),
      options_(options),
      lost_(std::move(lost)),
      keys_(operation.scope, operation.key),
      calls_(operation, options),
      machine_(options, spi::real_runtime()) {}

script_call once_protocol::step_call() {
    if (machine_.next() == once_machine::step::claim) return calls_.claim(machine_.begin_claim());
    if (machine_.next() == once_machine::step::exhaust) return calls_.exhaust(machine_.token());
    return look_call();
}

void once_protocol::on_step(const redis_reply& reply) {
    if (machine_.next() == once_machine::step::claim)
        machine_.on_grant(calls_.read_grant(reply));
    else if (machine_.next() == once_machine::step::exhaust)
        machine_.on_exhausted();
    else
        machine_.on_record(calls_.read_record(reply));
}

std::optional<once_result> once_protocol::replay(const redis_reply& reply) {
    return machine_.replay_of(calls_.read_record(reply));
}

attempt once_protocol::current() const { return machine_.attempt_of(operation_, lost_); }

script_call once_protocol::final_call(record_state state, const std::string& text) {
    return finish_call(keys_, machine_.token(), state, stored_result(text, options_),
                       options_.keep);
}

script_call once_protocol::give_up(duration pause) {
    return redis::give_up_call(keys_, machine_.token(), pause);
}

script_call once_protocol::end_call(const redis_outcome& answer) {
    const auto* called = std::get_if<effect_call>(&answer);
    if (called == nullptr) {
        const auto* refusal = std::get_if<rejected>(&answer);
        return end_call(refusal != nullptr ? outcome(*refusal)
                                           : outcome(std::get<retry_after>(answer)));
    }
    if (called->effect == nullptr)
        throw error(errc::bad_option, keys_.record +
                                          ": the work returned a call without an "
                                          "effect; call a redis_effect.");
    ending_ = *called;
    is_ending_ = true;
    const auto& base = called->effect->base();
    effect_ = {.name = "effect", .text = base.text, .sha1 = base.sha1};
    return calls_.effect(effect_, machine_.token(), *called);
}

script_call once_protocol::end_call(const outcome& answer) {
    std::visit([this](const auto& each) { ending_ = each; }, answer);
    is_ending_ = true;
    if (const auto* later = std::get_if<retry_after>(&answer)) return give_up(later->pause);
    if (const auto* refusal = std::get_if<rejected>(&answer))
        return final_call(record_state::failed, refusal->why);
    return final_call(record_state::done, std::get<std::string>(answer));
}

void once_protocol::on_effect(const redis_reply& reply) {
    if (reply.type == redis_reply::kind::nil) return machine_.on_taken_over();
    if (reply.items.size() != 2) throw_unexpected(keys_.record, "the script once_effect");
    const std::string& text = reply.items[1].text;
    if (reply.items[0].text == "failed") return machine_.on_rejected(text);
    machine_.on_done(text, is_stored(text, options_));
}

void once_protocol::on_end(const redis_reply& reply) {
    is_ending_ = false;
    if (std::holds_alternative<effect_call>(ending_)) return on_effect(reply);
    if (const auto* later = std::get_if<retry_after>(&ending_))
        return machine_.on_given_up(later->pause);
    if (!is_changed(reply, keys_.record)) return machine_.on_taken_over();
    if (const auto* refusal = std::get_if<rejected>(&ending_))
        return machine_.on_rejected(refusal->why, is_stored(refusal->why, options_));
    const auto& text = std::get<std::string>(ending_);
    machine_.on_done(text, is_stored(text, options_));
}

script_call once_protocol::failure_call() const {
    return redis::give_up_call(keys_, machine_.token(), {});
}

// The end whose answer was lost may have been carried out; a look tells.
bool once_protocol::on_failure(const redis_reply& reply) {
    const bool may_have_ended = std::exchange(is_ending_, false);
    if (is_changed(reply, keys_.record) || !may_have_ended) return true;
    machine_.on_taken_over();
    return false;
}

script_call finish_call(const attempt& claimed, const outcome& answer,
                        const once_options& options) {
    check_once({claimed.key(), {}, claimed.scope()}, options, false);
    const once_keys keys(claimed.scope(), claimed.key());
    const auto token = token_of(claimed);
    if (const auto* later = std::get_if<retry_after>(&answer))
        return give_up_call(keys, token, later->pause);
    if (const auto* refusal = std::get_if<rejected>(&answer))
        return finish_call(keys, token, record_state::failed, stored_result(refusal->why, options),
                           options.keep);
    return finish_call(keys, token, record_state::done,
                       stored_result(std::get<std::string>(answer), options), options.keep);
}

script_call give_up_call(const attempt& claimed, duration pause) {
    return give_up_call(once_keys(claimed.scope(), claimed.key()), token_of(claimed), pause);
}

}  // namespace pawl::guard::redis
