// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redis over a connection of hiredis. Needs its headers, and a program that links hiredis.
#pragma once

#include <pawl/error.hpp>
#include <pawl/guard/redis.hpp>

#include <hiredis/hiredis.h>

#include <cstddef>
#include <memory>
#include <span>

namespace pawl::guard {

// A view of a redisContext, which must outlive it and is used by no other thread. A connection with
// an error stays so: connect again with redisReconnect, or make another one. As hiredis does, it
// needs a program that ignores SIGPIPE.
class hiredis_connection final : public redis_connection {
public:
    // The context must be connected.
    explicit hiredis_connection(redisContext& context) noexcept : context_(context) {}

    // Throws errc::unreachable if no answer came, or if the connection was broken before.
    redis_reply execute(const redis_command& command) override {
        if (context_.err != 0)
            throw pawl::error(errc::unreachable,
                              std::string("The connection to Redis is broken (") + context_.errstr +
                                  "), so the command was not sent. Connect again.");
        std::vector<const char*> words;
        std::vector<std::size_t> sizes;
        for (const std::string& each : command) {
            words.push_back(each.data());
            sizes.push_back(each.size());
        }
        const std::unique_ptr<void, void (*)(void*)> reply(
            redisCommandArgv(&context_, static_cast<int>(words.size()), words.data(), sizes.data()),
            &freeReplyObject);
        if (!reply)
            throw pawl::error(errc::unreachable,
                              std::string("There is no answer from Redis (") + context_.errstr +
                                  "); it may have executed the command. Connect again.");
        return convert(*static_cast<const redisReply*>(reply.get()));
    }

private:
    static redis_reply convert(const redisReply& reply) {
        using enum redis_reply::kind;
        redis_reply result;
        switch (reply.type) {
        case REDIS_REPLY_NIL: break;
        case REDIS_REPLY_INTEGER:
#ifdef REDIS_REPLY_BOOL
        case REDIS_REPLY_BOOL:
#endif
            result.type = integer;
            result.integer = reply.integer;
            break;
        case REDIS_REPLY_ERROR:
            result.type = error;
            result.text.assign(reply.str, static_cast<std::size_t>(reply.len));
            break;
        default:
            if (reply.element == nullptr && reply.str != nullptr) {
                result.type = bytes;
                result.text.assign(reply.str, static_cast<std::size_t>(reply.len));
                break;
            }
            result.type = array;
            for (const redisReply* each : std::span(reply.element, reply.elements))
                result.items.push_back(convert(*each));
        }
        return result;
    }

    redisContext& context_;
};

}  // namespace pawl::guard
