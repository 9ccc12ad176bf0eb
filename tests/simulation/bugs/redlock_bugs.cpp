// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_bugs.hpp"

#include "../server/replies.hpp"
#include "forwarding_backend.hpp"
#include "forwarding_link.hpp"
#include "redlock_answer_bugs.hpp"

#include <redlock_scripts.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

using redis::reply;
namespace scripts = redlock::scripts;

struct replacement {
    redlock_bug bug;
    // Null: of a part, and so in every script that includes it.
    const redis::script* script;
    std::string_view wanted, by;
};

constexpr replacement replacements[] = {
    {redlock_bug::counter_from_zero, nullptr,  //
     R"(redis.call("GET", fence) or highest_before or 0)", R"(redis.call("GET", fence) or 0)"},
    {redlock_bug::counters_of_earlier_run, nullptr,  //
     "return math.max(value, member[6] or 0)", "return value"},
    {redlock_bug::highest_not_raised, nullptr,  //
     "if member[3] and tonumber(member[3]) < token then", "if false then"},
    {redlock_bug::restart_not_noticed, nullptr,  //
     "if member[1] ~= run or not member[3] then", "if not member[3] then"},
    {redlock_bug::restart_not_noticed, &scripts::prepare,  //
     "if member[1] ~= ARGV[1] then", "if not member[1] then"},
    {redlock_bug::restart_not_noticed, &scripts::standing,  //
     "if member[1] ~= ARGV[1] or not member[3] then", "if not member[3] then"},
    {redlock_bug::joins_with_low_floor, &scripts::install,  //
     R"("highest", ARGV[6], "joined", ARGV[6])",
     R"("highest", ARGV[8] == "" and "1" or ARGV[6], "joined", ARGV[8] == "" and "1" or ARGV[6])"},
    {redlock_bug::votes_without_quarantine, &scripts::install,  //
     R"(if ARGV[7] ~= "0" then)", "if false then"},
    {redlock_bug::acquires_beside_holder, &scripts::acquire,  //
     "if longest ~= -2 then", "if false then"},
    {redlock_bug::deletes_any_lock, &scripts::release,  //
     R"(type(stored) == "string" and string.sub(stored, 1, #value + 1) == value .. ";")",
     R"(type(stored) == "string")"},
    {redlock_bug::locks_without_expiry, &scripts::acquire,  //
     R"(";" .. text, "PX", ARGV[3])", R"(";" .. text)"},
    {redlock_bug::release_wakes_nobody, &scripts::release,  //
     "wake_next(KEYS[3 * i + 2], ARGV[4], ARGV[3 * i + 4])", ""},
    {redlock_bug::barrier_below_counters, &scripts::counter,  //
     "text_of(counter(KEYS[4]))", R"("1")"},
    {redlock_bug::barrier_not_raised, &scripts::barrier,  //
     "raise(k.fence, limit, ARGV[3])", ""},
    {redlock_bug::reads_beside_writer, &scripts::read_acquire,  //
     R"(if state == "writer" or tonumber(kept_out_until) > now then)", "if false then"},
    {redlock_bug::writer_renews_over_readers, &scripts::renew,  //
     "elseif not stored then",
     R"(elseif not stored or string.sub(stored, 1, 12) == "pawl:readers" then)"},
    {redlock_bug::readers_end_with_first, nullptr,  //
     R"(redis.call("ZREVRANGE", k.holders, 0, 0, "WITHSCORES")[2])",
     R"(redis.call("ZRANGE", k.holders, 0, 0, "WITHSCORES")[2])"},
    {redlock_bug::reader_confirmed_unseen, &scripts::read_confirm,  //
     "or present ~= tonumber(ARGV[6])", ""},
    {redlock_bug::reader_renewed_after_writer, &scripts::read_renew,  //
     "elseif counter(k.fence) > token then", "elseif false then"},
    {redlock_bug::release_ends_all_readers, nullptr,  //
     R"(if redis.call("EXISTS", k.holders) == 1 then)", "if false then"},
    {redlock_bug::reader_takes_old_counter, &scripts::read_acquire,  //
     R"(state == "free" and next_counter(k.fence, ARGV[7]) or counter(k.fence))",
     "counter(k.fence)"},
    {redlock_bug::forced_release_spares_readers, &scripts::barrier,  //
     R"(if state == "readers" then)", R"(if false then)"},
    {redlock_bug::floor_ignored, nullptr,  //
     "return math.max(counter(fence), math.min(floor, latest) - 1) + 1",
     "return counter(fence) + 1"},
    {redlock_bug::other_set_taken_for_loss, nullptr,  //
     R"(return {"set"})", R"(return {"amnesia"})"},
    {redlock_bug::other_set_taken_for_loss, nullptr,  //
     "return member[2] and member[2] ~= set", "return false"},
    {redlock_bug::late_renewals_extend, &scripts::renew,  //
     R"(if not_after ~= "" and now > tonumber(not_after) then)", "if false then"},
    {redlock_bug::late_renewals_extend, &scripts::read_renew,  //
     R"(if not_after ~= "" and now > tonumber(not_after) then)", "if false then"},
    {redlock_bug::successor_not_noticed, nullptr,  //
     R"(return type(value) == "string" and (tonumber(value) or 0) > tonumber(token))",
     "return false"},
};

std::logic_error misfit(const replacement& each) {
    return std::logic_error("an injected bug does not fit its script: '" +
                            std::string(each.wanted) + "'");
}

bool replace(const replacement& each, std::string& text) {
    const auto place = text.find(each.wanted);
    if (place == text.npos) return false;
    text.replace(place, each.wanted.size(), each.by);
    return true;
}

class faulty_link final : public forwarding_link {
public:
    faulty_link(redlock_bug bug, std::shared_ptr<redis::link> actual)
        : forwarding_link(std::move(actual)), bug_(bug) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> words, time_point give_up_at,
                                redis::prelude before) override {
        switch (bug_) {
        case redlock_bug::never_confirms:
            if (is_call_of(words, scripts::confirm)) return answer_with(confirmation_);
            if (is_call_of(words, scripts::acquire)) return acquire(words, give_up_at, before);
            break;
        case redlock_bug::undoes_grants:
            if (is_call_of(words, scripts::confirm)) return confirm(words, give_up_at, before);
            break;
        case redlock_bug::reuses_owners: return exec_as_one_owner(words, give_up_at, before);
        case redlock_bug::counts_answers_of_rounds:
        case redlock_bug::takes_silence_for_consent:
            if (is_call_of(words, scripts::renew)) return renew(words, give_up_at, before);
            break;
        case redlock_bug::begins_from_zero:
            if (words.front() == "TIME")
                return answer_with(array_reply({string_reply("0"), string_reply("0")}));
            break;
        default: break;
        }
        return actual_->exec(words, give_up_at, before);
    }

private:
    static asio::awaitable<reply> answer_with(reply answer) { co_return answer; }

    // A release or a renewal has a result for each lock.
    static reply results(std::span<const std::string_view> words, std::int64_t result) {
        const auto count = (key_count(words) - 2) / 3;
        return array_reply(std::vector<reply>(count, integer_reply(result)));
    }

    // Remembers the membership of the node for `confirmation_`.
    asio::awaitable<reply> acquire(std::span<const std::string_view> words, time_point give_up_at,
                                   redis::prelude before) {
        auto answer = co_await actual_->exec(words, give_up_at, before);
        if (answer.items.size() >= 4 && answer.items.front().number == 1)
            confirmation_ = array_reply({integer_reply(1), answer.items[1], answer.items[2]});
        co_return answer;
    }

    // After the confirmation, what the attempt was granted is given back. The tokens stay.
    asio::awaitable<reply> confirm(std::span<const std::string_view> words, time_point give_up_at,
                                   redis::prelude before) {
        const std::string lock(words[5]);
        auto answer = co_await actual_->exec(words, give_up_at, before);
        const std::vector<std::string_view> undo{"DEL", lock};
        static_cast<void>(co_await actual_->exec(undo, give_up_at, before));
        co_return answer;
    }

    asio::awaitable<reply> renew(std::span<const std::string_view> words, time_point give_up_at,
                                 redis::prelude before) {
        const std::string keys(words[3 + 2]);
        auto consent = array_reply({integer_reply(1), results(words, 1), string_reply("1"),
                                    string_reply(""), string_reply(""), integer_reply(0)});
        const auto last = last_answers_.find(keys);
        const bool repeats = bug_ == redlock_bug::counts_answers_of_rounds &&
                             last != last_answers_.end() && ++repetitions_ % 6 != 0 &&
                             last->second.items[1].items.size() == consent.items[1].items.size();
        if (repeats) co_return last->second;
        // Consent counts only before the deadline.
        if (bug_ == redlock_bug::takes_silence_for_consent)
            give_up_at -= std::chrono::milliseconds(200);
        try {
            auto answer = co_await actual_->exec(words, give_up_at, before);
            if (answer.items.size() == 6) last_answers_[keys] = answer;
            co_return answer;
        } catch (const error&) {
            if (bug_ != redlock_bug::takes_silence_for_consent) throw;
        }
        // The membership in the last answer is the node's own.
        const bool is_known = last != last_answers_.end() &&
                              last->second.items[1].items.size() == consent.items[1].items.size();
        if (is_known) consent = last->second;
        consent.items[1] = results(words, 1);
        co_return consent;
    }

    // Whatever begins with an owner, which has 32 hex digits.
    asio::awaitable<reply> exec_as_one_owner(std::span<const std::string_view> words,
                                             time_point give_up_at, redis::prelude before) {
        std::vector<std::string> changed(words.begin(), words.end());
        for (auto& each : changed) {
            const auto end = each.find(';');
            if (end != 32) continue;
            // OWNER;CLIENT;…;SINCE, and in a confirmation the counter.
            const auto client = each.substr(33, 16);
            each = client + client + each.substr(32);
            const auto since = each.find(";17", 50);
            if (since != each.npos) each.replace(since + 1, 13, "1700000000000");
        }
        const std::vector<std::string_view> views(changed.begin(), changed.end());
        co_return co_await actual_->exec(views, give_up_at, before);
    }

    const redlock_bug bug_;
    reply confirmation_;
    std::map<std::string, reply> last_answers_;  // to renewals, by the first lock
    unsigned repetitions_ = 0;
};

class faulty_backend final : public forwarding_backend {
public:
    faulty_backend(redlock_bug bug, std::unique_ptr<backend> actual, const backend_context& context)
        : forwarding_backend(std::move(actual)), bug_(bug), time_(*context.time) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        auto granted = co_await actual_->acquire(requested, give_up_at);
        if (granted && bug_ == redlock_bug::validity_from_reply)
            granted->deadline = time_.now() + requested.ttl - drift(requested.ttl);
        co_return granted;
    }
    asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                      time_point give_up_at) override {
        auto granted = co_await actual_->acquire_batch(claims, give_up_at);
        if (bug_ != redlock_bug::one_token_for_several || granted.empty()) co_return granted;
        const auto largest = std::ranges::max(granted, {}, &grant::token).token;
        for (auto& each : granted)
            each.token = largest;
        co_return granted;
    }
    asio::awaitable<void> renew(renewal_batch& batch) override {
        if (bug_ != redlock_bug::validity_from_reply) {
            co_await actual_->renew(batch);
            co_return;
        }
        const auto requested = batch.renewals();
        renewal_batch correct(std::vector<renewal>(requested.begin(), requested.end()));
        co_await actual_->renew(correct);
        for (std::size_t i = 0; i < requested.size(); ++i) {
            const auto& settled = correct.renewals()[i];
            batch.settle(i, settled.result, time_.now() + settled.ttl - drift(settled.ttl));
        }
    }
    asio::awaitable<release_result> release(const hold& held) override {
        const auto result = co_await actual_->release(held);
        const bool had_ended =
            result == release_result::expired || result == release_result::taken_over;
        const bool hides_loss = had_ended && bug_ == redlock_bug::loss_at_release_untold;
        co_return hides_loss ? release_result::unknown : result;
    }
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        return actual_->force_release(
            name, bug_ == redlock_bug::force_ignores_token ? fencing_token() : expected);
    }

private:
    const redlock_bug bug_;
    runtime& time_;
};

}  // namespace

std::string inject_redlock_bug(redlock_bug bug, const std::string& script) {
    auto text = script;
    for (const auto& each : replacements) {
        if (each.bug != bug || (each.script != nullptr && each.script->text != script)) continue;
        if (!replace(each, text) && each.script != nullptr) throw misfit(each);
    }
    return text;
}

void check_redlock_bugs() {
    for (const auto& each : replacements) {
        const bool fits = std::ranges::any_of(scripts::all, [&](const redis::script& script) {
            std::string text(script.text);
            return (each.script == nullptr || each.script->text == text) && replace(each, text);
        });
        if (!fits) throw misfit(each);
    }
}

std::shared_ptr<redis::link> inject_link_bug(redlock_bug bug, std::shared_ptr<redis::link> into,
                                             runtime& time) {
    if (is_in_answers(bug)) return inject_answer_bug(bug, std::move(into), time);
    return std::make_shared<faulty_link>(bug, std::move(into));
}

bool is_heard(redlock_bug bug, std::string_view payload) {
    return bug != redlock_bug::drops_wakes || !payload.starts_with("wake ");
}

std::unique_ptr<backend> inject_backend_bug(redlock_bug bug, std::unique_ptr<backend> into,
                                            const backend_context& context) {
    static constexpr std::array bugs{
        redlock_bug::validity_from_reply, redlock_bug::one_token_for_several,
        redlock_bug::loss_at_release_untold, redlock_bug::force_ignores_token};
    if (std::ranges::count(bugs, bug) == 0) return into;
    return std::make_unique<faulty_backend>(bug, std::move(into), context);
}

}  // namespace pawl::simulation
