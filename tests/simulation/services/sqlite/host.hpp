// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The machine of a scenario: its clocks, its boot id, its SQLite file, and the programs that use
// the file. It decides when a transaction runs, and whether a notification arrives.
#pragma once

#include "../../kernel/prng.hpp"
#include "../../kernel/simulated_process.hpp"
#include "file_bugs.hpp"
#include "file_clock.hpp"

#include "core/util/spi.hpp"
#include "sqlite/notifier.hpp"

#include <pawl/service.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace pawl::simulation {

class host;
class simulated_notifier;
class simulated_worker;

// Another program's connection to the file, which keeps the file busy, copies it or injects a bug.
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

// The folder is in memory if the machine has such a folder, because there are many scenarios. It is
// removed at the end.
class temporary_folder {
public:
    temporary_folder();
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }

private:
    std::filesystem::path path_;
};

// A program at the file.
struct host_program {
    host_program(host& of, simulated_process& with) : machine(of), process(with) {}

    host& machine;
    simulated_process& process;
    std::optional<file_clock> clock;
    simulated_worker* worker = nullptr;
    sqlite3* connection = nullptr;  // while it is open
    int connection_number = 0;
    instant slow_until{-1};   // its transactions take seconds
    bool is_cut_off = false;  // it neither sends nor receives notifications
    instant reconnected_at{-1};
    bool is_dead = false;
    bool is_unaware = false;                  // it has not noticed yet that the file was replaced
    std::optional<instant> has_noticed_at{};  // the last replacement
};

class host {
public:
    host(scheduler& loop, prng random, file_bug bug);

    // The programs.
    [[nodiscard]] service connect(simulated_process& process);
    [[nodiscard]] const host_program& find(const simulated_process& process) const {
        return *programs_.at(&process);
    }
    // SIGKILL: the file is closed, and no transaction runs or returns any more.
    void kill(const simulated_process& process);
    // At the end: drops what the dead programs have begun.
    void drop_dead_work();
    // Its transactions are slow until then.
    void slow_down(const simulated_process& process, instant until) {
        programs_.at(&process)->slow_until = until;
    }
    void end_slowness();
    void cut_off(const simulated_process& process, bool is_cut_off);
    // Whether the file, or this program's use of it, was disturbed at that time or later.
    [[nodiscard]] bool was_disturbed(const simulated_process& process, instant since) const {
        return undisturbed_since(process) >= since;
    }
    [[nodiscard]] instant undisturbed_since(const simulated_process& process) const;

    // The clocks and the boot id. A new process begins with this time.
    [[nodiscard]] time_point clock_start() const noexcept { return booted_at_; }
    [[nodiscard]] std::chrono::system_clock::time_point wall_clock() const noexcept {
        return bug_ == file_bug::tokens_without_clock ? std::chrono::system_clock::time_point()
                                                      : true_wall();
    }
    [[nodiscard]] std::chrono::system_clock::time_point true_wall() const noexcept;
    void move_wall(duration by) noexcept { wall_offset_ += by; }
    // The boot clock starts again; the wall clock continues.
    void reboot(duration uptime);
    void change_boot_id() noexcept { ++boot_number_; }
    [[nodiscard]] std::string boot_id() const { return "boot " + std::to_string(boot_number_); }

    // The file. Each returns whether it has happened.
    bool copy_file();
    // With all programs stopped, as the documentation requires, or under living programs.
    [[nodiscard]] bool can_restore() const noexcept { return is_copied_ && !is_linked_; }
    void restore_copy();
    // One of the three files: "", "-wal" or "-shm".
    bool remove_file(const std::string& suffix);
    bool begin_busy(instant length);
    void end_busy();
    bool toggle_hard_link();
    [[nodiscard]] bool is_linked() const noexcept { return is_linked_; }
    [[nodiscard]] bool is_busy() const noexcept { return blocking_program_ != nullptr; }
    // A program has not noticed yet that the file was replaced.
    [[nodiscard]] bool has_unaware_programs() const;
    [[nodiscard]] std::string path() const { return folder_.file("locks.db"); }
    // The folder's name differs between runs of a seed.
    [[nodiscard]] std::string without_folder(std::string text) const;

    // What the queue of the file shows; empty: no later request has passed a live waiter.
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    // For the workers and the notifiers.
    [[nodiscard]] scheduler& loop() noexcept { return loop_; }
    [[nodiscard]] instant delay_of_transaction(const host_program& program);
    void add(simulated_notifier& added);
    void remove(const simulated_notifier& removed);
    [[nodiscard]] bool has_client(std::string_view address) const;
    void deliver(const host_program& sender, std::string_view address,
                 const sqlite::notification& message);
    [[nodiscard]] std::string new_address() { return "host/" + std::to_string(++last_address_); }

private:
    friend class file_use;

    void note_replaced();
    void note_calm() noexcept { disturbed_until_ = loop_.now(); }
    void inject_bug(host_program& program) const;

    scheduler& loop_;
    prng random_;
    const file_bug bug_;
    temporary_folder folder_;
    time_point booted_at_;
    duration wall_offset_{};
    int boot_number_ = 1, last_address_ = 0;
    bool is_copied_ = false, is_linked_ = false;
    std::unique_ptr<other_program> blocking_program_;
    instant busy_until_{};
    instant disturbed_until_{-1};
    std::map<const simulated_process*, std::unique_ptr<host_program>> programs_;
    std::map<std::string, simulated_notifier*, std::less<>> notifiers_;
    std::string violation_;
};

}  // namespace pawl::simulation
