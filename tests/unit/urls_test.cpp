// URLs and options that would be understood otherwise than they were meant, or not at all.
#include <pawl/error.hpp>
#include <pawl/redis.hpp>
#include <pawl/service.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

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

bool says(const error& refused, std::string_view words) {
    return std::string_view(refused.what()).find(words) != std::string_view::npos;
}

TEST(Urls, OfAPathHaveNoHost) {
    for (const std::string_view bad :
         {"redis+unix://tmp/x/sock", "redis+unix://otherhost/tmp/x", "redis+unix://tmp",
          "redis+unix://u:p@h/tmp/x", "memory://x", "memory://x/y"}) {
        const auto refused = refusal_of(bad);
        EXPECT_EQ(refused.reason(), errc::bad_url) << refused.what();
        EXPECT_TRUE(says(refused, "URL has no host; write ")) << refused.what();
    }
    for (const std::string_view good : {"redis+unix:///s", "redis+unix://u:p@/s", "memory:x"})
        EXPECT_NO_THROW(static_cast<void>(from_url(good))) << good;
}

// As of a variable that is not set.
TEST(Urls, WithAnEmptyOptionAreRefused) {
    for (const std::string_view bad :
         {"redis://h?key=", "redis://h?layout=", "redis://h?namespace=", "rediss://h?ca=",
          "redis+unix:///s?password_env=", "redis://h?password_file=&key={name}"}) {
        const auto refused = refusal_of(bad);
        EXPECT_TRUE(says(refused, "= is empty; give it a value, or leave it out."))
            << refused.what();
    }
}

TEST(Urls, WithoutTlsHaveNoOptionsOfTls) {
    for (const std::string option : {"ca=/f", "cert=/f", "cert_key=/f", "verify=no", "verify=yes"})
        for (const std::string url : {"redis://h?", "redis+unix:///s?"}) {
            const auto refused = refusal_of(url + option);
            EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
            EXPECT_TRUE(says(refused, "Only rediss:// has TLS; ")) << refused.what();
        }
    EXPECT_NO_THROW(static_cast<void>(from_url("rediss://h?verify=no&ca=/f")));
    for (const redis::tls_options& set :
         {redis::tls_options{.ca_file = "/f"}, redis::tls_options{.cert_file = "/f"},
          redis::tls_options{.key_file = "/f"}, redis::tls_options{.verify = false}})
        EXPECT_THROW(static_cast<void>(redis::at(redis::options{.tls = set})), error);
}

// Also with the value that is the usual one: whoever writes it believes that it does something.
TEST(Urls, HaveNoOptionsOfAnotherLayout) {
    for (const std::string url : {"redis://h?", "rediss://h?", "redis+unix:///s?"}) {
        for (const std::string option :
             {"object=lock", "object=readwrite", "object=lock&layout=native"}) {
            const auto refused = refusal_of(url + option);
            EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
            EXPECT_TRUE(says(refused, "Only Redisson's layout has objects; ")) << refused.what();
        }
        for (const std::string option : {"namespace=pawl", "namespace=shop"}) {
            const auto refused = refusal_of(url + "layout=redisson&" + option);
            EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
            EXPECT_TRUE(says(refused, "Redisson's layout has no namespace; ")) << refused.what();
        }
        for (const std::string good : {"object=lock&layout=redisson", "layout=native",
                                       "namespace=pawl", "layout=native&namespace=pawl"})
            EXPECT_NO_THROW(static_cast<void>(from_url(url + good))) << good;
    }
}

TEST(Urls, HaveOnePasswordAtMost) {
    ASSERT_EQ(::setenv("PAWL_UNIT_PASSWORD", "hunter2", 1), 0);
    for (const std::string_view bad :
         {"redis://u:hunter3@h?password_env=PAWL_UNIT_PASSWORD",
          "redis+unix://:hunter3@/s?password_env=PAWL_UNIT_PASSWORD"}) {
        const auto refused = refusal_of(bad);
        EXPECT_EQ(refused.reason(), errc::bad_option) << refused.what();
        EXPECT_TRUE(says(refused, "more than one place")) << refused.what();
        EXPECT_FALSE(says(refused, "hunter")) << refused.what();
    }
    EXPECT_NO_THROW(static_cast<void>(from_url("redis://u@h?password_env=PAWL_UNIT_PASSWORD")));
    ::unsetenv("PAWL_UNIT_PASSWORD");
}

}  // namespace
}  // namespace pawl
