// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "variants.hpp"

#include <pawl/guard/counters.hpp>
#include <pawl/guard/hiredis.hpp>
#include <pawl/guard/redis_fence.hpp>
#include <pawl/guard/redis_once.hpp>

#include <stdexcept>
#include <utility>

namespace layers {

namespace guard = pawl::guard;
using namespace std::chrono_literals;

namespace {

using connection = std::unique_ptr<redisContext, decltype(&redisFree)>;

class counting_redis final : public guard::redis_connection {
public:
    explicit counting_redis(redisContext& context) : inner_(context) {}
    guard::redis_reply execute(const guard::redis_command& command) override {
        ++count;
        return inner_.execute(command);
    }
    std::int64_t count = 0;

private:
    guard::hiredis_connection inner_;
};

class redis_store final : public store {
public:
    redis_store(connection opened, pawl::blocking::client& locks)
        : opened_(std::move(opened)), locks_(locks) {
        server_.execute({"SET", "{bench}:n", "1000000000"});
        once("repeated", {});
    }
    [[nodiscard]] const steps& variants() const override { return variants_; }
    [[nodiscard]] std::int64_t statements() const override { return server_.count; }

private:
    std::string next_key() {
        return "order/" + std::to_string(begun_) + "/" + std::to_string(++key_);
    }
    void once(const std::string& key, const guard::once_options& options) {
        if (!guard::once(server_, {key, "", "bench"}, options, work_))
            throw std::runtime_error("no effect");
    }
    void guarded(const std::string& key) {
        if (!guard::guarded_once(locks_, server_, key, {key, "", "bench"}, {}, work_))
            throw std::runtime_error("no effect");
    }
    void fenced() {
        const pawl::fencing_token token(++token_);
        if (!guard::fenced(server_, "{bench}:n", token, {{"DECR", "{bench}:n"}}))
            throw std::runtime_error("a fence refuses a larger token");
    }
    void locked() {
        auto lock = locks_.acquire("bench/layers", {.ttl = 30s});
        const auto old_value = std::stoll(server_.execute({"GET", "{bench}:n"}).text);
        server_.execute({"SET", "{bench}:n", std::to_string(old_value - 1)});
        (void)lock.release();
    }

    const connection opened_;
    pawl::blocking::client& locks_;
    counting_redis server_{*opened_};
    guard::counters values_{server_};
    const std::int64_t begun_ = pawl::boot_clock::now().time_since_epoch().count();
    std::int64_t key_ = 0;
    std::uint64_t token_ = static_cast<std::uint64_t>(begun_);
    const guard::redis_effect take_{"return redis.call('INCRBY', KEYS[1], -1)", 1};
    const guard::redis_once_work work_ = [this](const guard::attempt&) {
        return take_({"{bench}:n"});
    };
    const steps variants_{
        {"plain",
         [this] {
             server_.execute({"DECR", "{bench}:n"});
         }},
        {"counter", [this] { (void)values_.subtract("{bench}:n", 1); }},
        {"counter_id",
         [this] { (void)values_.subtract("{bench}:n", 1, {.keep = 1min}, next_key()); }},
        {"locked", [this] { locked(); }},
        {"fence", [this] { fenced(); }},
        {"first", [this] { once(next_key(), {}); }},
        {"first_direct", [this] { once(next_key(), {.looks_first = false}); }},
        {"replay", [this] { once("repeated", {}); }},
        {"replay_direct", [this] { once("repeated", {.looks_first = false}); }},
        {"guarded", [this] { guarded(next_key()); }},
        {"guarded_replay", [this] { guarded("repeated"); }},
    };
};

}  // namespace

std::unique_ptr<store> open_redis_store(const std::string& url, pawl::blocking::client& locks) {
    const int port = std::stoi(url.substr(url.rfind(':') + 1));
    connection opened(redisConnect("127.0.0.1", port), &redisFree);
    if (!opened || opened->err != 0) throw std::runtime_error("hiredis cannot connect");
    return std::make_unique<redis_store>(std::move(opened), locks);
}

}  // namespace layers
