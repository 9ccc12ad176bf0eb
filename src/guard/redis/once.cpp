// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_protocol.hpp"

#include <guard/guarded.hpp>
#include <guard/pause.hpp>

#include <utility>

namespace pawl::guard {
namespace {

class redis_once_runner {
public:
    redis_once_runner(redis_connection& server, const once_key& operation,
                      const once_options& options, std::stop_token cancel,
                      std::stop_token lost = {})
        : server_(server),
          cancel_(std::move(cancel)),
          protocol_(operation, options, std::move(lost)) {}

    template <class Work>
    once_result run(const Work& work) {
        while (advance_to_work()) {
            try {
                protocol_.on_end(send(protocol_.end_call(work(protocol_.current()))));
            } catch (...) {
                if (is_final_failure()) throw;
            }
        }
        return std::move(machine().result());
    }
    std::optional<once_result> replay() { return protocol_.replay(send(protocol_.look_call())); }
    once_claim claim() {
        if (advance_to_work()) return {.attempt = protocol_.current()};
        return {.known = std::move(machine().result())};
    }

private:
    using step = once_machine::step;

    once_machine& machine() { return protocol_.machine(); }
    redis_reply send(const redis::script_call& call) { return redis::run(server_, call); }
    // False: the operation has ended.
    bool advance_to_work() {
        while (machine().next() != step::work && machine().next() != step::end) {
            if (machine().next() == step::pause) {
                pause_for(machine().pause_time(), cancel_);
                machine().on_pause_over();
            } else {
                protocol_.on_step(send(protocol_.step_call()));
            }
        }
        return machine().next() == step::work;
    }
    bool is_final_failure() {
        try {
            return protocol_.on_failure(send(protocol_.failure_call()));
        } catch (...) {  // the claim ends with its lease
            return true;
        }
    }

    redis_connection& server_;
    const std::stop_token cancel_;
    redis::once_protocol protocol_;
};

template <class Work>
once_result run_guarded_once(blocking::client& locks, redis_connection& server,
                             std::string_view name, const once_key& operation,
                             const once_options& options, const Work& work,
                             const std::stop_token& cancel) {
    redis::check_layers(options);
    const auto give_up_at = end_of_wait(options, spi::real_runtime());
    if (auto known = redis_once_runner(server, operation, options, cancel).replay())
        return *std::move(known);
    const auto lock = acquire_in_front(locks, name, options, cancel);
    if (!lock) return busy_result(options);
    const auto lost = *lock ? lock->lost() : std::stop_token();
    const auto rest = with_rest_of_wait(options, give_up_at);
    return redis_once_runner(server, operation, rest, cancel, lost).run(work);
}

}  // namespace

once_result once(redis_connection& server, const once_key& operation, const once_options& options,
                 const redis_once_work& work, std::stop_token cancel) {
    return redis_once_runner(server, operation, options, std::move(cancel)).run(work);
}

once_result at_least_once(redis_connection& server, const once_key& operation,
                          const once_options& options, const once_work& work,
                          std::stop_token cancel) {
    return redis_once_runner(server, operation, options, std::move(cancel)).run(work);
}

once_result guarded_once(blocking::client& locks, redis_connection& server, std::string_view name,
                         const once_key& operation, const once_options& options,
                         const redis_once_work& work, std::stop_token cancel) {
    return run_guarded_once(locks, server, name, operation, options, work, cancel);
}

once_result guarded_at_least_once(blocking::client& locks, redis_connection& server,
                                  std::string_view name, const once_key& operation,
                                  const once_options& options, const once_work& work,
                                  std::stop_token cancel) {
    return run_guarded_once(locks, server, name, operation, options, work, cancel);
}

once_claim claim(redis_connection& server, const once_key& operation, const once_options& options,
                 std::stop_token cancel) {
    return redis_once_runner(server, operation, options, std::move(cancel)).claim();
}

bool finish(redis_connection& server, const attempt& claimed, const outcome& result,
            const once_options& options) {
    const auto call = redis::finish_call(claimed, result, options);
    return redis::is_changed(redis::run(server, call), call.subject());
}

bool give_up(redis_connection& server, const attempt& claimed, duration pause) {
    const auto call = redis::give_up_call(claimed, pause);
    return redis::is_changed(redis::run(server, call), call.subject());
}

}  // namespace pawl::guard
