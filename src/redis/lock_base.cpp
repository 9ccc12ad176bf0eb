#include "lock_base.hpp"

#include "options.hpp"
#include "server_errors.hpp"

#include "../core/alarm.hpp"
#include "../core/chance.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

lock_base::lock_base(const options& where, backend_context context, const link_factory& connect,
                     const std::string& channel, const limits& bounds)
    : where_(where),
      context_(std::move(context)),
      bounds_(bounds),
      link_(connect(*this, channel)),
      scripts_(*link_),
      undos_(std::make_shared<undo_queue>(*link_, context_, bounds_)),
      tick_(*context_.time, context_.strand) {
    tick_.prepare();
}

asio::awaitable<void> lock_base::connect(time_point give_up_at) {
    const std::array<std::string_view, 1> ping{"PING"};
    while (!link_->connected())
        co_await link_->exec(ping, give_up_at);
}

asio::awaitable<void> lock_base::pause(duration at_least, duration at_most) {
    core::alarm timer(time(), context_.strand);
    co_await timer.wait_until(now() + core::random_between(time(), at_least, at_most));
}

asio::awaitable<void> lock_base::close(time_point give_up_at) {
    undos_->try_for_the_last_time();
    while ((busy_ > 0 || !undos_->empty()) && now() < give_up_at)
        co_await tick_.wait_until(now() + 2ms);
    closing_ = true;
    for (auto* sleeping : pauses_)
        sleeping->ring();
    undos_->stop();
    co_await link_->close(give_up_at);
    while (busy_ > 0 || !undos_->empty())
        co_await tick_.wait_until(now() + 2ms);
}

asio::awaitable<void> lock_base::renew_by(const script& what, std::span<renewal> batch,
                                          std::span<const std::string_view> keys,
                                          std::span<const std::string_view> arguments) {
    auto give_up_at = now();
    for (const auto& one : batch)
        give_up_at = std::max(give_up_at, one.what->grant.deadline);
    // The connection may have to be made first: what counts is when the request can have been sent.
    const auto asked = now();
    try {
        const auto answer = co_await scripts_.run(what, keys, arguments, give_up_at);
        if (answer.items.size() != batch.size()) co_return;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (answer.items[i].number == 1) {
                batch[i].result = renewal::outcome::extended;
                batch[i].deadline = asked + batch[i].ttl - drift(batch[i].ttl);
            } else if (answer.items[i].number == 0) {
                batch[i].result = renewal::outcome::refused;
            }
        }
    } catch (const std::exception& e) {
        log(std::string("a renewal was not answered: ") + e.what());
    }
}

void lock_base::undo_later(undo_queue::prepared what, duration ttl,
                           std::uint64_t generation) noexcept {
    auto& undo = what.front().what;
    undo.lease_end = now() + ttl + where_.reply_timeout;
    undo.patience = where_.reply_timeout;
    undo.generation = generation;
    undos_->add(std::move(what));
}

void lock_base::check_room_for_undo() const {
    if (!undos_->full()) return;
    throw error(errc::unavailable,
                std::to_string(bounds_.undos) +
                    " earlier requests had no answer and are still being undone; ask again when "
                    "the server answers.");
}

// A replica or another node says READONLY or MOVED: what is released may still be there afterwards.
asio::awaitable<void> lock_base::release_later_by(const saying& say, duration ttl) {
    const busy here(*this);
    const auto until = now() + ttl;
    back_off pauses(time(), bounds_);
    short_pause sleep(*this);
    while (now() < until) {
        const bool goes_on = co_await sleep.until(std::min(until, now() + pauses.next()));
        if (!goes_on || made_in_.forked()) co_return;
        try {
            if (!link_->connected()) co_await connect(until);
            const auto answer = co_await say(until);
            if (found(answer) != release_result::unknown || !may_be_said_later(answer.text))
                co_return;
        } catch (const error&) {}
    }
}

// SCAN may name a key more than once.
asio::awaitable<std::vector<std::string>> lock_base::scan(std::string glob, std::string type) {
    std::set<std::string> keys;
    std::string cursor = "0";
    const auto until = now() + bounds_.scan_time;
    for (std::size_t requests = 0; requests < bounds_.scan_requests && now() < until; ++requests) {
        const std::array<std::string_view, 8> words{"SCAN",  cursor, "MATCH", glob,
                                                    "COUNT", "1000", "TYPE",  type};
        const auto answer = co_await link_->exec(words, soon());
        refuse_errors(answer, describe(where_));
        if (answer.items.size() != 2)
            throw error(errc::protocol,
                        describe(where_) +
                            ": an unexpected reply to SCAN; run `pawl doctor` to see "
                            "what kind of server this is.");
        for (const auto& key : answer.items[1].items)
            keys.insert(key.text);
        cursor = answer.items[0].text;
        if (cursor == "0") co_return std::vector<std::string>(keys.begin(), keys.end());
        if (keys.size() > bounds_.scanned_keys) break;
    }
    throw error(errc::protocol, describe(where_) + ": the list of keys that match '" + glob +
                                    "' has no end, not even after " +
                                    std::to_string(bounds_.scan_time / 1s) + " s, or more than " +
                                    std::to_string(bounds_.scanned_keys) +
                                    " keys; list a longer prefix.");
}

std::string milliseconds(duration d) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count());
}

bool of_another_type(const reply& answer) {
    return answer.what == reply::kind::error && answer.text.find("WRONGTYPE") != std::string::npos;
}

release_result found(const reply& answer) {
    if (of_another_type(answer)) return release_result::taken_over;
    const auto& said = answer.items.empty() ? answer : answer.items[0];
    if (said.what != reply::kind::integer) return release_result::unknown;
    switch (said.number) {
    case 1: return release_result::released;
    case 0: return release_result::expired;
    default: return release_result::taken_over;
    }
}

}  // namespace pawl::redis
