#include "latches.hpp"

#include "lock_base.hpp"
#include "redis_scripts.hpp"
#include "server_errors.hpp"

#include "../core/chance.hpp"
#include "../core/latch.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

native_latches::native_latches(const options& where, const backend_context& context,
                               const key_scheme& scheme, link& over)
    : latch_base(where, context, over), scheme_(scheme) {}

// Beside the fence, with another last letter. It is the channel's name too.
latch_base::place native_latches::place_of(std::string_view name) const {
    auto key = scheme_.of(name).fence;
    key.back() = 'l';
    return {key, key};
}

// "open FIRST GENERATION", or "gone".
latch_base::news native_latches::read(std::string_view message, std::uint64_t generation) const {
    if (!message.starts_with("open ")) return news::look;
    message.remove_prefix(5);
    const auto space = std::min(message.find(' '), message.size());
    const auto first = number(message.substr(0, space));
    const auto over = number(message.substr(std::min(space + 1, message.size())));
    if (generation < first) return news::lost;
    return generation <= over ? news::open : news::none;
}

// Longer than a request is said again.
std::string native_latches::remember_ms() const {
    return milliseconds(2 * (where_.reply_timeout + where_.connect_timeout));
}

asio::awaitable<reply> native_latches::say(const script& what, std::string_view name,
                                           std::vector<std::string> arguments) {
    const auto latch = place_of(name).key;
    const auto request = latch + ":" + core::random_hex(*context_.time, 16);
    const std::array<std::string_view, 2> keys{latch, request};
    const auto until = now() + where_.reply_timeout + where_.connect_timeout;
    bool sent = false;
    for (;;) {
        std::string trouble;
        std::optional<error> refused;
        bool asked = false;
        try {
            const auto publish = co_await ears_.publish(until);
            std::vector<std::string_view> words(arguments.begin(), arguments.end());
            words.push_back(publish);
            asked = true;
            auto answer = co_await scripts_.run(what, keys, words, until);
            if (answer.what != reply::kind::error) co_return answer;
            if (!worth_retrying(answer.text)) refuse_errors(answer, latch);
            refused = explain(answer.text, latch);
        } catch (const connection_lost& e) {
            sent = sent || asked;
            trouble = e.what();
        } catch (const error& e) {
            if (!sent || e.reason() != errc::unreachable) throw;
            trouble = e.what();
        }
        if (now() >= until && sent)
            throw not_known_whether(name, refused ? refused->what() : trouble);
        if (now() >= until) throw refused ? *refused : no_answer(name, trouble);
        co_await pause(20ms, 60ms);
    }
}

asio::awaitable<bool> native_latches::try_set(std::string_view name, std::uint32_t count,
                                              duration ttl) {
    std::vector<std::string> arguments{std::to_string(count), milliseconds(ttl), remember_ms()};
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
    std::vector<std::string> arguments{std::to_string(steps), remember_ms(),
                                       std::to_string(parties), milliseconds(ttl)};
    const auto answer = co_await say(scripts::latch_down, name, std::move(arguments));
    if (answer.what == reply::kind::nil) throw core::unknown_latch(name);
    if (answer.items.size() != 2)
        throw error(errc::protocol, place_of(name).key + ": an answer that makes no sense.");
    if (answer.items[0].text.empty())
        throw core::other_parties(name, number(answer.items[1].text), parties);
    co_return step{number(answer.items[0].text), number(answer.items[1].text)};
}

asio::awaitable<bool> native_latches::look(wish& what, time_point give_up_at) {
    const std::array<std::string_view, 1> keys{what.at.key};
    const auto answer = co_await scripts_.run(scripts::latch_look, keys, {}, give_up_at);
    refuse_errors(answer, what.at.key);
    core::latch_standing found;
    found.known = answer.items.size() == 5;
    if (found.known) {
        found.count = number(answer.items[0].text);
        found.generation = number(answer.items[1].text);
        found.first = number(answer.items[2].text);
    }
    co_return core::is_over(found, what.name, what.generation);
}

asio::awaitable<latch_info> native_latches::inspect(std::string_view name) {
    const auto at = place_of(name);
    const std::array<std::string_view, 1> keys{at.key};
    const auto answer = co_await scripts_.run(scripts::latch_look, keys, {}, soon());
    refuse_errors(answer, at.key);
    latch_info found;
    found.name = name;
    found.waiters = co_await waiters(at);
    if (answer.items.size() != 5) co_return found;
    found.known = true;
    found.count = number(answer.items[0].text);
    found.generation = number(answer.items[1].text);
    found.parties = static_cast<std::uint32_t>(number(answer.items[3].text));
    found.remaining = std::chrono::milliseconds(std::max<std::int64_t>(answer.items[4].number, 0));
    co_return found;
}

asio::awaitable<bool> native_latches::reset(std::string_view name) {
    const auto at = place_of(name);
    const std::array<std::string_view, 1> keys{at.key};
    const auto publish = co_await ears_.publish(soon());
    const std::array<std::string_view, 1> how{publish};
    const auto answer = co_await scripts_.run(scripts::latch_reset, keys, how, soon());
    refuse_errors(answer, at.key);
    co_return answer.number == 1;
}

}  // namespace pawl::redis
