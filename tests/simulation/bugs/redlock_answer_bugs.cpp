// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_answer_bugs.hpp"

#include "../server/replies.hpp"
#include "forwarding_link.hpp"

#include <redlock_scripts.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

using redis::reply;
namespace scripts = redlock::scripts;
using words_view = std::span<const std::string_view>;

// Above that of every memory, and in range.
constexpr std::string_view latest_incarnation = "1000000000";

enum class request : std::uint8_t { other, acquire, confirmation, renewal, standing, preparation };

request request_of(words_view words) {
    const auto is_one_of = [&](const redis::script& one, const redis::script& other) {
        return is_call_of(words, one) || is_call_of(words, other);
    };
    if (is_one_of(scripts::acquire, scripts::read_acquire)) return request::acquire;
    if (is_one_of(scripts::confirm, scripts::read_confirm)) return request::confirmation;
    if (is_one_of(scripts::renew, scripts::read_renew)) return request::renewal;
    if (is_call_of(words, scripts::standing)) return request::standing;
    return is_call_of(words, scripts::prepare) ? request::preparation : request::other;
}

bool begins_with(const reply& answer, std::int64_t number) {
    return answer.items.size() >= 3 && answer.items.front().type == reply::kind::integer &&
           answer.items.front().number == number;
}

// A client raised the memory with which it spoke to the latest one that it had heard of.
void raise_memory(request asked, reply& answer) {
    if (!begins_with(answer, 1) && asked != request::renewal) return;
    auto& items = answer.items;
    const auto latest = string_reply(std::string(latest_incarnation));
    switch (asked) {
    case request::acquire:
    case request::confirmation: items[1] = latest; return;
    case request::renewal:
        if (items.size() == 6) items[2] = latest;
        return;
    case request::standing:
    case request::preparation:
        // A new set shows its first incarnation.
        if (items.size() == 9 && items[5].number < 0) items[2] = latest;
        return;
    default: return;
    }
}

// All refusals name the same holder.
void name_one_holder(request asked, reply& answer) {
    if (asked != request::acquire || !begins_with(answer, 0)) return;
    for (std::size_t i = 2; i < answer.items.size(); ++i)
        answer.items[i] = string_reply("somebody");
}

// ARGV of a renewal: four words, then value and token of the first hold.
duration ttl_of_renewal(words_view words) {
    return std::chrono::milliseconds(std::stoll(std::string(words[3 + key_count(words) + 6])));
}

class changing_link final : public forwarding_link {
public:
    changing_link(redlock_bug bug, std::shared_ptr<redis::link> actual, runtime& time)
        : forwarding_link(std::move(actual)), bug_(bug), time_(time) {}

    asio::awaitable<reply> exec(words_view words, time_point give_up_at,
                                redis::prelude before) override {
        if (bug_ == redlock_bug::silence_taken_for_loss)
            return judge_silence(words, give_up_at, before);
        if (bug_ == redlock_bug::renewal_cut_short && request_of(words) == request::renewal)
            give_up_at = std::min(give_up_at, time_.now() + ttl_of_renewal(words) / 10);
        return change(words, give_up_at, before);
    }

private:
    asio::awaitable<reply> change(words_view words, time_point give_up_at, redis::prelude before) {
        const auto asked = request_of(words);
        auto answer = co_await actual_->exec(words, give_up_at, before);
        if (bug_ == redlock_bug::split_called_taken)
            name_one_holder(asked, answer);
        else if (bug_ != redlock_bug::renewal_cut_short)
            raise_memory(asked, answer);
        co_return answer;
    }
    asio::awaitable<reply> judge_silence(words_view words, time_point give_up_at,
                                         redis::prelude before) {
        const auto asked = request_of(words);
        try {
            auto answer = co_await actual_->exec(words, give_up_at, before);
            co_return answer;
        } catch (const error&) {
            if (asked != request::standing && asked != request::preparation) throw;
        }
        std::vector<reply> none{integer_reply(0)};
        if (asked == request::preparation)
            none.insert(none.end(), {string_reply("lost"), string_reply("0")});
        co_return array_reply(std::move(none));
    }

    const redlock_bug bug_;
    runtime& time_;
};

}  // namespace

bool is_in_answers(redlock_bug bug) noexcept {
    static constexpr std::array bugs{
        redlock_bug::memory_raised, redlock_bug::memory_raised_at_masters,
        redlock_bug::split_called_taken, redlock_bug::renewal_cut_short,
        redlock_bug::silence_taken_for_loss};
    return std::ranges::count(bugs, bug) > 0;
}

std::shared_ptr<redis::link> inject_answer_bug(redlock_bug bug, std::shared_ptr<redis::link> into,
                                               runtime& time) {
    return std::make_shared<changing_link>(bug, std::move(into), time);
}

std::size_t key_count(words_view words) { return std::stoul(std::string(words[2])); }

}  // namespace pawl::simulation
