// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The protocol of `once` over records in Redis, without I/O: the machine's steps as calls of
// scripts. A driver runs the calls, the pauses and the work.
#pragma once

#include <guard/once_machine.hpp>
#include "once_calls.hpp"

#include <pawl/guard/redis_once.hpp>

#include <optional>
#include <stop_token>
#include <string>
#include <variant>

namespace pawl::guard::redis {

class once_protocol {
public:
    // `lost` is the attempt's.
    once_protocol(const once_key& operation, const once_options& options,
                  std::stop_token lost = {});

    [[nodiscard]] once_machine& machine() noexcept { return machine_; }
    [[nodiscard]] script_call look_call() { return calls_.look(machine_.claim_id()); }
    // The call of the steps look, claim and exhaust; and the meaning of its reply.
    [[nodiscard]] script_call step_call();
    void on_step(const redis_reply& reply);
    // The reply to a look: the result of an operation that has ended; nothing for the others.
    [[nodiscard]] std::optional<once_result> replay(const redis_reply& reply);

    [[nodiscard]] attempt current() const;
    // The call for the work's answer, and the meaning of its reply. The effect must outlive it.
    [[nodiscard]] script_call end_call(const redis_outcome& answer);
    [[nodiscard]] script_call end_call(const outcome& answer);
    void on_end(const redis_reply& reply);
    // After a failure of the work or of its end; true: the failure passes.
    [[nodiscard]] script_call failure_call() const;
    [[nodiscard]] bool on_failure(const redis_reply& reply);

private:
    [[nodiscard]] script_call final_call(record_state state, const std::string& text);
    [[nodiscard]] script_call give_up(duration pause);
    void on_effect(const redis_reply& reply);

    const once_key operation_;
    const once_options options_;
    const std::stop_token lost_;
    const once_keys keys_;
    once_calls calls_;
    once_machine machine_;
    script effect_{};         // of the present call
    bool is_ending_ = false;  // an end was sent, and its answer may be lost
    // What the present end will be.
    std::variant<effect_call, std::string, rejected, retry_after> ending_{};
};

// For the steps by hand: what `finish` sends.
[[nodiscard]] script_call finish_call(const attempt& claimed, const outcome& answer,
                                      const once_options& options);
[[nodiscard]] script_call give_up_call(const attempt& claimed, duration pause);

}  // namespace pawl::guard::redis
