#include "fixtures.hpp"

#include <support/redis_server.hpp>
#include <support/temp_folder.hpp>

#include <pawl/backend.hpp>
#include <pawl/memory.hpp>
#include <pawl/redis.hpp>
#include <pawl/sqlite.hpp>

namespace tested {

namespace {

using pawl::promises;
using pawl::conformance::world;

class made_by final : public pawl::conformance::fixture {
public:
    made_by(std::function<world()> make, const promises& promised)
        : make_(std::move(make)), promised_(promised) {}

    world fresh() override { return make_(); }
    const promises& promised() const override { return promised_; }

private:
    const std::function<world()> make_;
    const promises promised_;
};

world fresh_memory() {
    return {.where = pawl::memory::make(), .url = {}, .restart = {}, .keep = {}};
}

world fresh_file() {
    auto folder = std::make_shared<support::temp_folder>();
    const std::string path = folder->file("locks.db");
    return {.where = pawl::sqlite::at({.path = path}),
            .url = "sqlite:" + path,
            .restart = {},
            .keep = folder};
}

// One server for each promise, over TCP.
world fresh_server(const std::string& options) {
    auto server = std::make_shared<support::redis_server>();
    return {.where = pawl::redis::at(server->url(options)),
            .url = server->url(options),
            .restart =
                [server] {
                    server->kill9();
                    server->start(false);
                },
            .keep = server};
}

constexpr promises of_redis() {
    promises all;
    all.loss_is_pushed = true;
    all.shared = all.permits = all.strictly_fair = all.downgrades = true;
    all.chosen_values = all.several = true;
    all.latches = all.barriers = true;
    return all;
}

constexpr promises of_sqlite() {
    auto all = of_redis();
    all.across_hosts = all.chosen_values = all.several = false;
    return all;
}

constexpr promises of_memory() {
    auto all = of_sqlite();
    all.survives_restart = all.across_processes = false;
    return all;
}

// What a Java service's lock cannot promise, Pawl's cannot either where they are the same lock.
constexpr promises of_redisson(bool readwrite) {
    promises all;
    all.survives_restart = all.names_holders = all.hands_over = all.one_line = false;
    all.order = pawl::fairness::none;
    all.permits = all.latches = true;
    all.shared = all.downgrades = readwrite;
    all.strictly_fair = !readwrite;
    return all;
}

backend on_redis(const std::string& name, const std::string& options, const promises& promised) {
    return {name, std::make_shared<made_by>([options] { return fresh_server(options); }, promised)};
}

}  // namespace

std::vector<backend> all_backends() {
    return {{"Memory", std::make_shared<made_by>(fresh_memory, of_memory())},
            {"Sqlite", std::make_shared<made_by>(fresh_file, of_sqlite())},
            on_redis("Redis", "", of_redis()),
            on_redis("Redisson", "?layout=redisson", of_redisson(false)),
            on_redis("RedissonReadWrite", "?layout=redisson&object=readwrite", of_redisson(true))};
}

}  // namespace tested
