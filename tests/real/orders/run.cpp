// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "run.hpp"

#include "call_queue.hpp"
#include "nemesis.hpp"
#include "servers.hpp"
#include "worker_process.hpp"

#include <orders/layers.hpp>
#include <orders/outside.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace real::orders {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t worker_count = 12;
constexpr std::size_t sale_stripes = 10;

server_options servers_for(const run_options& options) {
    server_options result{
        .is_unique = shop::all_without(options.without).has(shop::layer::unique),
        .is_synchronous = options.is_synchronous,
        .items = static_cast<std::int64_t>(options.orders * 10)};  // also for orders made twice
    if (options.story != story::sale) return result;
    // The sale ends some orders before the last buyer.
    result.stripes = sale_stripes;
    result.items = static_cast<std::int64_t>(options.orders * 19 / 20 / sale_stripes);
    return result;
}

class order_run {
public:
    order_run(const run_options& options, const std::function<void(std::size_t)>& progress)
        : options_(options),
          progress_(progress),
          calls_(options.orders, {options.story, options.orders, options.seed}),
          server_options_(servers_for(options)),
          servers_(server_options_),
          nemesis_(servers_, {.orders = options.orders,
                              .seed = options.seed,
                              .loses_commits = !options.is_synchronous}),
          answers_(servers_.folder().file("answers")) {
        result_.options = options;
        for (std::size_t i = 0; i < worker_count; ++i)
            workers_.push_back(start_worker(i));
    }

    run_result execute() {
        const auto began = clock::now();
        while (!is_quiet()) {
            bool is_any = false;
            for (std::size_t i = 0; i < workers_.size(); ++i)
                is_any = serve(i) || is_any;
            if (std::ranges::none_of(workers_, &member::is_spared))
                nemesis_.advance(calls_.complete(), calls_.told());
            if (is_any) {
                last_news_ = clock::now();
                continue;
            }
            if (clock::now() - last_news_ > 5min) throw std::runtime_error(text_of_standstill());
            std::this_thread::sleep_for(1ms);  // between two looks
        }
        repair();
        for (auto& each : workers_)
            each.process.end();
        answers_.close();
        result_.rules = audit(
            options_.story,
            {.database = servers_.primary_url(),
             .outside_log = servers_.outside_log(),
             .answers = servers_.folder().file("answers"),
             .orders = options_.orders,
             .items = server_options_.items * static_cast<std::int64_t>(server_options_.stripes)});
        result_.nemeses = nemesis_.counts();
        result_.nemeses["answers of the outside dropped"] = unanswered();
        result_.time = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - began);
        return std::move(result_);
    }

private:
    struct member {
        worker_process process;
        std::string session;     // its name at the database
        bool is_dying = false;   // it was killed
        bool is_paused = false;  // by a planned fault
        // Until the end of a paused call nothing else strikes: without a layer each pause must do
        // its damage.
        bool is_spared = false;
        std::optional<clock::time_point> resume_at{};
        clock::time_point next_look{};
    };

    [[nodiscard]] member start_worker(std::size_t index) {
        ++started_;
        auto session = "worker-" + std::to_string(started_);
        const worker_options worker{.story = options_.story,
                                    .without = options_.without,
                                    .locks = servers_.lock_url(),
                                    .database = servers_.database_url(session),
                                    .outside = servers_.outside_port(),
                                    .stripes = server_options_.stripes,
                                    .number = started_};
        return {.process = {worker, nemesis_.clock_of(index)}, .session = std::move(session)};
    }

    [[nodiscard]] std::string text_of_standstill() {
        std::string text = "nothing has happened for five minutes; the workers' orders are";
        for (auto& each : workers_)
            if (const auto& call = each.process.call())
                text += " " + order_name(call->order) + (each.is_paused ? " (paused)" : "");
        return text;
    }

    [[nodiscard]] bool is_quiet() const {
        return calls_.is_over() && std::ranges::all_of(workers_, [](const auto& each) {
                   return each.process.is_idle();
               });
    }

    // True: something has happened.
    bool serve(std::size_t index) {
        auto& each = workers_[index];
        const bool is_alive = each.process.is_alive();
        bool is_any = false;
        for (;;) {
            const auto call = each.process.call();
            const auto news = each.process.look();
            if (!news.is_any) break;
            is_any = true;
            if (news.is_hit) on_hit(each, *call);
            if (news.answer) each.is_spared = false;
            if (news.answer && call) on_answer(*call, *news.answer);
        }
        if (!is_alive) {
            replace(index);
            return true;
        }
        let_go_on(each);
        return dispatch(each) || is_any;
    }

    bool dispatch(member& each) {
        if (!each.process.is_idle()) return false;
        const auto next = calls_.next(clock::now());
        if (!next) return false;
        each.process.begin(*next);
        ++result_.calls;
        disturb();
        return true;
    }

    void on_hit(member& each, const order_call& call) {
        const auto& fault = call.fault->kind();
        ++result_.hits.at(call.fault->index);
        if (fault.does == action::kill) each.is_dying = true;
        if (fault.does == action::pause) {
            if (!each.process.is_stopped()) each.process.stop();
            each.resume_at.reset();
            each.is_paused = true;
            each.is_spared = !options_.without.empty();
        }
        if (fault.does == action::empty_locks) {
            nemesis_.forget_locks();
            each.process.go_on();
        }
        calls_.on_hit(call);
    }

    void on_answer(const order_call& call, const call_answer& answer) {
        answers_ << order_name(call.order) << '\t' << answer.state << '\t' << answer.value << '\n';
        result_.vain += answer.vain;
        const bool is_final = answer.state != "error" && answer.state != "running";
        const bool is_done = answer.state == "done" || answer.state == "replayed";
        const auto before = calls_.complete();
        calls_.on_answer(call, is_final, is_done, clock::now());
        if (calls_.complete() != before) progress_(calls_.complete());
    }

    void let_go_on(member& each) {
        if (each.resume_at && clock::now() >= *each.resume_at) {
            each.process.resume();
            each.resume_at.reset();
        }
        if (!each.is_paused || !is_overtaken(each)) return;
        each.is_paused = false;
        each.process.resume();
        each.process.go_on();
    }

    // Another caller has carried the order out; or nobody is left to do it; or others wait in the
    // database for the paused transaction.
    [[nodiscard]] bool is_overtaken(member& each) {
        const auto order = each.process.call()->order;
        if (calls_.is_told(order) || calls_.is_last_call(order)) return true;
        if (clock::now() < each.next_look) return false;
        each.next_look = clock::now() + 50ms;
        return servers_.blocks_others(each.session);
    }

    void replace(std::size_t index) {
        if (!workers_[index].is_dying) throw std::runtime_error("a worker has ended by itself");
        const auto call = workers_[index].process.call();
        workers_[index] = start_worker(index);
        if (!call) return;
        const auto before = calls_.complete();
        calls_.on_death(*call);
        if (calls_.complete() != before) progress_(calls_.complete());
    }

    // Some workers are killed, and some are stopped for longer than the lease.
    void disturb() {
        if (result_.calls % 40 == 0)
            if (auto* victim = nemesis_victim()) {
                victim->process.kill();
                victim->is_dying = true;
                nemesis_.count("workers killed at any time");
            }
        if (result_.calls % 55 == 0)
            if (auto* victim = nemesis_victim()) {
                victim->process.stop();
                victim->resume_at = clock::now() + lease * 3 / 2;
                nemesis_.count("workers stopped at any time");
            }
    }

    [[nodiscard]] member* nemesis_victim() {
        auto& victim = workers_[nemesis_.pick(workers_.size())];
        const bool is_free = !victim.is_dying && !victim.is_paused && !victim.is_spared &&
                             !victim.resume_at && victim.process.is_alive();
        return is_free ? &victim : nullptr;
    }

    // Until nothing is unfinished. What a layer's absence has made may never be repaired: the night
    // ends, too, when some passes have changed nothing although no lease was running.
    void repair() {
        if (options_.story == story::sale) return;
        if (!shop::all_without(options_.without).has(shop::layer::reconciliation)) return;
        constexpr int most_useless_passes = 5;
        auto left = unfinished();
        for (int useless = 0; left > 0 && useless < most_useless_passes;) {
            const bool are_leases_over = running_leases() == 0;
            run_night();
            const auto before = std::exchange(left, unfinished());
            useless = left == before && are_leases_over ? useless + 1 : 0;
            std::this_thread::sleep_for(50ms);  // the back-off: leases end
        }
    }

    void run_night() {
        auto& night = workers_.front().process;
        night.begin_repair();
        while (!night.is_idle()) {
            if (!night.is_alive()) throw std::runtime_error("the nightly pass has ended");
            if (!night.look().is_any) std::this_thread::sleep_for(5ms);  // between two looks
        }
    }

    [[nodiscard]] std::int64_t unfinished() const {
        return servers_.number(
            "SELECT (SELECT count(*) FROM pawl_once WHERE state = 1) + "
            "(SELECT count(*) FROM orders WHERE state = 'new')");
    }
    [[nodiscard]] std::int64_t running_leases() const {
        return servers_.number(
            "SELECT count(*) FROM pawl_once WHERE state = 1 AND "
            "lease_until > extract(epoch FROM clock_timestamp()) * 1000000");
    }

    // The first effect of such a resource was not answered.
    [[nodiscard]] std::size_t unanswered() const {
        if (options_.story == story::sale) return 0;
        const std::string folder =
            options_.story == story::creation ? "/charges/" : "/verifications/";
        std::size_t count = 0;
        for (std::size_t i = 0; i < options_.orders; ++i)
            if (shop::is_unanswered(folder + order_name(i), outside_faults)) ++count;
        return count;
    }

    const run_options options_;
    const std::function<void(std::size_t)>& progress_;
    call_queue calls_;
    const server_options server_options_;
    order_servers servers_;
    nemesis nemesis_;
    std::vector<member> workers_;
    std::ofstream answers_;
    std::size_t started_ = 0;  // workers
    clock::time_point last_news_ = clock::now();
    run_result result_;
};

}  // namespace

std::size_t run_result::damage() const {
    return std::accumulate(rules.begin(), rules.end(), std::size_t{0},
                           [](std::size_t sum, const auto& each) { return sum + each.count; });
}

run_result run(const run_options& options, const std::function<void(std::size_t)>& progress) {
    return order_run(options, progress).execute();
}

}  // namespace real::orders
