// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// URLs and options with a mistake that would change their meaning, or that have no meaning.
#include <pawl/error.hpp>
#include <pawl/options.hpp>
#include <pawl/redis.hpp>
#include <pawl/service.hpp>

#include <redis/transport/options.hpp>
#include <support/temp_folder.hpp>

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pawl {
namespace {

error refusal_of(std::string_view bad) {
    try {
        static_cast<void>(from_url(bad));
    } catch (const error& e) {
        return e;
    }
    return {errc::protocol, std::string(bad) + " was accepted"};
}

bool has_message(const error& refused, std::string_view part) {
    return std::string_view(refused.what()).find(part) != std::string_view::npos;
}

TEST(Urls, NumbersAreWithoutABlank) {
    const std::pair<const char*, const char*> table[] = {
        {"redis://h:6379 ", "The URL ends with a blank; remove it."},
        {" redis://h", "The URL begins with a blank; remove it."},
        {"redis://h:63 79", "a blank or a control character behind a port; remove it."},
        {"redis://h?reply_timeout=5 s", "(a bare number is milliseconds), from 1ms to 10min."},
        {"redlock://a,b,c?ttl_max=30 s", "(a bare number is milliseconds), from 100ms to 1h."}};
    for (const auto& [url, ending] : table) {
        const auto refused = refusal_of(url);
        EXPECT_EQ(refused.reason(), errc::bad_url) << url;
        EXPECT_TRUE(std::string_view(refused.what()).ends_with(ending)) << refused.what();
    }
}

// The URLs, each with the end of its error.
template <std::size_t Size>
void expect_refused(const std::pair<const char*, const char*> (&table)[Size]) {
    for (const auto& [url, sentence] : table) {
        const auto refused = refusal_of(url);
        EXPECT_EQ(refused.reason(), errc::bad_url) << url;
        EXPECT_TRUE(std::string_view(refused.what()).ends_with(sentence))
            << url << ": " << refused.what();
    }
}

// A frequent mistake is answered with the probable intention.
TEST(Urls, ThatAreMistakenAreAnsweredWithWhatWasMeant) {
    const std::pair<const char*, const char*> table[] = {
        {"localhost:7401", "The URL has no scheme; did you mean redis://localhost:7401?"},
        {"10.0.0.7:6379/2", "The URL has no scheme; did you mean redis://10.0.0.7:6379?"},
        {"[::1]:6379", "The URL has no scheme; did you mean redis://[::1]:6379?"},
        {"localhost", "The URL has no scheme; did you mean redis://localhost?"},
        {"redis//localhost:7401",
         "The URL has no ':' after its scheme; did you mean redis://localhost:7401?"},
        {"rediss//h", "The URL has no ':' after its scheme; did you mean rediss://h?"},
        {"redis:localhost:1", "The URL has no '//' after its scheme; write redis://localhost:1."},
        {"rediss:/localhost", "The URL has no '//' after its scheme; write rediss://localhost."},
        {"redis:", "The URL has no '//' after its scheme; write redis://HOST."},
        {"redis+unix:/s",
         "The URL has no '//' after its scheme; write redis+unix:///path/to/socket."},
        {"reddis://h", "'reddis' is not a scheme that this build knows; did you mean redis://?"},
        {"Redis://h", "'Redis' is not a scheme that this build knows; did you mean redis://?"},
        {"rdiss://h", "'rdiss' is not a scheme that this build knows; did you mean rediss://?"},
        {"sqlite3:/x", "'sqlite3' is not a scheme that this build knows; did you mean sqlite:?"},
        {"sqlite3:/var/locks.db",
         "'sqlite3' is not a scheme that this build knows; did you mean sqlite:?"},
        {"mem:x",
         "'mem' is not a scheme that this build knows; begin with one of: redis://, "
         "rediss://, redis+unix://, redis+sentinel://, rediss+sentinel://, redis+cluster://, "
         "rediss+cluster://, redlock://, redlocks://, sqlite:, postgresql://, postgres://, "
         "mysql://, mariadb://, etcd://, etcds://, zookeeper://, zookeepers://, consul://, "
         "consuls://, memory:."},
        {"mongodb://h",
         "'mongodb' is not a scheme that this build knows; begin with one of: "
         "redis://, rediss://, redis+unix://, redis+sentinel://, rediss+sentinel://, "
         "redis+cluster://, rediss+cluster://, redlock://, redlocks://, sqlite:, postgresql://, "
         "postgres://, mysql://, mariadb://, etcd://, etcds://, zookeeper://, zookeepers://, "
         "consul://, consuls://, memory:."},
        {"/var/locks.db", "The URL is a path without a scheme; did you mean sqlite:/var/locks.db?"},
        {"locks.db", "The URL is a path without a scheme; did you mean sqlite:locks.db?"},
        {"redis-sentinel://a:26379,b:26379/mymaster",
         "'redis-sentinel' is not a scheme of Pawl; the master of Sentinels is "
         "redis+sentinel://HOST1,HOST2,HOST3/MASTER-NAME."},
        {"file:/var/locks.db",
         "'file' is not a scheme of Pawl; a lock file is sqlite:/path/to/file."},
        {"file:locks", "'file' is not a scheme of Pawl; a lock file is sqlite:/path/to/file."},
        {"sqlite", "The URL is only a scheme; write sqlite:/path/to/file."},
        {"memory", "The URL is only a scheme; write memory:."},
        {"redis", "The URL is only a scheme; write redis://HOST."},
        {"redis+unix", "The URL is only a scheme; write redis+unix:///path/to/socket."},
        {"http://h:6379",
         "'http' is not a scheme of Pawl, which does not speak HTTP; write "
         "redis://HOST, or rediss://HOST for TLS."},
        {"valkey://h", "; Valkey speaks the protocol of Redis, so write redis://HOST."},
        {"unix:///s", "; a unix socket of Redis is redis+unix:///path/to/socket."},
        {"",
         "The URL has no scheme; begin with one of: redis://, rediss://, redis+unix://, "
         "redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster://, "
         "redlock://, redlocks://, sqlite:, postgresql://, postgres://, mysql://, mariadb://, "
         "etcd://, etcds://, zookeeper://, zookeepers://, consul://, consuls://, memory:."}};
    expect_refused(table);
}

TEST(Urls, WithMistakenHostsAreAnsweredWithWhatWasMeant) {
    const std::pair<const char*, const char*> table[] = {
        {"redis://a,b,c",
         "The URL names several servers, and redis:// takes only one; for Sentinels write "
         "redis+sentinel://HOST1,HOST2,HOST3/MASTER-NAME, for a cluster "
         "redis+cluster://HOST1,HOST2,HOST3, for Redlock over independent servers "
         "redlock://HOST1,HOST2,HOST3."},
        {"rediss://u:p@h:1,h:2/0",
         "The URL names several servers, and rediss:// takes only one; for Sentinels write "
         "rediss+sentinel://HOST1,HOST2,HOST3/MASTER-NAME, for a cluster "
         "rediss+cluster://HOST1,HOST2,HOST3, for Redlock over independent servers "
         "redlocks://HOST1,HOST2,HOST3."},
        {"redis://::1", "The URL's IPv6 address has no brackets; write [::1], or [::1]:6379."},
        {"redlock://fe80::1:6379,b,c", "no brackets; write [::1], or [::1]:6379."},
        {"redis://h?password=s3cret",
         "The URL's option 'password' is unknown; name a file by password_file, or a variable by "
         "password_env."},
        {"redis://a,,c", "The URL's list of hosts has an empty entry; write host1,host2:port."},
        {"redis://a,", "The URL's list of hosts has an empty entry; write host1,host2:port."},
        {"redis://a,:7000", "The URL's list of hosts has an empty entry; write host1,host2:port."}};
    expect_refused(table);
}

// The '@' of an option is not behind a password that was cut.
TEST(Urls, WithAPasswordMayHaveAnAtSignInAnOption) {
    for (const std::string_view url :
         {"redis://:pw@host:1/0?namespace=a@b", "redis://u:pw@host/0?namespace=a@b"})
        EXPECT_NO_THROW(static_cast<void>(from_url(url))) << url;
}

// A password is not repeated, whatever is mistyped before it.
TEST(Urls, ThatAreMistakenKeepTheirPassword) {
    for (const std::string_view url :
         {"reddis://u:s3cret@h", "redis//u:s3cret@h", "http://:s3cret@h:1", "u:s3cret@h:6379",
          "redis:u:s3cret@h", "redis-sentinel://:s3cret@h/m", "//:s3cret@h", "h?password=s3cret",
          "localhost:1?password=s3cret", "redis:h?password=s3cret"}) {
        const auto refused = refusal_of(url);
        EXPECT_FALSE(has_message(refused, "s3cret")) << refused.what();
    }
}

redis::options options_of(std::string_view url) { return redis::parse_options(url); }

const redis::sentinels& sentinels_of(const redis::options& settings) {
    return std::get<redis::sentinels>(settings.where);
}

TEST(Urls, OfSentinelsNameThemAndTheMaster) {
    const auto plain = options_of("redis+sentinel://u:p@a,b:1,[::1]:2/orders/3?sentinel_user=s");
    EXPECT_EQ(redis::describe(plain), "redis+sentinel://a:26379,b:1,[::1]:2/orders/3");
    EXPECT_EQ(plain.user + plain.password, "up");
    EXPECT_EQ(sentinels_of(plain).user + sentinels_of(plain).password, "s");
    EXPECT_FALSE(plain.tls.enabled || sentinels_of(plain).tls.enabled);
    const auto both = options_of("rediss+sentinel://a/it?ca=/c&tls_name=db&sentinel_tls_name=s");
    EXPECT_TRUE(both.tls.enabled && sentinels_of(both).tls.enabled);
    EXPECT_EQ(sentinels_of(both).tls.ca_file, "/c");
    EXPECT_EQ(both.tls.name + sentinels_of(both).tls.name, "dbs");
    EXPECT_FALSE(sentinels_of(options_of("rediss+sentinel://a/it?sentinel_tls=no")).tls.enabled);
    EXPECT_TRUE(sentinels_of(options_of("redis+sentinel://a/it?sentinel_tls=yes")).tls.enabled);
}

TEST(Urls, OfSentinelsThatAreMistakenAreOneSentence) {
    const std::pair<const char*, const char*> table[] = {
        {"redis+sentinel://a,b", "The URL names no master; write "},
        {"redis+sentinel://a,b/", "The URL names no master; write "},
        {"redis+sentinel:///orders", "The URL names no Sentinel; write "},
        {"redis+sentinel://a/orders/x", "'x' is not a database"},
        {"redis+sentinel://a/orders?sentinel_ca=/c", "The Sentinels have no TLS"},
        {"rediss+sentinel://a/orders?sentinel_cert=/c", "sentinel_cert and sentinel_cert_key go"},
        {"redis+sentinel://a/orders?sentinel_hosts=b", "'sentinel_hosts' is unknown; known are"},
        {"redis+sentinel://a/orders?sentinel_tls=on", "use yes or no"},
        {"redis+sentinel://a/orders?ca=/c", "Only rediss+sentinel:// has TLS"},
        {"redis+cluster://a?ca=/c", "Only rediss+cluster:// has TLS"},
        {"redis+sentinel://a,%20b/orders", "A host in the URL contains a blank"},
        {"redis+sentinel://a, b/orders", "A host in the URL contains a blank"},
        {"redis+sentinel://a/orders?sentinel_user=x", "sentinel_user has no password"},
        {"redis://a?sentinel_user=x", "Only redis+sentinel:// has Sentinels"},
        {"redis+sentinel://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/orders", "more than 16 Sentinels"}};
    for (const auto& [bad, part] : table) {
        const auto refused = refusal_of(bad);
        EXPECT_TRUE(has_message(refused, part)) << bad << ": " << refused.what();
    }
}

// What no URL can say.
TEST(Urls, AsAStructNameServers) {
    const std::pair<redis::options, const char*> table[] = {
        {{.where = redis::server{.host = ""}}, "names no host"},
        {{.where = redis::unix_socket{}}, "The unix socket has no path; give one."},
        {{.where = redis::unix_socket{std::string(108, 's')}}, "longer than 107 bytes"},
        {{.where = redis::unix_socket{"/s"}, .tls = {.enabled = true}}, "A unix socket has no TLS"},
        {{.where = redis::sentinels{.master_name = "orders"}}, "no Sentinel's address; give one."},
        {{.where = redis::sentinels{.addresses = {{"a"}}}}, "give master_name."},
        {{.where = redis::sentinels{.addresses = {{""}}, .master_name = "orders"}},
         "A Sentinel's address has no host"},
        {{.where = redis::cluster{}}, "The cluster has no node's address; give one."},
        {{.where = redis::cluster{{{"a"}}}, .database = 1}, "A cluster has only database 0"},
        {{.where = redis::cluster{{{"a"}, {""}}}}, "A node's address has no host"},
        {{.where = redis::cluster{std::vector<redis::server>(17)}}, "more than 16 nodes"}};
    for (const auto& [settings, part] : table) {
        try {
            static_cast<void>(redis::at(settings));
            ADD_FAILURE() << part;
        } catch (const error& refused) {
            EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
            EXPECT_TRUE(has_message(refused, part)) << refused.what();
        }
    }
}

TEST(Urls, AndStructsNameTheSameServers) {
    const std::pair<redis::options, const char*> table[] = {
        {{}, "redis://127.0.0.1:6379/0"},
        {{.where = redis::server{"db", 7001}, .database = 2}, "redis://db:7001/2"},
        {{.where = redis::unix_socket{"/run/s"}}, "redis+unix:///run/s"},
        {{.where = redis::sentinels{.addresses = {{"a"}, {"b", 1}}, .master_name = "orders"}},
         "redis+sentinel://a:26379,b:1/orders/0"},
        {{.where = redis::cluster{{{"a"}, {"b", 1}}}, .tls = {.enabled = true}},
         "rediss+cluster://a:6379,b:1"}};
    for (const auto& [settings, url] : table) {
        EXPECT_EQ(redis::at(settings).describe(), url);
        EXPECT_EQ(from_url(url).describe(), url);
    }
}

TEST(Urls, OfAPathHaveNoHost) {
    for (const std::string_view bad :
         {"redis+unix://tmp/x/sock", "redis+unix://otherhost/tmp/x", "redis+unix://tmp",
          "redis+unix://u:p@h/tmp/x", "memory://x", "memory://x/y"}) {
        const auto refused = refusal_of(bad);
        EXPECT_EQ(refused.reason(), errc::bad_url) << refused.what();
        EXPECT_TRUE(has_message(refused, "URL has no host; write ")) << refused.what();
    }
    for (const std::string_view good : {"redis+unix:///s", "redis+unix://u:p@/s", "memory:x"})
        EXPECT_NO_THROW(static_cast<void>(from_url(good))) << good;
}

// As it results from a shell variable that is not set.
TEST(Urls, WithAnEmptyOptionAreRefused) {
    for (const std::string_view bad :
         {"redis://h?key=", "redis://h?layout=", "redis://h?namespace=", "rediss://h?ca=",
          "redis+unix:///s?password_env=", "redis+unix:///s?database=",
          "redis://h?password_file=&key={name}"}) {
        const auto refused = refusal_of(bad);
        EXPECT_TRUE(has_message(refused, "= is empty; give it a value, or leave it out."))
            << refused.what();
    }
}

// Two clients of one key must use the same names for its other keys.
TEST(Urls, HaveATemplateOrANamespace) {
    for (const std::string_view bad :
         {"redis://h?key={name}&namespace=a", "redis://h?namespace=a&key=lock:{name}",
          "redis+unix:///s?key=lock:{name}&namespace=b"}) {
        const auto refused = refusal_of(bad);
        EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
        EXPECT_TRUE(has_message(refused, "Leave out namespace, or leave out key."))
            << refused.what();
    }
    EXPECT_THROW(static_cast<void>(redis::at(redis::options{.name_space = "a", .key = "{name}"})),
                 error);
    EXPECT_TRUE(has_message(refusal_of("redis://h?key=pawl:{{name}}"), "leave out key."));
    for (const std::string_view good : {"redis://h?key={name}&namespace=pawl",
                                        "redis://h?key=a:{{name}}", "redis://h?namespace=a"})
        EXPECT_NO_THROW(static_cast<void>(from_url(good))) << good;
}

// Added to the present time, `forever` would overflow to the past.
TEST(Urls, AsAStructHaveTimeoutsThatEnd) {
    for (const auto timeout :
         {&pawl::redis::options::connect_timeout, &pawl::redis::options::reply_timeout}) {
        pawl::redis::options options;
        options.*timeout = pawl::forever;
        try {
            (void)pawl::redis::at(options);
            ADD_FAILURE() << "it was accepted";
        } catch (const pawl::error& refused) {
            EXPECT_EQ(refused.reason(), pawl::errc::bad_option) << refused.what();
        }
    }
}

TEST(Urls, WithoutTlsHaveNoOptionsOfTls) {
    for (const std::string option : {"ca=/f", "cert=/f", "cert_key=/f", "verify=no", "verify=yes",
                                     "cert_key_password_file=/f", "tls_name=h"})
        for (const std::string url : {"redis://h?", "redis+unix:///s?"}) {
            const auto refused = refusal_of(url + option);
            EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
            EXPECT_TRUE(has_message(refused, "Only rediss:// has TLS; ")) << refused.what();
        }
    EXPECT_NO_THROW(static_cast<void>(from_url("rediss://h?verify=no&ca=/f")));
    for (const tls_options& set :
         {tls_options{.ca_file = "/f"}, tls_options{.cert_file = "/f"},
          tls_options{.key_file = "/f"}, tls_options{.verify = false},
          tls_options{.key_password = "p"}, tls_options{.key_password_file = "/f"}})
        EXPECT_THROW(static_cast<void>(redis::at(redis::options{.tls = set})), error);
}

// Also with the default value: a user who writes it believes that it has an effect.
TEST(Urls, HaveNoOptionsOfAnotherLayout) {
    for (const std::string url : {"redis://h?", "rediss://h?", "redis+unix:///s?"}) {
        for (const std::string option :
             {"object=lock", "object=readwrite", "object=lock&layout=native"}) {
            const auto refused = refusal_of(url + option);
            EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
            EXPECT_TRUE(has_message(refused, "Only Redisson's layout has objects; "))
                << refused.what();
        }
        for (const std::string option : {"namespace=pawl", "namespace=shop"}) {
            const auto refused = refusal_of(url + "layout=redisson&" + option);
            EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
            EXPECT_TRUE(has_message(refused, "Redisson's layout has no namespace; "))
                << refused.what();
        }
        for (const std::string good : {"object=lock&layout=redisson", "layout=native",
                                       "namespace=pawl", "layout=native&namespace=pawl"})
            EXPECT_NO_THROW(static_cast<void>(from_url(url + good))) << good;
    }
}

TEST(Urls, MayForbidScripts) {
    for (const std::string url : {"redis://h?", "rediss://h?", "redis+unix:///s?",
                                  "redis+sentinel://h/m?", "redis+cluster://h?"}) {
        for (const std::string good : {"scripts=no", "scripts=yes", "scripts=no&namespace=shop",
                                       "scripts=no&key=redlock:{name}"})
            EXPECT_NO_THROW(static_cast<void>(from_url(url + good))) << good;
        const auto unknown = refusal_of(url + "scripts=off");
        EXPECT_EQ(unknown.reason(), errc::bad_url) << unknown.what();
        EXPECT_TRUE(has_message(unknown, "use yes or no")) << unknown.what();
        const auto refused = refusal_of(url + "scripts=no&layout=redisson");
        EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
        EXPECT_TRUE(has_message(refused, "Redisson's layout needs scripts")) << refused.what();
    }
    // The same locks, so the same name.
    EXPECT_EQ(from_url("redis://h?scripts=no").describe(), "redis://h:6379/0");
}

TEST(Urls, MayHaveAPasswordWithAComma) {
    EXPECT_NO_THROW(static_cast<void>(from_url("redis://u:a,b@h:1/0")));
}

// Two names for different locks must look different, and a displayed name can be used as input
// again.
TEST(Urls, AreShownWithEverythingThatDecidesWhichLockANameIs) {
    const std::pair<const char*, const char*> table[] = {
        {"redis://u:secret@h", "redis://h:6379/0"},
        {"redis://h/2?namespace=shop", "redis://h:6379/2?namespace=shop"},
        {"redis://h?namespace=pawl&reply_timeout=7&layout=native", "redis://h:6379/0"},
        {"redis://[::1]:1?namespace=a%26b", "redis://[::1]:1/0?namespace=a%26b"},
        {"rediss://h?key=redlock:{name}&verify=no", "rediss://h:6379/0?key=redlock:{name}"},
        {"redis://h?layout=redisson", "redis://h:6379/0?layout=redisson"},
        {"redis://h?object=readwrite&layout=redisson&key=app:{name}",
         "redis://h:6379/0?key=app:{name}&layout=redisson&object=readwrite"},
        {"redis://h?layout=redisson&object=semaphore",
         "redis://h:6379/0?layout=redisson&object=semaphore"},
        {"redis+unix:///run/s%3F?database=3&namespace=shop",
         "redis+unix:///run/s%3F?database=3&namespace=shop"},
        {"sqlite:/a%25/b%3F?namespace=shop", "sqlite:/a%25/b%3F?namespace=shop"},
        {"sqlite:/a/b?namespace=pawl", "sqlite:/a/b"}};
    for (const auto& [url, shown] : table) {
        EXPECT_EQ(from_url(url).describe(), shown);
        EXPECT_EQ(from_url(shown).describe(), shown);
    }
    const auto relative = from_url("sqlite:l.db").describe();
    EXPECT_TRUE(relative.starts_with("sqlite:/") && relative.ends_with("/l.db")) << relative;
}

TEST(Urls, HaveBothPartsOfAClientCertificateOrNone) {
    for (const std::string_view bad : {"rediss://h?cert=/c", "rediss://h?cert_key=/k"}) {
        const auto refused = refusal_of(bad);
        EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
        EXPECT_TRUE(has_message(refused, "cert and cert_key go together; give both."))
            << refused.what();
    }
    EXPECT_NO_THROW(static_cast<void>(from_url("rediss://h?cert=/c&cert_key=/k")));
}

TEST(Urls, HaveOnePassPhraseAndItsKey) {
    const auto without_key = refusal_of("rediss://h?cert_key_password_file=/f");
    EXPECT_TRUE(has_message(without_key, "a pass phrase without a key; give cert and cert_key"))
        << without_key.what();
    ::setenv("PAWL_UNIT_PHRASE", "p", 1);
    const auto two = refusal_of(
        "rediss://h?cert=/c&cert_key=/k&cert_key_password_file=/f&"
        "cert_key_password_env=PAWL_UNIT_PHRASE");
    EXPECT_EQ(two.reason(), errc::bad_option);
    EXPECT_TRUE(has_message(two, "The key's pass phrase comes from two places; keep one of"))
        << two.what();
    const auto both = options_of(
        "rediss+sentinel://a/it?cert=/c&cert_key=/k&cert_key_password_env=PAWL_UNIT_PHRASE");
    EXPECT_EQ(sentinels_of(both).tls.key_password, "p");
    EXPECT_EQ(sentinels_of(both).tls.key_file, "/k");
    ::unsetenv("PAWL_UNIT_PHRASE");
}

class PasswordFile : public ::testing::Test {
protected:
    [[nodiscard]] std::string write(const std::string& text, unsigned rights) const {
        auto path = folder_.file("password");
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms(rights));
        return path;
    }
    [[nodiscard]] static error error_of_file(const std::string& path) {
        return refusal_of("redis://h?password_file=" + path);
    }
    support::temp_folder folder_;
};

// As for a configuration file that contains a password.
TEST_F(PasswordFile, ThatEverybodyMayReadIsRefused) {
    for (const unsigned rights : {0644U, 0604U, 0444U}) {
        const auto path = write("hunter2\n", rights);
        const auto refused = error_of_file(path);
        EXPECT_EQ(refused.reason(), errc::bad_option);
        EXPECT_TRUE(has_message(
            refused, "Everybody may read the password file '" + path + "'; run: chmod o-r " + path))
            << refused.what();
    }
    for (const unsigned rights : {0600U, 0640U, 0400U})
        EXPECT_NO_THROW(
            static_cast<void>(from_url("redis://h?password_file=" + write("hunter2", rights))));
}

// In a process of its own, because it mounts a file system.
TEST_F(PasswordFile, OfAReadOnlyMountMayBeForEverybody) {
    const auto folder = folder_.file("secrets");
    std::filesystem::create_directory(folder);
    const auto steps = [&] {
        const bool root = ::geteuid() == 0;
        if (::unshare(root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0 ||
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", folder.c_str(), "tmpfs", 0, "size=64k") != 0)
            return 3;
        const auto path = folder + "/password";
        std::ofstream(path) << "hunter2\n";
        std::filesystem::permissions(path, std::filesystem::perms(0444));
        try {
            static_cast<void>(from_url("redis://h?password_file=" + path));
            return 1;
        } catch (const error&) {}
        if (::mount("none", folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
            return 3;
        static_cast<void>(from_url("redis://h?password_file=" + path));
        return 0;
    };
    EXPECT_EXIT(std::_Exit(steps()), ::testing::ExitedWithCode(0), "");
}

TEST_F(PasswordFile, ThatIsOfNoUseIsRefusedWithTheReason) {
    EXPECT_TRUE(has_message(error_of_file("/no/such"), "No such file or directory"));
    EXPECT_TRUE(has_message(error_of_file(write("", 0600)), "is empty; write the password there."));
    EXPECT_TRUE(has_message(error_of_file(write("\nhunter2", 0600)),
                            "is empty; write the password there."));
}

TEST(Urls, HaveOnePasswordAtMost) {
    ASSERT_EQ(::setenv("PAWL_UNIT_PASSWORD", "hunter2", 1), 0);
    for (const std::string_view bad :
         {"redis://u:hunter3@h?password_env=PAWL_UNIT_PASSWORD",
          "redis+unix://:hunter3@/s?password_env=PAWL_UNIT_PASSWORD"}) {
        const auto refused = refusal_of(bad);
        EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
        EXPECT_TRUE(has_message(refused, "more than one place")) << refused.what();
        EXPECT_FALSE(has_message(refused, "hunter")) << refused.what();
    }
    EXPECT_NO_THROW(static_cast<void>(from_url("redis://u@h?password_env=PAWL_UNIT_PASSWORD")));
    ::unsetenv("PAWL_UNIT_PASSWORD");
}

}  // namespace
}  // namespace pawl
