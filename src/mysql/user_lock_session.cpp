// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_connection.hpp"

#include <pawl/options.hpp>

#include <openssl/evp.h>

#include <locale.h>
#include <wctype.h>
#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::mysql {
namespace {

constexpr std::size_t longest_user_lock = 64;  // in characters
constexpr std::int64_t longest_wait_seconds = std::int64_t{365} * 24 * 60 * 60;

class user_lock_session final : public lock_connection {
public:
    using lock_connection::lock_connection;

    asio::awaitable<sql::lock_answer> lock(sql::lock_request requested,
                                           time_point give_up_at) override {
        name_ = requested.key;
        const auto seconds =
            requested.waits
                ? std::min<std::int64_t>((give_up_at - time().now()) / 1s + 1, longest_wait_seconds)
                : 0;
        sql::lock_answer answer;
        answer.proved_at = time().now();
        set_silence_limit(requested.waits ? least_silence_limit : requested.ttl);
        const auto ttl = requested.ttl;
        co_await set_ttl(requested.waits ? std::min(ttl, claim_window) : ttl, give_up_at);
        const auto rows = co_await ask(lock_text(name_) + std::to_string(seconds) + ")", give_up_at,
                                       requested.waits);
        const auto result = number_of(rows, -1);
        if (result < 0)
            throw error(errc::unavailable,
                        place().server + " could not lock '" + name_ + "': GET_LOCK gave NULL.");
        answer.is_granted = result == 1;
        if (!requested.waits || !answer.is_granted) co_return answer;
        // The wait may have been long: the lease begins with this round trip.
        set_silence_limit(requested.ttl);
        answer.proved_at = time().now();
        co_await set_ttl(ttl, answer.proved_at + ttl);
        co_return answer;
    }

    asio::awaitable<bool> unlock(time_point give_up_at) override {
        const auto rows =
            co_await ask("SELECT RELEASE_LOCK(" + text_literal(name_) + ")", give_up_at);
        co_return number_of(rows) == 1;
    }

    asio::awaitable<lock_info> inspect(std::string name, time_point give_up_at) override {
        lock_info info;
        info.name = name;
        const auto id = co_await holder_of(name, give_up_at);
        if (id == 0) co_return info;
        holder shown;
        shown.owner = "connection " + std::to_string(id);
        shown.remaining = forever;
        // Other accounts' connections are seen with the right PROCESS only.
        const auto rows =
            co_await ask("SELECT HOST, USER FROM information_schema.PROCESSLIST WHERE ID = " +
                             std::to_string(id),
                         give_up_at);
        if (!rows.empty()) {
            const std::string host(sql::text_in(rows[0], 0));
            shown.host = host.substr(0, host.rfind(':'));
            shown.command = std::string(sql::text_in(rows[0], 1));
        }
        info.held_by = std::move(shown);
        info.waiters = co_await count_statements(lock_text(user_lock_name(name)), give_up_at);
        co_return info;
    }

    asio::awaitable<std::vector<lock_info>> list(std::string, time_point) override {
        throw error(errc::unsupported,
                    "The server cannot list its user locks (mode=session); name one, as in `pawl "
                    "status NAME`.");
        co_return std::vector<lock_info>();
    }

    asio::awaitable<bool> force_release(std::string name, fencing_token expected,
                                        time_point give_up_at) override {
        if (expected) co_return false;  // no holder has a token
        const auto id = co_await holder_of(name, give_up_at);
        if (id == 0) co_return false;
        co_await kill(id, give_up_at);
        while (time().now() < give_up_at) {
            const auto present = co_await holder_of(name, give_up_at);
            if (present != id) break;
            co_await ask("DO SLEEP(0.02)", give_up_at);  // until its connection has ended
        }
        co_return true;
    }

private:
    static std::string lock_text(std::string_view user_lock) {
        return "SELECT GET_LOCK(" + text_literal(user_lock) + ", ";
    }
    // 0: nobody.
    asio::awaitable<std::int64_t> holder_of(std::string name, time_point give_up_at) {
        const auto rows = co_await ask(
            "SELECT IS_USED_LOCK(" + text_literal(user_lock_name(name)) + ")", give_up_at);
        co_return number_of(rows);
    }

    std::string name_;
};

// The code points of UTF-8 up to U+FFFF, which are those of one unit in UTF-16; else empty.
std::vector<wint_t> code_points(std::string_view text) {
    std::vector<wint_t> all;
    while (!text.empty()) {
        const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
        const std::size_t size = byte(0) < 0x80                      ? 1
                                 : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2
                                 : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3
                                                                     : 0;
        if (size == 0 || size > text.size()) return {};
        auto point = static_cast<wint_t>(size == 1 ? byte(0) : byte(0) & (0xff >> (size + 1)));
        for (std::size_t i = 1; i < size; ++i) {
            if (byte(i) >> 6 != 2) return {};
            point = point << 6 | (byte(i) & 0x3f);
        }
        if ((size == 3 && point < 0x800) || (point >= 0xd800 && point < 0xe000)) return {};
        all.push_back(point);
        text.remove_prefix(size);
    }
    return all;
}

// True for letters that have a lower-case form. Without the system's table, for all beyond ASCII.
bool may_be_capital(wint_t point) {
    static const locale_t table = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (point < 0x80) return point >= 'A' && point <= 'Z';
    return table == nullptr || ::towlower_l(point, table) != point;
}

std::string lower_case(std::string_view text) {
    std::string result(text);
    for (char& each : result)
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    return result;
}

// 160 bits of the SHA-512, 5 in each character, the lowest ones first.
std::string base32_hash(std::string_view name) {
    static constexpr char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    if (EVP_Digest(name.data(), name.size(), digest.data(), nullptr, EVP_sha512(), nullptr) != 1)
        throw error(errc::unsupported,
                    "OpenSSL has no SHA-512 here; use names of lower-case letters, up to 64.");
    std::string text;
    for (unsigned bit = 0; bit < 160; bit += 5) {
        const auto pair = static_cast<unsigned>(digest[bit / 8] | digest[bit / 8 + 1] << 8);
        text += alphabet[pair >> bit % 8 & 31];
    }
    return text;
}

}  // namespace

// A name of lower-case letters is used as it is, so a server that ignores the case of a lock's name
// cannot take it for another one.
std::string user_lock_name(std::string_view name) {
    const auto points = code_points(name);
    const auto is_foreign_capital = [](wint_t point) {
        return point >= 0x80 && may_be_capital(point);
    };
    if (points.empty() || std::ranges::any_of(points, is_foreign_capital))
        throw error(errc::bad_name,
                    "'" + std::string(name) +
                        "' cannot be a user lock (mode=session): use UTF-8, with capitals of ASCII "
                        "only, and no characters above U+FFFF.");
    if (points.size() <= longest_user_lock && std::ranges::none_of(points, may_be_capital))
        return std::string(name);
    const auto hash = base32_hash(name);
    std::size_t end = 0;
    for (std::size_t i = 0; i < std::min(points.size(), longest_user_lock - hash.size()); ++i)
        end += points[i] < 0x80 ? 1 : points[i] < 0x800 ? 2 : 3;
    return lower_case(name.substr(0, end)) + hash;
}

std::shared_ptr<sql::lock_session> make_user_lock_session(lock_session_parts parts) {
    return std::make_shared<user_lock_session>(std::move(parts));
}

}  // namespace pawl::mysql
