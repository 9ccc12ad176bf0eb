// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The keys, values and messages of locks in etcd, without a server.
#include "etcd/doctor.hpp"
#include "etcd/keys.hpp"
#include "etcd/lock_line.hpp"
#include "etcd/transport/messages.hpp"
#include "etcd/transport/server_errors.hpp"

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace pawl::etcd {
namespace {

using namespace std::string_literals;

const key_scheme native_keys("pawl", key_layout::native);
const key_scheme go_keys("pawl", key_layout::concurrency);

TEST(EtcdKeys, ANameWithASlashHasALineOfItsOwn) {
    EXPECT_EQ(native_keys.line("a/b%"), "pawl/l/a%2Fb%25/");
    EXPECT_EQ(native_keys.name_of("pawl/l/a%2Fb%25/owner"), "a/b%");
    EXPECT_FALSE(native_keys.line("a/b").starts_with(native_keys.line("a")));
    EXPECT_EQ(native_keys.name_of("other/l/a/owner"), std::nullopt);
    EXPECT_TRUE(native_keys.line("abc").starts_with(native_keys.lines("ab")));
}

TEST(EtcdKeys, GosKeysBeginWithTheName) {
    EXPECT_EQ(go_keys.line("a/b"), "a/b/");
    EXPECT_EQ(go_keys.name_of("a/b/694d"), "a/b");
    EXPECT_EQ(go_keys.name_of(go_keys.guard("1f")), std::nullopt);
    EXPECT_EQ(go_keys.name_of(go_keys.total("a")), std::nullopt);
    EXPECT_TRUE(key_scheme::is_in_line("a/694d", "a/"));
    EXPECT_FALSE(key_scheme::is_in_line("a/b/694d", "a/"));
}

TEST(EtcdKeys, ALeaseIsWrittenAsGoWritesIt) {
    EXPECT_EQ(session_id(0x694d77aa), "694d77aa");
    EXPECT_EQ(lease_of("694d77aa"), 0x694d77aa);
    EXPECT_EQ(lease_of(session_id(INT64_MAX)), INT64_MAX);
}

TEST(EtcdKeys, APrefixEndsBeforeTheNextKey) {
    EXPECT_EQ(end_of_prefix("a/"), "a0");
    EXPECT_EQ(end_of_prefix("a\xff"), "b");
    EXPECT_EQ(end_of_prefix("\xff"), "\0"s);
}

key_value entry(const std::string& owner, std::int64_t created, const entry_value& value) {
    return {.key = native_keys.line("n") + owner,
            .value = value.encode(),
            .create_revision = created,
            .mod_revision = created,
            .lease = 7};
}
entry_value reader(token_place place, std::uint64_t token = 0) {
    return {.share = {lock_mode::shared, 0}, .place = place, .token = token};
}
lock_line line_of(std::vector<key_value> values) {
    operation_answer answer;
    answer.values = std::move(values);
    return {answer, native_keys.line("n"), 99};
}

TEST(EtcdLine, AValueIsReadAsItWasWritten) {
    entry_value value{.share = {lock_mode::permits, 3}, .place = token_place::stored, .token = 42};
    value.process = {"host", 17, "cron\njob"};
    value.since_ms = 1764000000000;
    const auto read = entry_value::decode(value.encode());
    EXPECT_EQ(read.share.mode, lock_mode::permits);
    EXPECT_EQ(read.share.permits, 3U);
    EXPECT_EQ(read.place, token_place::stored);
    EXPECT_EQ(read.token, 42U);
    EXPECT_EQ(read.process.command, "cron job");
    EXPECT_EQ(read.since_ms, 1764000000000);
    EXPECT_FALSE(read.is_foreign);
}

TEST(EtcdLine, AValueOfAnotherProgramIsThatOfAnExclusiveHolder) {
    for (const auto* text : {"", "candidate-1", "mode", "=\n=", "token=3"}) {
        const auto read = entry_value::decode(text);
        EXPECT_TRUE(read.is_foreign) << text;
        EXPECT_EQ(read.share.mode, lock_mode::exclusive) << text;
        EXPECT_EQ(read.place, token_place::created) << text;
    }
}

TEST(EtcdLine, TheOrderIsThatOfCreation) {
    const auto line = line_of(
        {entry("b", 5, {.place = token_place::waiting}), entry("a", 3, {}), entry("c/d", 1, {})});
    ASSERT_EQ(line.entries().size(), 2U);
    EXPECT_EQ(key_scheme::owner_of(line.entries().front().key), "a");
    EXPECT_EQ(line.holders(0), 1U);
    EXPECT_EQ(line.find(native_keys.line("n") + "b"), 1U);
    EXPECT_EQ(line.find("n"), std::nullopt);
    EXPECT_EQ(line.entries().front().token(), fencing_token(3));
}

// A reader that joins while the first one has not written its token waits for it. Otherwise two
// readers of one phase could have two tokens.
TEST(EtcdLine, ReadersShareTheTokenThatOneOfThemHasWritten) {
    EXPECT_EQ(line_of({entry("a", 3, reader(token_place::waiting))}).reader_token(), std::nullopt);
    EXPECT_EQ(line_of({entry("a", 3, reader(token_place::created)),
                       entry("b", 4, reader(token_place::waiting))})
                  .reader_token(),
              3U);
    // The first reader has joined a phase, and the one that had its token from the beginning left.
    EXPECT_EQ(line_of({entry("a", 3, reader(token_place::waiting)),
                       entry("b", 4, reader(token_place::stored, 2))})
                  .reader_token(),
              2U);
    // Behind a writer, the readers are of another phase.
    EXPECT_EQ(line_of({entry("a", 3, reader(token_place::waiting)), entry("w", 4, {}),
                       entry("b", 5, reader(token_place::stored, 2))})
                  .reader_token(),
              std::nullopt);
}

TEST(EtcdMessages, ATransactionInsideAnotherIsRead) {
    // Of a server: revision 7, succeeded, with a range of one key inside a refused transaction.
    const auto inside = "\x1a\x10\x0a\x0e\x12\x0c\x0a\x01k\x10\x05\x18\x06\x2a\x01v\x30\x09"s;
    const auto whole = "\x0a\x02\x18\x07\x10\x01\x1a\x14\x22\x12"s + inside;
    const auto answer = read_transaction(whole);
    EXPECT_EQ(answer.revision, 7);
    EXPECT_TRUE(answer.succeeded);
    ASSERT_EQ(answer.answers.size(), 1U);
    EXPECT_EQ(answer.at(0).succeeded, false);
    ASSERT_EQ(answer.at(0).answers.size(), 1U);
    const auto& pairs = answer.at(0).answers.front().values;
    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_EQ(pairs.front().key, "k");
    EXPECT_EQ(pairs.front().value, "v");
    EXPECT_EQ(pairs.front().create_revision, 5);
    EXPECT_EQ(pairs.front().mod_revision, 6);
    EXPECT_EQ(pairs.front().lease, 9);
    EXPECT_THROW(static_cast<void>(answer.at(1)), error);
}

TEST(EtcdMessages, DamagedMessagesAreRefused) {
    const auto whole =
        "\x0a\x02\x18\x07\x10\x01\x1a\x10\x0a\x0e\x12\x0c\x0a\x01k\x10\x05\x18\x06\x2a\x01v"s;
    const auto read_all = [](const std::string& text) {
        const std::array<std::function<void()>, 6> readers{
            [&] { static_cast<void>(read_transaction(text)); },
            [&] { static_cast<void>(read_range(text)); },
            [&] { static_cast<void>(read_watch(text)); },
            [&] { static_cast<void>(read_status(text)); },
            [&] { static_cast<void>(read_members(text)); },
            [&] { static_cast<void>(read_lease_seconds(text)); }};
        for (const auto& each : readers) {
            try {
                each();
            } catch (const error& failed) {
                EXPECT_EQ(failed.reason(), errc::protocol);
            }
        }
    };
    for (std::size_t size = 0; size < whole.size(); ++size)
        read_all(whole.substr(0, size));
    for (std::size_t at = 0; at < whole.size() * 8; ++at) {
        auto text = whole;
        text[at / 8] = static_cast<char>(text[at / 8] ^ (1 << at % 8));
        read_all(text);
    }
    EXPECT_THROW(static_cast<void>(read_transaction(whole.substr(0, 9))), error);
}

TEST(EtcdErrors, EachStatusHasASentence) {
    const auto reason = [](int code, const std::string& text, bool has_login = true) {
        const auto made = to_error({code, text}, "etcd at db:2379", has_login);
        EXPECT_TRUE(std::string(made.what()).starts_with("etcd at db:2379")) << made.what();
        EXPECT_TRUE(std::string(made.what()).ends_with(".")) << made.what();
        EXPECT_EQ(made.code(), code);
        return made.reason();
    };
    EXPECT_EQ(reason(14, "the connection has ended"), errc::unreachable);
    EXPECT_EQ(reason(14, "etcdserver: no leader"), errc::unavailable);
    EXPECT_EQ(reason(4, "it did not answer in time"), errc::unreachable);
    EXPECT_EQ(reason(5, "etcdserver: requested lease not pairs"), errc::unavailable);
    EXPECT_EQ(reason(7, "etcdserver: permission denied"), errc::refused);
    EXPECT_EQ(reason(8, "etcdserver: mvcc: database space exceeded"), errc::unavailable);
    EXPECT_EQ(reason(3, "etcdserver: user name is empty", false), errc::refused);
    EXPECT_EQ(reason(3, "etcdserver: authentication failed"), errc::refused);
    EXPECT_EQ(reason(3, "etcdserver: duplicate key given in txn request"), errc::protocol);
    EXPECT_EQ(reason(12, "unknown service"), errc::protocol);
    EXPECT_EQ(reason(call_status::not_grpc, "it answered"), errc::protocol);
    EXPECT_EQ(reason(call_status::too_long, "the answer has more than 4 MiB"), errc::unsupported);
    EXPECT_TRUE(needs_login({16, "etcdserver: invalid auth token"}));
    EXPECT_TRUE(needs_login(
        {3, "etcdserver: revision of auth store is old: auth revision in header is old"}));
    EXPECT_FALSE(needs_login({3, "etcdserver: authentication failed"}));
}

TEST(EtcdDoctor, VersionsWithKnownFaultsAreNamed) {
    using enum finding::grade;
    EXPECT_EQ(version_finding("3.4.23").level, warning);
    EXPECT_EQ(version_finding("3.4.31").level, note);
    EXPECT_EQ(version_finding("3.4.38").level, good);
    EXPECT_EQ(version_finding("3.5.12").level, warning);
    EXPECT_EQ(version_finding("3.5.16").level, note);
    EXPECT_EQ(version_finding("3.5.23").level, good);
    EXPECT_EQ(version_finding("3.6.4").level, note);
    EXPECT_EQ(version_finding("3.6.5-rc.1").level, good);
    EXPECT_EQ(version_finding("3.7.0").level, good);
    EXPECT_EQ(size_finding(1 << 20, 1 << 19).level, good);
    EXPECT_EQ(size_finding(std::int64_t{1900} << 20, 1 << 20).level, warning);
}

}  // namespace
}  // namespace pawl::etcd
