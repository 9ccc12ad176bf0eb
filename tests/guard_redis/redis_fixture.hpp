// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server, and views of connections to it.
#pragma once

#include <pawl/error.hpp>
#include <pawl/guard/once_options.hpp>
#include <pawl/guard/redis.hpp>

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace guard_tests {

// The attempts must live, also on a busy machine; the tests end a lease at the server.
constexpr pawl::guard::once_options patient{.lease = std::chrono::minutes(1),
                                            .wait = std::chrono::minutes(1)};

// A view over the client of the tests. Counts its commands by name.
class resp_connection final : public pawl::guard::redis_connection {
public:
    explicit resp_connection(const support::redis_server& server) : client_(server.connect()) {}

    pawl::guard::redis_reply execute(const pawl::guard::redis_command& command) override {
        sent.push_back(command.front());
        return convert(client_->execute(command));
    }

    std::vector<std::string> sent;

private:
    static pawl::guard::redis_reply convert(const support::resp_value& value) {
        using kind = pawl::guard::redis_reply::kind;
        pawl::guard::redis_reply reply;
        if (value.is_null) return reply;
        reply.type = value.is_error() ? kind::error : kind::bytes;
        reply.text = value.text;
        if (value.kind == '*') reply.type = kind::array;
        if (value.kind == ':') {
            reply.type = kind::integer;
            reply.integer = value.number();
        }
        for (const support::resp_value& each : value.items)
            reply.items.push_back(convert(each));
        return reply;
    }

    std::unique_ptr<support::resp_client> client_;
};

// A test with one server.
class redis_test : public testing::Test {
protected:
    // The bytes under a key.
    std::string stored(const std::string& key) { return server.execute({"GET", key}).text; }

    support::redis_server server;
    resp_connection connection{server};
};

// The code of the error that the function throws; its message must contain the words.
inline pawl::errc code_of(const std::function<void()>& function, const std::string& words = {}) {
    try {
        function();
    } catch (const pawl::error& error) {
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        return error.reason();
    }
    ADD_FAILURE() << "no pawl::error";
    return {};
}

}  // namespace guard_tests
