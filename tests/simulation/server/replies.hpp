// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Creates, compares and prints replies of a Redis server.
#pragma once

#include "reply_sink.hpp"

#include <redis/transport/link.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

[[nodiscard]] inline redis::reply nil_reply() { return {}; }
[[nodiscard]] inline redis::reply integer_reply(std::int64_t number) {
    return {.type = redis::reply::kind::integer, .number = number, .text = {}, .items = {}};
}
[[nodiscard]] inline redis::reply string_reply(std::string text) {
    return {.type = redis::reply::kind::string, .number = 0, .text = std::move(text), .items = {}};
}
[[nodiscard]] inline redis::reply error_reply(std::string text) {
    return {.type = redis::reply::kind::error, .number = 0, .text = std::move(text), .items = {}};
}
[[nodiscard]] inline redis::reply array_reply(std::vector<redis::reply> items) {
    return {.type = redis::reply::kind::array, .number = 0, .text = {}, .items = std::move(items)};
}

// Builds the reply that a client receives. A status is a text.
class reply_builder final : public reply_sink {
public:
    void nil() override { add(nil_reply()); }
    void integer(std::int64_t number) override { add(integer_reply(number)); }
    void bulk(std::string_view text) override { add(string_reply(std::string(text))); }
    void status(std::string_view text) override { bulk(text); }
    void array(std::size_t count) override;

    [[nodiscard]] redis::reply take() { return std::move(reply_); }

private:
    void add(redis::reply value) {
        place(std::move(value));
        finish();
    }
    void place(redis::reply value);
    void finish();

    redis::reply reply_;
    std::vector<std::size_t> missing_;  // of the open arrays, the innermost last
};

// The text of a reply. An error is only its code, because the rest contains a line number of the
// script.
[[nodiscard]] std::string to_string(const redis::reply& reply);

}  // namespace pawl::simulation
