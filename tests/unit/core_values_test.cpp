// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Pure parts of the core and of the Redis backend: nothing in this file waits, connects or sleeps.
#include "core/engine/latch.hpp"
#include "core/engine/validate.hpp"
#include "core/store/permits.hpp"
#include "core/util/url.hpp"
#include "redis/common/keys.hpp"
#include "redis/common/redisson_names.hpp"
#include "redis/common/values.hpp"
#include "redis/transport/options.hpp"
#include "redis/transport/server_errors.hpp"

#include <pawl/error.hpp>
#include <pawl/redis.hpp>
#include <pawl/service.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace pawl {
namespace {

using namespace std::chrono_literals;

template <class Work>
errc error_of(Work operation) {
    try {
        operation();
    } catch (const error& e) {
        const std::string sentence = e.what();
        EXPECT_FALSE(sentence.empty());
        EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
        return e.reason();
    }
    ADD_FAILURE() << "was accepted";
    return {};
}

TEST(Names, AreOneTo512PrintableBytes) {
    core::check_name("a");
    core::check_name(std::string(512, 'x'));
    core::check_name("stock/42 ünïcode {braces} %41");
    EXPECT_EQ(error_of([] { core::check_name(""); }), errc::bad_name);
    EXPECT_EQ(error_of([] { core::check_name(std::string(513, 'x')); }), errc::bad_name);
    EXPECT_EQ(error_of([] { core::check_name("a\nb"); }), errc::bad_name);
    EXPECT_EQ(error_of([] { core::check_name(std::string_view("a\0b", 3)); }), errc::bad_name);
    EXPECT_EQ(error_of([] { core::check_name("a\x7f"); }), errc::bad_name);
}

TEST(Options, ThatMakeNoSenseAreRefused) {
    core::check_options({});
    EXPECT_EQ(error_of([] { core::check_options({.ttl = 0s}); }), errc::bad_option);
    EXPECT_EQ(error_of([] { core::check_options({.ttl = -1s}); }), errc::bad_option);
    EXPECT_EQ(error_of([] { core::check_options({.ttl = 25h}); }), errc::bad_option);
    EXPECT_EQ(error_of([] { core::check_options({.wait = -1s}); }), errc::bad_option);
    EXPECT_EQ(error_of([] { core::check_options({.max_hold = 0s}); }), errc::bad_option);
    EXPECT_EQ(error_of([] { core::check_options({.mode = lock_mode(3)}); }), errc::bad_option);
    EXPECT_EQ(error_of([] { core::check_options({.mode = lock_mode(255)}); }), errc::bad_option);
    core::check_options({.mode = lock_mode::permits});
}

TEST(Urls, AreTakenApart) {
    const auto url =
        core::parse_url("redis://al%69ce:p%40ss@[::1]:7000/3?key=%7Bname%7D&namespace=x");
    EXPECT_EQ(url.scheme, "redis");
    EXPECT_EQ(url.user, "alice");
    EXPECT_EQ(url.password, "p@ss");
    ASSERT_EQ(url.hosts.size(), 1U);
    EXPECT_EQ(url.hosts[0].host, "::1");
    EXPECT_EQ(url.hosts[0].port, 7000);
    EXPECT_EQ(url.path, "/3");
    ASSERT_EQ(url.options.size(), 2u);
    EXPECT_EQ(url.options[0].second, "{name}");
}

TEST(Urls, KeepAPasswordTogetherThatHasAnAtSign) {
    const auto url = core::parse_url("redis://:a@b@host");
    EXPECT_EQ(url.password, "a@b");
    EXPECT_EQ(url.hosts.at(0).host, "host");
}

TEST(Urls, MayNameSeveralHosts) {
    const auto url = core::parse_url("redis://u:a,b@h1,h2:7001,[::1]:7002,h%2c4/3?namespace=x");
    EXPECT_EQ(url.password, "a,b");
    ASSERT_EQ(url.hosts.size(), 4U);
    EXPECT_EQ(url.hosts[0].host, "h1");
    EXPECT_EQ(url.hosts[0].port, std::nullopt);
    EXPECT_EQ(url.hosts[1].host, "h2");
    EXPECT_EQ(url.hosts[1].port, 7001);
    EXPECT_EQ(url.hosts[2].host, "::1");
    EXPECT_EQ(url.hosts[2].port, 7002);
    EXPECT_EQ(url.hosts[3].host, "h,4");
    EXPECT_EQ(url.path, "/3");
    EXPECT_EQ(error_of([&] { static_cast<void>(core::single_host(url)); }), errc::bad_url);
    for (const std::string_view none : {"memory:x", "sqlite:/x", "redis+unix:///s"})
        EXPECT_TRUE(core::parse_url(none).hosts.empty()) << none;
}

TEST(Urls, ThatMakeNoSenseAreRefusedWithoutTheirPassword) {
    for (const std::string_view bad :
         {"", "nothing", "gopher://x", "redis://h:0", "redis://h:65536", "redis://h:x",
          "redis://[::1", "redis://h/one", "redis://h?nonsense=1", "redis://h?key",
          "redis://h?key=plain", "redis://h?namespace=a{b", "redis://h/0?verify=perhaps",
          "redis+unix:", "redis://%zz", "redis://:hunter2@h:bad", "rediss://:hunter2@h?hunter=2",
          // Passwords that their own special characters, or a missing one, cut short.
          "redis:/:hunter2@h", "redis:hunter2@h", "redis//:hunter2@h", ":hunter2@h:6379",
          "hunter2@h", "redis://:hunter2/x@h", "redis://:1/hunter2@h", "redis://:1?hunter2@h",
          "redis://u:hunter2?x@h", "rediss://u:hunter2/@h:1/0", "redis+unix://:hunter2/x@/sock",
          "redis://h?password_file=/no/such", "redis://h?password_env=NO_SUCH_VARIABLE",
          "redis://h?reply_timeout=0", "memory:?a=b", "redis://h?token_retention=999",
          "redis://h?token_retention=31536000001", "redis://h?token_retention=1y",
          "redis://h?layout=redisson&token_retention=86400000"}) {
        try {
            static_cast<void>(from_url(bad));
            ADD_FAILURE() << bad << " was accepted";
        } catch (const error& e) {
            EXPECT_TRUE(e.reason() == errc::bad_url || e.reason() == errc::bad_option) << bad;
            EXPECT_EQ(std::string(e.what()).find("hunter2"), std::string::npos) << e.what();
        }
    }
}

TEST(Urls, MaySayHowLongACounterOfTokensIsKept) {
    for (const std::string_view good :
         {"redis://h?token_retention=1000", "redis://h?token_retention=31536000000"})
        EXPECT_NO_THROW(static_cast<void>(from_url(good))) << good;
    redis::options options;
    for (const auto retention : {std::chrono::milliseconds(999), std::chrono::milliseconds(0),
                                 std::chrono::milliseconds(std::chrono::hours(366 * 24))}) {
        options.token_retention = retention;
        EXPECT_EQ(error_of([&] { static_cast<void>(redis::at(options)); }), errc::bad_option);
    }
}

TEST(Urls, WithAnOptionTwiceAreRefused) {
    for (const std::string_view bad :
         {"redis://h?layout=native&layout=redisson", "redis://h/?verify=no&x=1&verify=no",
          "redis://h?key=a&k%65y=b", "redis+unix:///s?database=1&database=2",
          "sqlite:/f?namespace=a&namespace=b", "memory:?a=b&a=b"})
        EXPECT_EQ(error_of([&] { static_cast<void>(from_url(bad)); }), errc::bad_option) << bad;
}

TEST(Urls, MayHaveAnAtSignWhereItBelongs) {
    for (const std::string_view good :
         {"redis://h?namespace=a@b", "redis://h:1/0?namespace=a@b", "redis://u:p@h:1/0?key=@{name}",
          "redis://u:p@h:1/0", "redis://:a@b@h", "redis://[::1]?key=@{name}",
          "redis+unix:///run/a@b", "memory:a@b"})
        EXPECT_NO_THROW(static_cast<void>(from_url(good))) << good;
}

TEST(Urls, AreShownWithoutUserAndPassword) {
    EXPECT_EQ(redacted("redis://u:secret@h:1/0"), "redis://h:1/0");
    EXPECT_EQ(redacted("redis://:s@cret@h"), "redis://h");
    EXPECT_EQ(redacted("redis://h?password=secret&x=1"), "redis://h?password=***&x=1");
    EXPECT_EQ(redacted("redis://:s@cr#et@h:1"), "redis://h:1");
    EXPECT_EQ(redacted("redis://h:1/0?namespace=a@b:1"), "redis://h:1/0?namespace=a@b:1");
    EXPECT_EQ(redacted("redis://u:p@h:99999"), "redis://h:99999");
    EXPECT_EQ(redacted("redis://u:sec/ret@h"), "redis:***");
    EXPECT_EQ(redacted("sqlite:/a@b"), "sqlite:/a@b");
    EXPECT_EQ(redacted("sqlite:/a://b@c"), "sqlite:/a://b@c");
    EXPECT_EQ(redis::at("redis://u:secret@h:1/2").describe(), "redis://h:1/2");
}

TEST(Keys, OfOneLockShareOneHashTag) {
    const redis::key_scheme scheme("pawl", "");
    const auto keys = scheme.keys_of("stock/42");
    EXPECT_EQ(keys.lock(), "pawl:{stock/42}");
    EXPECT_EQ(keys.fence(), "pawl:{stock/42}:f");
    EXPECT_EQ(keys.queue(), "pawl:{stock/42}:q");
    EXPECT_EQ(keys.waiters(), "pawl:{stock/42}:w");
}

TEST(Keys, OfDifferentNamesAreDifferentAndLeadBack) {
    const redis::key_scheme scheme("pawl", "");
    const std::vector<std::string> names{"a",   "a:f", "ab", "a}", "a}:f", "{a}", "%7B",
                                         "%7D", "{",   "}",  "}{", "a b",  "ü",   "*"};
    std::set<std::string> values;
    for (const auto& name : names) {
        const auto keys = scheme.keys_of(name);
        for (const auto& key : {keys.lock(), keys.fence(), keys.queue(), keys.waiters()})
            EXPECT_TRUE(values.emplace(key).second) << key;
        EXPECT_EQ(scheme.name_of(keys.lock()), name);
        EXPECT_EQ(scheme.name_of(keys.fence()), std::nullopt) << keys.fence();
    }
}

TEST(Keys, FollowATemplateToTheLetter) {
    const redis::key_scheme scheme("pawl", "redlock:{name}");
    const auto keys = scheme.keys_of("x{y}");
    EXPECT_EQ(keys.lock(), "redlock:x{y}");
    EXPECT_EQ(keys.fence(), "pawl:x:redlock:x{y}:f");
    EXPECT_EQ(scheme.keys_of("x").fence(), "pawl:x:{redlock:x}:f");
    EXPECT_EQ(scheme.name_of("redlock:x{y}"), "x{y}");
    EXPECT_EQ(redis::key_scheme("pawl", "{name}").keys_of("job").lock(), "job");
    EXPECT_EQ(error_of([] { redis::key_scheme("pawl", "nothing"); }), errc::bad_option);
    EXPECT_EQ(error_of([] { redis::key_scheme("", ""); }), errc::bad_option);
}

TEST(Keys, OfATemplateAreNeverTheOtherKeysOfALock) {
    const redis::key_scheme scheme("pawl", "{name}");
    std::vector<std::string> names{"pawl:x:", "pawl:y:a"};
    for (const std::string_view name : {"{a}", "a", "}"}) {
        const auto keys = scheme.keys_of(name);
        for (const auto key : {keys.fence(), keys.queue(), keys.details()})
            names.emplace_back(key);
    }
    for (const auto& name : names) {
        EXPECT_EQ(error_of([&] { static_cast<void>(scheme.keys_of(name)); }), errc::bad_name)
            << name;
        EXPECT_EQ(scheme.name_of(name), std::nullopt) << name;
    }
    for (const std::string_view name : {"pawl:x", "pawl:xy", "pawl2:x:a", "x:pawl:x:a"})
        EXPECT_EQ(scheme.name_of(scheme.keys_of(name).lock()), name);
    const redis::key_scheme prefixed("pawl", "pawl:{name}");
    EXPECT_EQ(error_of([&] { static_cast<void>(prefixed.keys_of("y:{1}a")); }), errc::bad_name);
    EXPECT_EQ(redis::key_scheme("pawl", "").keys_of("pawl:x:a").lock(), "pawl:{pawl:x:a}");
}

// The server's own computation: CRC-16 of the text in the first braces, if any, modulo 16384.
unsigned slot_of(std::string_view key) {
    const auto open = key.find('{');
    const auto close = open == std::string_view::npos ? open : key.find('}', open + 1);
    if (close != std::string_view::npos && close != open + 1)
        key = key.substr(open + 1, close - open - 1);
    std::uint16_t crc = 0;
    for (const char c : key) {
        crc = static_cast<std::uint16_t>(crc ^ (static_cast<unsigned char>(c) << 8));
        for (int bit = 0; bit < 8; ++bit)
            crc = static_cast<std::uint16_t>((crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0));
    }
    return crc % 16384;
}

TEST(Keys, AreOfOneSlotWhateverTheNameIs) {
    EXPECT_EQ(slot_of("123456789"), 0x31c3U % 16384);  // the check value of this CRC
    std::mt19937 random(20261122);
    const std::string_view letters = "{}{}{}ab%7Bf:xy1";
    std::vector<std::string> names{"a}b", "{}x", "}a", "{}", "}", "{", "a{}b{c}", "{{a}}", "{a"};
    for (int i = 0; i < 5'000; ++i) {
        auto& name = names.emplace_back();
        for (auto remaining = random() % 9 + 1; remaining > 0; --remaining)
            name += letters[random() % letters.size()];
    }
    for (const std::string& pattern :
         {std::string(), std::string("{name}"), std::string("lock:{name}"),
          std::string("{{name}}:l"), std::string("}{name}"), std::string("{tag}{name}"),
          std::string("a{{name}")}) {
        const redis::key_scheme scheme("pawl", pattern);
        std::map<std::string, std::string> values;
        for (const auto& name : names) {
            const auto keys = scheme.keys_of(name);
            for (const auto& key : keys.all())
                ASSERT_EQ(slot_of(key), slot_of(keys.lock()))
                    << pattern << " " << name << " " << key;
            const auto [at, is_new] = values.emplace(keys.fence(), keys.lock());
            ASSERT_TRUE(is_new || at->second == keys.lock()) << pattern << " " << name;
            if (!pattern.empty()) {
                ASSERT_EQ(scheme.name_of(keys.fence()), std::nullopt) << pattern << " " << name;
            }
        }
    }
}

TEST(RedissonNames, AreThoseOfTheJavaSide) {
    using redis::redisson::naming;
    const naming plain("");
    const auto keys = plain.names_of("a:b");
    EXPECT_EQ(keys.lock, "a:b");
    EXPECT_EQ(keys.counter, "redisson_lock_token:{a:b}");
    EXPECT_EQ(keys.channel, "redisson_lock__channel:{a:b}");
    EXPECT_EQ(keys.unlock_latch("00ff"), "redisson_unlock_latch:{a:b}:00ff");
    // One brace is enough to leave a name unchanged.
    EXPECT_EQ(plain.names_of("a{b}c").channel, "redisson_lock__channel:a{b}c");
    EXPECT_EQ(plain.names_of("{").counter, "redisson_lock_token:{");
    EXPECT_EQ(plain.names_of("}").counter, "redisson_lock_token:{}}");
    const naming mapped("shop:{name}.lock");
    EXPECT_EQ(mapped.names_of("x").lock, "shop:x.lock");
    EXPECT_EQ(mapped.names_of("x").counter, "redisson_lock_token:{shop:x.lock}");
    EXPECT_EQ(mapped.name_of("shop:x.lock"), "x");
    EXPECT_EQ(mapped.name_of("shop:.lock"), std::nullopt);
    EXPECT_EQ(mapped.name_of("x.lock"), std::nullopt);
    EXPECT_EQ(mapped.glob("a*"), "shop:a\\**.lock");
    // Two names may share one key beside their own.
    using names = std::vector<std::string>;
    EXPECT_EQ(plain.names_of_lent("{a}:timeout"), (names{"{a}", "a"}));
    EXPECT_EQ(plain.names_of_lent("x{a}:timeout"), names{"x{a}"});
    EXPECT_EQ(mapped.names_of_lent("{shop:x.lock}:timeout"), names{"x"});
    EXPECT_EQ(plain.names_of_lent("a:timeout"), names{});
    EXPECT_EQ(plain.names_of_lent("{a}"), names{});
}

TEST(RedissonLayout, IsChosenByAnOptionAndHasNoNamespace) {
    (void)redis::at("redis://h?layout=redisson&key=app:{name}");
    (void)redis::at("redis://h?layout=native&namespace=shop");
    EXPECT_EQ(error_of([] { (void)redis::at("redis://h?layout=jedis"); }), errc::bad_url);
    EXPECT_EQ(error_of([] { (void)redis::at("redis://h?layout=redisson&namespace=shop"); }),
              errc::bad_option);
    EXPECT_EQ(error_of([] { (void)redis::at("redis://h?layout=redisson&key=plain"); }),
              errc::bad_option);
}

TEST(Permits, AreCountedInWords) {
    claim requested;
    requested.name = "x";
    requested.permits = 3;
    EXPECT_EQ(core::permits_text(1), "1 permit");
    EXPECT_EQ(core::permits_text(0), "0 permits");
    EXPECT_NE(std::string(core::too_many_error(requested, 1).what())
                  .find("has 1 permit, and you ask for 3; ask for fewer, or change that with "
                        "`pawl resize 'x' 3`."),
              std::string::npos);
    EXPECT_EQ(
        error_of([] {
            core::check_options({.mode = lock_mode::permits, .permits = 2, .total_permits = 1});
        }),
        errc::bad_option);
}

TEST(Parties, AreCountedInWords) {
    const auto sentence = [](std::uint64_t stored) {
        return std::string(core::other_parties_error("gate", stored, 3).what());
    };
    EXPECT_NE(sentence(1).find("has 1 party, not 3; "), std::string::npos) << sentence(1);
    EXPECT_NE(sentence(2).find("has 2 parties, not 3; "), std::string::npos) << sentence(2);
}

TEST(Values, TellWhoIsBehindThem) {
    const identity holder_identity{"box;1", 42, "cmd\nx"};
    const auto prefix = redis::make_value_prefix("0123456789abcdef", "feed", holder_identity);
    const auto read = redis::parse_value(redis::make_value(prefix, 1'700'000'000'123));
    EXPECT_EQ(read.host, "box 1");
    EXPECT_EQ(read.pid, 42);
    EXPECT_EQ(read.command, "cmd x");
    EXPECT_EQ(read.owner, "01234567");
    EXPECT_EQ(read.since.time_since_epoch() / 1ms, 1'700'000'000'123);
}

TEST(Values, OfOtherLibrariesAreOnlyAnOwner) {
    for (const std::string_view value : {"", "x", "a;b;c", "a;b;c;d;e;f", "c3f1b0aa-uuid"}) {
        const auto read = redis::parse_value(value);
        EXPECT_EQ(read.pid, 0);
        EXPECT_TRUE(read.host.empty());
        EXPECT_EQ(read.owner, value.substr(0, 8));
    }
}

TEST(ServerErrors, AreClassified) {
    EXPECT_TRUE(redis::is_transient("LOADING Redis is loading"));
    EXPECT_TRUE(redis::is_transient("BUSY Redis is busy"));
    EXPECT_TRUE(redis::is_transient("OOM command not allowed"));
    EXPECT_FALSE(redis::is_transient("WRONGTYPE Operation"));
    EXPECT_FALSE(redis::is_transient("ERR anything"));
    for (const auto* sentence :
         {"NOREPLICAS Not enough", "OOM command", "MISCONF no", "MOVED 1 a:1", "READONLY You can't",
          "ERR Error running script (call to f_1): "
          "@user_script:7: -OOM command not allowed"})
        EXPECT_TRUE(redis::proves_no_change(sentence)) << sentence;
    // A script may meet these errors after it has written.
    for (const auto* sentence : {"WRONGTYPE Operation", "NOPERM no", "ERR anything"})
        EXPECT_FALSE(redis::proves_no_change(sentence)) << sentence;
    EXPECT_EQ(redis::to_error("WRONGTYPE Operation", "k").reason(), errc::wrong_type);
    EXPECT_EQ(redis::to_error("ERR value is not an integer or out of range", "k").reason(),
              errc::wrong_type);
    EXPECT_EQ(redis::to_error("READONLY You can't", "k").reason(), errc::refused);
    EXPECT_EQ(redis::to_error("NOPERM no", "k").reason(), errc::refused);
    EXPECT_EQ(redis::to_error("MISCONF no", "k").reason(), errc::unavailable);
    EXPECT_EQ(redis::to_error("ERR odd", "k").reason(), errc::protocol);
}

// Servers from 7.0 on name the script behind the message, older ones before it.
TEST(ServerErrors, SayNothingOfTheScript) {
    const std::string sentence =
                          "WRONGTYPE Operation against a key holding the wrong kind of value",
                      digest(40, 'a');
    const auto plain = redis::to_error(sentence, "k");
    for (const auto& reply_text :
         {sentence + " script: " + digest + ", on @user_script:1.",
          "ERR Error running script (call to f_" + digest + "): @user_script:12: " + sentence}) {
        EXPECT_STREQ(redis::to_error(reply_text, "k").what(), plain.what());
        EXPECT_EQ(redis::to_error(reply_text, "k").reason(), errc::wrong_type);
    }
    const std::string odd =
        redis::to_error("ERR odd script: " + digest + ", on @user_script:1.", "k").what();
    EXPECT_NE(odd.find("the server says \"ERR odd\""), std::string::npos) << odd;
}

}  // namespace
}  // namespace pawl
