// The machine of a simulated world: its clocks, its boot id, its SQLite file.
#pragma once

#include "prng.hpp"

#include <pawl/runtime.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace pawl::simulation {

// Time stands still within a step, but while another process keeps the file busy each look at the
// clock takes a second: the store waits in real time, and this ends the wait soon.
class host_clock final : public runtime {
public:
    time_point now() const noexcept override {
        if (busy) now_ += std::chrono::seconds(1);
        return now_;
    }
    std::chrono::system_clock::time_point wall() const noexcept override {
        return clock_stands ? std::chrono::system_clock::time_point{} : true_wall();
    }
    [[nodiscard]] std::chrono::system_clock::time_point true_wall() const noexcept {
        const auto since_1970 = now_.time_since_epoch() + wall_offset_;
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(since_1970));
    }
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor&) override {
        return nullptr;  // steps need none
    }
    // Only names of sockets come from here, which must differ from those of every other process.
    void random(std::span<std::byte> fill) override { real_runtime().random(fill); }
    bool passes_by_itself() const noexcept override { return false; }

    void pass(duration by) { now_ += by; }
    void set_wall(duration by) { wall_offset_ += by; }
    // The boot clock begins again; the wall clock goes on.
    void reboot(duration uptime);

    bool busy = false;
    bool clock_stands = false;  // a planted bug: tokens do not know the clock

private:
    mutable time_point now_{std::chrono::hours(1)};
    duration wall_offset_ = std::chrono::hours(24 * 365 * 56);
};

// Another program's connection to the file: it keeps it busy, copies it, plants bugs.
class other_program {
public:
    explicit other_program(const std::string& path);
    ~other_program();
    other_program(const other_program&) = delete;
    other_program& operator=(const other_program&) = delete;
    // Throws std::runtime_error.
    void run(const std::string& sql);

private:
    sqlite3* handle_ = nullptr;
};

// In memory where the machine has such a folder: worlds are many. Removed at the end.
class world_folder {
public:
    world_folder();
    ~world_folder();
    world_folder(const world_folder&) = delete;
    world_folder& operator=(const world_folder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }

private:
    std::filesystem::path path_;
};

}  // namespace pawl::simulation
