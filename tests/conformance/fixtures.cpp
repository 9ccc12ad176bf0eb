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

class memory_fixture : public pawl::conformance::fixture {
public:
    world fresh() override {
        return {.where = pawl::memory::make(), .url = {}, .restart = {}, .keep = {}};
    }
    const promises& promised() const override { return promised_; }

private:
    promises promised_{.survives_restart = false,
                       .loss_is_pushed = true,
                       .across_processes = false,
                       .across_hosts = false};
};

class sqlite_fixture : public pawl::conformance::fixture {
public:
    world fresh() override {
        auto folder = std::make_shared<support::temp_folder>();
        const std::string path = folder->file("locks.db");
        return {.where = pawl::sqlite::at({.path = path}),
                .url = "sqlite:" + path,
                .restart = {},
                .keep = folder};
    }
    const promises& promised() const override { return promised_; }

private:
    promises promised_{.loss_is_pushed = true, .across_hosts = false};
};

// One server for each promise, over TCP.
class redis_fixture : public pawl::conformance::fixture {
public:
    world fresh() override {
        auto server = std::make_shared<support::redis_server>();
        return {.where = pawl::redis::at(server->url()),
                .url = server->url(),
                .restart =
                    [server] {
                        server->kill9();
                        server->start(false);
                    },
                .keep = server};
    }
    const promises& promised() const override { return promised_; }

private:
    promises promised_{.loss_is_pushed = true};
};

}  // namespace

std::vector<backend> all_backends() {
    return {{"Memory", std::make_shared<memory_fixture>()},
            {"Sqlite", std::make_shared<sqlite_fixture>()},
            {"Redis", std::make_shared<redis_fixture>()}};
}

}  // namespace tested
