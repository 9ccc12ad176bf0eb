#include "latches.hpp"

#include "lock_base.hpp"
#include "redis_scripts.hpp"
#include "server_errors.hpp"
#include "wrong_type.hpp"

#include "../core/chance.hpp"
#include "../core/latch.hpp"

#include <pawl/options.hpp>

#include <array>
#include <charconv>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

enum class news : std::uint8_t { none, open, lost, look };

// "open FIRST GENERATION", or "gone"; empty after a new connection.
news read_message(std::string_view text, std::uint64_t wanted) {
    if (!text.starts_with("open ")) return news::look;
    text.remove_prefix(5);
    const auto space = std::min(text.find(' '), text.size());
    const auto first = number(text.substr(0, space));
    const auto over = number(text.substr(std::min(space + 1, text.size())));
    if (wanted < first) return news::lost;
    return wanted <= over ? news::open : news::none;
}

news read_messages(std::vector<std::string>& messages, std::uint64_t wanted) {
    auto found = news::none;
    for (const auto& one : std::exchange(messages, {})) {
        const auto what = read_message(one, wanted);
        if (what == news::open || what == news::lost) return what;
        if (what == news::look) found = what;
    }
    return found;
}

error no_answer(std::string_view name, const std::string& why) {
    return {errc::unreachable, "The latch '" + std::string(name) + "' could not be asked for: " +
                                   why + "; check that the server is up."};
}

error not_known_whether(std::string_view name, const std::string& why) {
    return {errc::unreachable, "Nobody knows whether the latch '" + std::string(name) +
                                   "' was changed: " + why + "; look at it when the server is up."};
}

}  // namespace

native_latches::native_latches(const options& where, const backend_context& context,
                               const key_scheme& scheme, link& over)
    : where_(where),
      context_(context),
      scheme_(scheme),
      scripts_(over),
      ears_(over, *context.time, context.strand),
      link_(over) {}

// Beside the fence, with another last letter. It is the channel's name too.
std::string native_latches::key_of(std::string_view name) const {
    auto key = scheme_.of(name).fence;
    key.back() = 'l';
    return key;
}

asio::awaitable<void> native_latches::pause(duration at_least, duration at_most) const {
    core::alarm timer(*context_.time, context_.strand);
    co_await timer.wait_until(now() + core::random_between(*context_.time, at_least, at_most));
}

// Longer than a request is said again.
std::string native_latches::remember_ms() const {
    return milliseconds(2 * (where_.reply_timeout + where_.connect_timeout));
}

asio::awaitable<void> native_latches::refuse(const reply& answer, const std::string& key) {
    const std::array<typed_key, 1> hash{{{key, "hash", "a latch"}}};
    co_await redis::refuse(link_, answer, hash, soon());
}

asio::awaitable<reply> native_latches::say(const script& what, std::string_view name,
                                           std::vector<std::string> arguments) {
    const auto latch = key_of(name);
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
            if (!worth_retrying(answer.text)) co_await refuse(answer, latch);
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
        throw error(errc::protocol, key_of(name) + ": an answer that makes no sense.");
    if (answer.items[0].text.empty())
        throw core::other_parties(name, number(answer.items[1].text), parties);
    co_return step{number(answer.items[0].text), number(answer.items[1].text)};
}

asio::awaitable<bool> native_latches::look(const std::string& key, wish& what,
                                           time_point give_up_at) {
    const std::array<std::string_view, 1> keys{key};
    const auto answer = co_await scripts_.run(scripts::latch_look, keys, {}, give_up_at);
    if (answer.what == reply::kind::error) co_await refuse(answer, key);
    if (answer.items.size() != 5) throw core::unknown_latch(what.name);
    const auto generation = number(answer.items[1].text);
    if (what.generation == 0) what.generation = generation;
    if (what.generation < number(answer.items[2].text) || what.generation > generation)
        throw core::unknown_latch(what.name);
    co_return what.generation < generation || answer.items[0].text == "0";
}

asio::awaitable<bool> native_latches::wait(std::string_view name, std::uint64_t generation,
                                           time_point give_up_at) {
    const auto key = key_of(name);
    const bool waits = give_up_at > now();
    wish what{name, generation};
    ears::ear mine(ears_, key);
    for (;;) {
        std::optional<error> trouble;
        const auto until = waits ? std::max(give_up_at, now() + least_silence) : soon();
        try {
            // First the ear, then the look: what comes between is heard.
            if (waits && !mine.listens()) co_await mine.listen(until);
            const bool over = co_await look(key, what, until);
            if (over) co_return true;
        } catch (const connection_lost& e) {
            trouble = no_answer(name, e.what());
        } catch (const error& e) {
            if (e.reason() != errc::unavailable) throw;
            trouble = e;
        }
        if (now() >= give_up_at) {
            if (trouble) throw *trouble;
            co_return false;
        }
        if (trouble) {
            if (context_.log) context_.log(std::string(trouble->what()) + " Trying again.");
            co_await pause(50ms, 200ms);
            continue;
        }
        const auto look_at =
            now() + core::random_between(*context_.time, latch_look_at_least, latch_look_at_most);
        auto heard = news::none;
        while (heard == news::none) {
            const bool rung = co_await mine.woken.wait_until(std::min(look_at, give_up_at));
            heard = rung ? read_messages(mine.messages, what.generation) : news::look;
        }
        if (heard == news::open) co_return true;
        if (heard == news::lost) throw core::unknown_latch(name);
        if (now() >= give_up_at) co_return false;
    }
}

asio::awaitable<latch_info> native_latches::inspect(std::string_view name) {
    const auto key = key_of(name);
    const std::array<std::string_view, 1> keys{key};
    const auto answer = co_await scripts_.run(scripts::latch_look, keys, {}, soon());
    if (answer.what == reply::kind::error) co_await refuse(answer, key);
    const auto listeners = co_await ears_.count(key, soon());
    refuse_errors(listeners, key);
    latch_info found;
    found.name = name;
    if (listeners.items.size() == 2)
        found.waiters = static_cast<std::uint64_t>(listeners.items[1].number);
    if (answer.items.size() != 5) co_return found;
    found.known = true;
    found.count = number(answer.items[0].text);
    found.generation = number(answer.items[1].text);
    found.parties = static_cast<std::uint32_t>(number(answer.items[3].text));
    found.remaining = std::chrono::milliseconds(std::max<std::int64_t>(answer.items[4].number, 0));
    co_return found;
}

asio::awaitable<bool> native_latches::reset(std::string_view name) {
    const auto key = key_of(name);
    const std::array<std::string_view, 1> keys{key};
    const auto publish = co_await ears_.publish(soon());
    const std::array<std::string_view, 1> how{publish};
    const auto answer = co_await scripts_.run(scripts::latch_reset, keys, how, soon());
    if (answer.what == reply::kind::error) co_await refuse(answer, key);
    co_return answer.number == 1;
}

}  // namespace pawl::redis
