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
                       .across_hosts = false,
                       .shared = true,
                       .permits = true,
                       .strictly_fair = true,
                       .downgrades = true,
                       .latches = true,
                       .barriers = true};
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
    promises promised_{.loss_is_pushed = true,
                       .across_hosts = false,
                       .shared = true,
                       .permits = true,
                       .strictly_fair = true,
                       .downgrades = true,
                       .latches = true,
                       .barriers = true};
};

// One server for each promise, over TCP.
class redis_fixture : public pawl::conformance::fixture {
public:
    explicit redis_fixture(std::string options, promises promised)
        : options_(std::move(options)), promised_(promised) {}

    world fresh() override {
        auto server = std::make_shared<support::redis_server>();
        return {.where = pawl::redis::at(server->url(options_)),
                .url = server->url(options_),
                .restart =
                    [server] {
                        server->kill9();
                        server->start(false);
                    },
                .keep = server};
    }
    const promises& promised() const override { return promised_; }

private:
    const std::string options_;
    const promises promised_;
};

constexpr promises native{.loss_is_pushed = true,
                          .shared = true,
                          .permits = true,
                          .strictly_fair = true,
                          .downgrades = true,
                          .chosen_values = true,
                          .several = true,
                          .latches = true,
                          .barriers = true};

// What a Java service's lock cannot promise, Pawl's cannot either where they are the same lock.
constexpr promises with_redisson{.survives_restart = false,
                                 .names_holders = false,
                                 .hands_over = false,
                                 .order = pawl::fairness::none,
                                 .permits = true,
                                 .strictly_fair = true,
                                 .latches = true,
                                 .one_line = false};
constexpr promises with_readwrite{.survives_restart = false,
                                  .names_holders = false,
                                  .hands_over = false,
                                  .order = pawl::fairness::none,
                                  .shared = true,
                                  .permits = true,
                                  .downgrades = true,
                                  .latches = true,
                                  .one_line = false};

}  // namespace

std::vector<backend> all_backends() {
    return {{"Memory", std::make_shared<memory_fixture>()},
            {"Sqlite", std::make_shared<sqlite_fixture>()},
            {"Redis", std::make_shared<redis_fixture>("", native)},
            {"Redisson", std::make_shared<redis_fixture>("?layout=redisson", with_redisson)},
            {"RedissonReadWrite",
             std::make_shared<redis_fixture>("?layout=redisson&object=readwrite", with_readwrite)}};
}

}  // namespace tested
