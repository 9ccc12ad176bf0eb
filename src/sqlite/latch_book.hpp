// The steps of latches, each one transaction of a store's connection. docs/sqlite.md has the
// tables.
#pragma once

#include "core/latch.hpp"
#include "store.hpp"

#include <pawl/latches.hpp>

namespace pawl::sqlite {

// Who waits in some client; found by what rings it.
struct latch_place {
    std::string id;
    std::string name;
};

// Used on the worker's thread. Throws as the store does.
class latch_book {
public:
    explicit latch_book(store& file) noexcept : file_(file) {}

    bool try_set(const std::string& name, std::uint32_t count, duration ttl);
    // `parties` 0: of a latch.
    latches::step step(const std::string& name, std::uint32_t steps, std::uint32_t parties,
                       duration ttl);
    core::latch_standing find(const std::string& name);
    // The same, and from then on who waits is rung.
    core::latch_standing wait(const latch_place& where);
    void leave(const latch_place& where);
    latch_info inspect(const std::string& name);
    bool reset(const std::string& name);

private:
    struct entry : core::latch_standing {
        std::uint32_t parties = 0;
        duration ttl{};
    };

    entry read(const std::string& name, time_point now);
    void write(const std::string& name, entry& what, time_point now);
    void begin(entry& what, std::uint32_t count, std::uint32_t parties);
    void tell(const std::string& name, time_point now);

    store& file_;
};

}  // namespace pawl::sqlite
