#include "latches.hpp"

#include "lock_base.hpp"
#include "numbers.hpp"
#include "redis_scripts.hpp"
#include "server_errors.hpp"
#include "wrong_type.hpp"

#include "../core/chance.hpp"
#include "../core/latch.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// By how much the server's clock may seem to be behind what is known of it.
constexpr duration clock_slack = 5s;

// A time of the server's clock, as far as one can reckon with: whatever a hostile one says.
std::int64_t believable(std::int64_t time) {
    return std::clamp<std::int64_t>(time, 0, 1'000'000'000'000'000);
}

// {'late', server's ms}: the server did nothing.
bool came_late(const reply& answer) {
    return answer.items.size() == 2 && answer.items[0].text == "late";
}

}  // namespace

native_latches::native_latches(const options& where, const backend_context& context,
                               const key_scheme& scheme, link& over, const limits& bounds)
    : latch_base(where, context, over, bounds), scheme_(scheme) {}

// Beside the fence, with another last letter.
latch_base::place native_latches::place_of(std::string_view name) const {
    auto key = scheme_.of(name).fence;
    key.back() = 'l';
    auto channel = scheme_.channel_of(key);
    return {std::move(key), std::move(channel)};
}

// "open FIRST GENERATION REQUEST", or "gone".
latch_base::news native_latches::read(std::string_view message, std::uint64_t generation) const {
    if (!message.starts_with("open ")) return news::look;
    message.remove_prefix(5);
    const auto space = std::min(message.find(' '), message.size());
    const auto first = number(message.substr(0, space));
    const auto over = number(message.substr(std::min(space + 1, message.size())));
    if (generation < first) return news::look;
    return generation <= over ? news::open : news::none;
}

asio::awaitable<void> native_latches::learn_clock(time_point give_up_at) {
    if (clock_.generation == link_.current().generation) co_return;
    const std::array<std::string_view, 1> words{"TIME"};
    const auto asked = now();
    const auto answer = co_await link_.exec(words, give_up_at);
    refuse_errors(answer, "TIME");
    if (answer.items.size() != 2)
        throw error(errc::protocol,
                    "TIME: an unexpected reply;"
                    " run `pawl doctor` to see what kind of server this is.");
    const auto seconds = believable(number(answer.items[0]));
    const auto ms = seconds * 1000 + believable(number(answer.items[1])) / 1000;
    clock_ = {link_.current().generation, asked, ms};
}

std::string native_latches::server_ms(time_point when) const {
    const auto passed = std::chrono::ceil<std::chrono::milliseconds>(when - clock_.asked);
    return std::to_string(clock_.ms + passed.count());
}

asio::awaitable<void> native_latches::refuse(const reply& answer, const std::string& key) {
    const std::array<typed_key, 1> hash{{{key, "hash", "a latch"}}};
    co_await redis::refuse(link_, answer, hash, soon());
}

asio::awaitable<reply> native_latches::say(const script& what, std::string_view name,
                                           std::vector<std::string> arguments) {
    const auto at = place_of(name);
    const auto request = at.key + ":" + core::random_hex(*context_.time, 16);
    const std::array<std::string_view, 2> keys{at.key, request};
    const auto began = now();
    const auto until = began + where_.reply_timeout + where_.connect_timeout;
    const auto late = [&] { return now() >= until; };
    std::string limit, since;
    std::optional<error> trouble;
    bool sent = false;  // and it may have been carried out
    bool forgotten = false;
    for (;;) {
        bool asked = false;
        try {
            const auto publish = co_await ears_.publish(until);
            co_await learn_clock(until);
            if (limit.empty()) {
                limit = server_ms(until);
                since = server_ms(began - clock_slack);
            }
            // The client may have been stopped while it waited for any of these.
            if (!late()) {
                std::vector<std::string_view> words{limit};
                words.insert(words.end(), arguments.begin(), arguments.end());
                words.insert(words.end(), {publish, at.channel, since});
                const auto asked_at = now();
                asked = true;
                auto answer = co_await scripts_.run(what, keys, words, until);
                if (came_late(answer)) {
                    // What the server said before, if it did, tells more.
                    if (!trouble)
                        trouble = no_answer(name, "the request reached the server too late");
                    const auto ms = believable(number(answer.items[1]));
                    clock_ = {link_.current().generation, asked_at, ms};
                    limit.clear();
                    forgotten = sent;
                } else if (answer.what != reply::kind::error) {
                    co_return answer;
                } else {
                    if (!worth_retrying(answer.text)) co_await refuse(answer, at.key);
                    trouble = explain(answer.text, at.key);
                }
            }
        } catch (const connection_lost& e) {
            sent = sent || asked;
            trouble = no_answer(name, e.what());
        } catch (const error& e) {
            const bool passes =
                e.reason() == errc::unavailable || (sent && e.reason() == errc::unreachable);
            if (!passes) throw;
            trouble = e;
        }
        if (!late() && !forgotten) co_await pause(20ms, 60ms);
        if (!late() && !forgotten) continue;
        if (!trouble) trouble = no_answer(name, "this program did not run in time");
        throw sent ? not_known_whether(name, trouble->what()) : *trouble;
    }
}

asio::awaitable<bool> native_latches::try_set(std::string_view name, std::uint32_t count,
                                              duration ttl) {
    std::vector<std::string> arguments{std::to_string(count), milliseconds(ttl)};
    const auto answer = co_await say(scripts::latch_set, name, std::move(arguments));
    co_return answer.number == 1;
}

asio::awaitable<latches::step> native_latches::count_down(std::string_view name,
                                                          std::uint32_t steps) {
    return send_step(name, steps, 0, {});
}

asio::awaitable<latches::step> native_latches::arrive(std::string_view name, std::uint32_t parties,
                                                      duration ttl) {
    return send_step(name, 1, parties, ttl);
}

asio::awaitable<latches::step> native_latches::send_step(std::string_view name, std::uint32_t steps,
                                                         std::uint32_t parties, duration ttl) {
    std::vector<std::string> arguments{std::to_string(steps), std::to_string(parties),
                                       milliseconds(ttl)};
    const auto answer = co_await say(scripts::latch_down, name, std::move(arguments));
    if (answer.what == reply::kind::nil) throw core::unknown_latch(name);
    if (answer.items.size() != 2)
        throw error(errc::protocol, place_of(name).key +
                                        ": an unexpected reply to the latch_down script;"
                                        " run `pawl doctor` to see what kind of server this is.");
    if (answer.items[0].text.empty())
        throw core::other_parties(name, number(answer.items[1].text), parties);
    co_return step{number(answer.items[0].text), number(answer.items[1].text)};
}

asio::awaitable<bool> native_latches::was_opened(const wish& what, time_point give_up_at) {
    const auto request = what.opening.substr(what.opening.rfind(' ') + 1);
    if (!request.starts_with(what.at.key + ":")) co_return false;
    const std::array<std::string_view, 2> words{"GET", request};
    const auto answer = co_await link_.exec(words, give_up_at);
    co_return answer.text == std::to_string(what.generation) + " 0";
}

asio::awaitable<bool> native_latches::look(wish& what, time_point give_up_at) {
    const std::array<std::string_view, 1> keys{what.at.key};
    const auto answer = co_await scripts_.run(scripts::latch_look, keys, {}, give_up_at);
    if (answer.what == reply::kind::error) co_await refuse(answer, what.at.key);
    core::latch_standing found;
    found.known = answer.items.size() == 5;
    if (found.known) {
        found.count = number(answer.items[0].text);
        found.generation = number(answer.items[1].text);
        found.first = number(answer.items[2].text);
    }
    const bool forgotten = !found.known || what.generation < found.first;
    if (forgotten && !what.opening.empty()) {
        const bool opened = co_await was_opened(what, give_up_at);
        if (opened) co_return true;
    }
    co_return core::is_over(found, what.name, what.generation);
}

asio::awaitable<latch_info> native_latches::inspect(std::string_view name) {
    const auto at = place_of(name);
    const std::array<std::string_view, 1> keys{at.key};
    const auto answer = co_await scripts_.run(scripts::latch_look, keys, {}, soon());
    if (answer.what == reply::kind::error) co_await refuse(answer, at.key);
    latch_info found;
    found.name = name;
    found.waiters = co_await waiters(at);
    if (answer.items.size() != 5) co_return found;
    found.known = true;
    found.count = number(answer.items[0].text);
    found.generation = number(answer.items[1].text);
    found.parties = static_cast<std::uint32_t>(number(answer.items[3].text));
    found.remaining = milliseconds_of(std::max<std::int64_t>(answer.items[4].number, 0));
    co_return found;
}

asio::awaitable<bool> native_latches::reset(std::string_view name) {
    const auto at = place_of(name);
    const std::array<std::string_view, 1> keys{at.key};
    const auto publish = co_await ears_.publish(soon());
    const std::array<std::string_view, 2> how{publish, at.channel};
    const auto answer = co_await scripts_.run(scripts::latch_reset, keys, how, soon());
    if (answer.what == reply::kind::error) co_await refuse(answer, at.key);
    co_return answer.number == 1;
}

}  // namespace pawl::redis
