// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Passwords and certificates that change while locks are held. A hold goes on over each new
// connection, and the client is not restarted.
#include "redis_fixture.hpp"

#include <support/certificates.hpp>
#include <support/sentinel_group.hpp>
#include <support/temp_folder.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

namespace {

using namespace chaos;
using testing::HasSubstr;

// One client of a user whose connections can be ended at the server.
class Rotation : public testing::Test, protected redis_fixture {
protected:
    explicit Rotation(support::redis_options options = {}) : redis_fixture(std::move(options)) {
        set_password("first");
    }

    void set_password(const std::string& password) {
        ASSERT_EQ(server
                      .execute({"ACL", "SETUSER", "locks", "on", "resetpass", ">" + password,
                                "~pawl:*", "&pawl:*", "+@all"})
                      .text,
                  "OK");
    }
    // The hold is renewed over a new connection.
    void expect_hold_goes_on(client& locks, held_lock& lock) {
        const auto before = locks.statistics().connections;
        ASSERT_GT(server.execute({"CLIENT", "KILL", "USER", "locks"}).number(), 0);
        EXPECT_TRUE(eventually([&] {
            try {
                lock.renew();
            } catch (const pawl::error&) {
                return false;
            }
            return locks.statistics().connections > before;
        }));
        EXPECT_EQ(lock.state(), lock_state::held);
        EXPECT_FALSE(lock.lost().stop_requested());
    }
    bool eventually_logs(const std::string& text) {
        return eventually([&] { return client_log.text().find(text) != std::string::npos; });
    }
    std::size_t count_in_log(const std::string& text) const {
        const auto log = client_log.text();
        std::size_t count = 0;
        for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1))
            ++count;
        return count;
    }
    client client_with(const pawl::redis::options& settings) {
        pawl::client_options options;
        options.log = [this](std::string_view line) { client_log.write(line); };
        return client(pawl::redis::at(settings), options);
    }
};

class PasswordRotation : public Rotation {
protected:
    PasswordRotation() { write("first"); }
    void write(const std::string& password) const {
        std::ofstream(file) << password << "\n";
        std::filesystem::permissions(file, std::filesystem::perms(0600));
    }
    std::string url() const {
        return "redis://locks@127.0.0.1:" + std::to_string(server.port()) +
               "?password_file=" + file;
    }

    const std::string file = server.folder().file("password");
};

TEST_F(PasswordRotation, IsFollowedWithTheNextConnection) {
    client locks = client_at(url());
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    for (const std::string password : {"second", "third"}) {
        set_password(password);
        write(password);
        expect_hold_goes_on(locks, lock);
    }
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_F(PasswordRotation, KeepsThePasswordOfAFileThatCannotBeRead) {
    client locks = client_at(url());
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    std::ofstream(file).flush();  // is being written
    expect_hold_goes_on(locks, lock);
    EXPECT_TRUE(eventually_logs("is empty; write the password there. The last credentials are"));
    expect_hold_goes_on(locks, lock);
    EXPECT_EQ(count_in_log("is empty; write"), 1U) << client_log.text();
    std::filesystem::remove(file);
    expect_hold_goes_on(locks, lock);
    EXPECT_TRUE(eventually_logs("cannot be read (No such file or directory)"));
    write("second");
    set_password("second");
    expect_hold_goes_on(locks, lock);
}

// The file has half of the password, or the server does not know the new one yet.
TEST_F(PasswordRotation, UsesTheLastPasswordWhenTheServerRefusesTheNewOne) {
    client locks = client_at(url());
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    write("sec");
    expect_hold_goes_on(locks, lock);
    EXPECT_TRUE(eventually_logs("it refuses the new password"));
    write("second");
    expect_hold_goes_on(locks, lock);
    set_password("second");
    expect_hold_goes_on(locks, lock);
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_F(PasswordRotation, IsFollowedAtTheSentinelsToo) {
    support::sentinel_group group({.sentinels = 1, .sentinel_password = "first"});
    client locks = client_at(group.url("?sentinel_password_file=" + file));
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto connects = [&] {
        auto& sentinel = group.sentinel(0);
        const auto before = count_in_log("connected to");
        (void)sentinel.execute({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        (void)sentinel.execute({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
        // A connection to the master asks the Sentinels first.
        (void)group.server(0).execute({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        (void)group.server(0).execute({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
        return eventually([&] { return count_in_log("connected to") > before; });
    };
    ASSERT_EQ(group.sentinel(0).execute({"ACL", "SETUSER", "default", "resetpass", ">second"}).text,
              "OK");
    write("second");
    EXPECT_TRUE(connects()) << client_log.text();
    EXPECT_EQ(lock.release(), release_result::released);
}

class Credentials : public Rotation {
protected:
    // Returns the password after the event of the call; the counts are for the tests' waits.
    pawl::redis::options settings() {
        pawl::redis::options result;
        result.where = pawl::redis::server{.port = server.port()};
        result.connect_timeout = 2s;
        result.user = "locks";
        result.credentials = [state = state_] {
            ++state->calls;
            {
                const std::lock_guard lock(state->mutex);
                state->threads.insert(std::this_thread::get_id());
            }
            while (state->is_blocked)
                state->is_blocked.wait(true);
            const std::lock_guard lock(state->mutex);
            if (!state->failure.empty()) throw std::runtime_error(state->failure);
            return pawl::login{.password = state->password};
        };
        return result;
    }
    struct shared_state {
        std::mutex mutex;
        std::string password = "first";
        std::string failure;
        std::set<std::thread::id> threads;
        std::atomic<int> calls = 0;
        std::atomic<bool> is_blocked = false;
    };
    void set_result(const std::string& password, const std::string& failure = {}) {
        const std::lock_guard lock(state_->mutex);
        state_->password = password;
        state_->failure = failure;
    }
    void block(bool blocked) {
        state_->is_blocked = blocked;
        state_->is_blocked.notify_all();
    }
    ~Credentials() override { block(false); }

    const std::shared_ptr<shared_state> state_ = std::make_shared<shared_state>();
};

TEST_F(Credentials, AreAskedForEachConnectionInAThreadOfTheirOwn) {
    client locks = client_with(settings());
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    EXPECT_EQ(state_->calls, 1);
    set_password("second");
    set_result("second");
    expect_hold_goes_on(locks, lock);
    EXPECT_GE(state_->calls, 2);
    EXPECT_FALSE(state_->threads.contains(std::this_thread::get_id()));
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_F(Credentials, ThatFailLeaveTheLastOnesInUse) {
    set_result("first", "the vault is sealed");
    client locks = client_with(settings());
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused);
    EXPECT_THAT(failed->sentence,
                HasSubstr("The function for the credentials has failed: the vault is sealed"));
    set_result("first");
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    set_result("", "the vault is sealed");
    expect_hold_goes_on(locks, lock);
    EXPECT_TRUE(eventually_logs("The last credentials are used again."));
}

TEST_F(Credentials, ThatDoNotComeLeaveTheLastOnesInUseAndDelayNobody) {
    client locks = client_with(settings());
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    block(true);
    expect_hold_goes_on(locks, lock);
    EXPECT_TRUE(eventually_logs("has not returned in time. The last credentials are used again."));
    const int calls = state_->calls;
    expect_hold_goes_on(locks, lock);
    EXPECT_EQ(state_->calls, calls) << "one call at a time";
    // What comes late is for the next connection.
    set_result("second");
    block(false);
    set_password("second");
    expect_hold_goes_on(locks, lock);
}

TEST_F(Credentials, ThatNeverCameEndWithTheClient) {
    block(true);
    {
        client locks = client_with(settings());
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(failed.has_value());
        // Either the function or the connection is late first.
        EXPECT_THAT(failed->reason, testing::AnyOf(errc::unavailable, errc::unreachable)) << failed;
    }
    EXPECT_TRUE(eventually([&] { return state_->calls == 1; }));
    // The function still runs, and what it shares is still there.
    block(false);
    EXPECT_TRUE(eventually([&] { return state_.use_count() == 1; }));
}

TEST_F(Credentials, AndAPasswordDoNotGoTogether) {
    auto both = settings();
    both.password = "first";
    const auto failed = failure_of([&] { (void)pawl::redis::at(both); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::bad_option);
    EXPECT_THAT(failed->sentence, HasSubstr("a password beside the function"));
}

class CertificateRotation : public Rotation {
protected:
    CertificateRotation() : Rotation({.tls = true, .client_certificates = true}) {
        for (const std::string name : {"ca.crt", "client.crt", "client.key"})
            put(server.folder().file(name), name);
    }
    // As a tool that rotates certificates does it: the path leads to the old or the new file.
    void put(const std::string& from, const std::string& name) const {
        std::filesystem::copy_file(from, own.file(name + ".new"));
        std::filesystem::rename(own.file(name + ".new"), own.file(name));
    }
    client client_of_files() {
        return client_at("rediss://locks:first@127.0.0.1:" + std::to_string(server.port()) +
                         "?ca=" + own.file("ca.crt") + "&cert=" + own.file("client.crt") +
                         "&cert_key=" + own.file("client.key"));
    }
    // Halves a file, as if it was being written.
    void halve(const std::string& name) const {
        const auto path = own.file(name);
        std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    }

    const support::temp_folder own;  // the client's files
};

TEST_F(CertificateRotation, IsFollowedWithTheNextConnection) {
    client locks = client_of_files();
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    const support::temp_folder renewed;
    const support::certificate_authority ca(renewed.path());
    ca.issue("server");
    ca.issue("client");
    ASSERT_EQ(
        server
            .execute({"CONFIG", "SET", "tls-cert-file", renewed.file("server.crt"), "tls-key-file",
                      renewed.file("server.key"), "tls-ca-cert-file", renewed.file("ca.crt")})
            .text,
        "OK");
    for (const std::string name : {"ca.crt", "client.crt", "client.key"})
        put(renewed.file(name), name);
    expect_hold_goes_on(locks, lock);
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_F(CertificateRotation, KeepsWhatWorkedWhileAFileIsDamagedOrMissing) {
    client locks = client_of_files();
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    halve("ca.crt");
    expect_hold_goes_on(locks, lock);
    EXPECT_TRUE(eventually_logs("ca.crt' cannot be used"));
    EXPECT_TRUE(eventually_logs("The files that were read before are still used."));
    expect_hold_goes_on(locks, lock);
    EXPECT_EQ(count_in_log("ca.crt' cannot be used"), 1U) << client_log.text();
    put(server.folder().file("ca.crt"), "ca.crt");
    // The certificate is new, and its key is not yet.
    const support::certificate_authority other(own.path(), "other");
    other.issue("client");
    std::filesystem::remove(own.file("client.key"));
    expect_hold_goes_on(locks, lock);
    EXPECT_TRUE(eventually_logs("client.key' cannot be used"));
    put(server.folder().file("client.key"), "client.key");
    expect_hold_goes_on(locks, lock);
    EXPECT_TRUE(eventually_logs("client.key' is not that of the certificate"));
}

}  // namespace
