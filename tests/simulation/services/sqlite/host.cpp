// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "host.hpp"

#include "../../server/service_from.hpp"
#include "simulated_worker.hpp"

#include "sqlite/backend.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {

other_program::other_program(const std::string& path) {
    if (::sqlite3_open(path.c_str(), &handle_) != SQLITE_OK)
        throw std::runtime_error(::sqlite3_errmsg(handle_));
}

other_program::~other_program() { ::sqlite3_close(handle_); }

void other_program::run(const std::string& sql) {
    if (::sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        throw std::runtime_error(sql + ": " + ::sqlite3_errmsg(handle_));
}

temporary_folder::temporary_folder() {
    namespace fs = std::filesystem;
    const fs::path in_memory = "/dev/shm";
    std::error_code none;
    const auto base = fs::is_directory(in_memory, none) ? in_memory : fs::temp_directory_path();
    auto name = (base / "pawl-simulation-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw std::runtime_error("cannot make a folder below " + base.string());
    path_ = name;
}

temporary_folder::~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

host::host(scheduler& loop, prng random, file_bug bug)
    : loop_(loop),
      random_(random),
      bug_(bug),
      booted_at_(1h + std::chrono::minutes(random_.between(0, 60 * 24 * 30))) {}

service host::connect(simulated_process& process) {
    auto& added = *(programs_[&process] = std::make_unique<host_program>(*this, process));
    return service_from("simulated", [this, &added](backend_context context) {
        added.clock.emplace(*context.time, [this] { return wall_clock(); });
        context.time = &*added.clock;
        sqlite::store::settings settings{path(), "pawl", context.process, {}};
        settings.read_boot_id = [this] { return boot_id(); };
        settings.make_notifier = [&added](const auto&, auto&, auto on_notification) {
            return std::make_unique<simulated_notifier>(added, std::move(on_notification));
        };
        return sqlite::make_backend(std::move(settings), context,
                                    [&added](auto strand, auto on_stop) {
                                        return std::make_unique<simulated_worker>(
                                            added, std::move(strand), std::move(on_stop));
                                    });
    });
}

void host::kill(const simulated_process& process) {
    auto& program = *programs_.at(&process);
    program.is_dead = true;
    if (std::exchange(program.is_unaware, false)) note_calm();
    if (program.worker != nullptr) program.worker->kill();
}

void host::drop_dead_work() {
    for (const auto& [process, program] : programs_)
        if (program->is_dead && program->worker != nullptr) program->worker->stop();
}

void host::cut_off(const simulated_process& process, bool is_cut_off) {
    auto& program = *programs_.at(&process);
    if (std::exchange(program.is_cut_off, is_cut_off) && !is_cut_off)
        program.reconnected_at = loop_.now();
}

void host::end_slowness() {
    for (const auto& [process, program] : programs_)
        program->slow_until = std::min(program->slow_until, loop_.now());
}

instant host::undisturbed_since(const simulated_process& process) const {
    if (is_busy() || is_linked_ || has_unaware_programs()) return loop_.now();
    return std::max(disturbed_until_, find(process).slow_until);
}

bool host::has_unaware_programs() const {
    return std::ranges::any_of(programs_, [](const auto& each) { return each.second->is_unaware; });
}

std::chrono::system_clock::time_point host::true_wall() const noexcept {
    const duration since_1970 = 24h * 365 * 56 + loop_.now() + wall_offset_;
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(since_1970));
}

void host::reboot(duration uptime) {
    end_busy();
    change_boot_id();
    booted_at_ = time_point(uptime - loop_.now());
    wall_offset_ += 20s;
}

bool host::copy_file() {
    if (is_busy() || has_unaware_programs() || !std::filesystem::exists(path())) return false;
    std::filesystem::remove(folder_.file("old.db"));
    other_program(path()).run("VACUUM INTO '" + folder_.file("old.db") + "'");
    is_copied_ = true;
    return true;
}

void host::restore_copy() {
    end_busy();
    for (const auto* suffix : {"-wal", "-shm"})
        std::filesystem::remove(path() + suffix);
    std::filesystem::rename(folder_.file("old.db"), path());
    is_copied_ = false;
    note_replaced();
}

bool host::remove_file(const std::string& suffix) {
    if (is_linked_ || !std::filesystem::exists(path() + suffix)) return false;
    end_busy();
    std::filesystem::remove(path() + suffix);
    note_replaced();
    return true;
}

void host::note_replaced() {
    for (const auto& [process, program] : programs_) {
        program->has_noticed_at.reset();
        if (program->connection != nullptr) program->is_unaware = true;
    }
    note_calm();
}

bool host::begin_busy(instant length) {
    if (is_busy() || !std::filesystem::exists(path()) || has_unaware_programs()) return false;
    blocking_program_ = std::make_unique<other_program>(path());
    blocking_program_->run("BEGIN IMMEDIATE");
    busy_until_ = loop_.now() + length;
    loop_.schedule_at(busy_until_, [this, until = busy_until_] {
        if (busy_until_ == until) end_busy();
    });
    return true;
}

void host::end_busy() {
    if (!is_busy()) return;
    blocking_program_.reset();
    note_calm();
}

bool host::toggle_hard_link() {
    if (!std::filesystem::exists(path())) return false;
    const auto other = folder_.file("other.db");
    if (is_linked_)
        std::filesystem::remove(other);
    else
        std::filesystem::create_hard_link(path(), other);
    is_linked_ = !is_linked_;
    note_calm();
    return true;
}

std::string host::without_folder(std::string text) const {
    const auto folder = folder_.file("");
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
        text.erase(at, folder.size());
    return text;
}

// A transaction may begin while the file is busy, and fail, or just after that.
instant host::delay_of_transaction(const host_program& program) {
    if (program.slow_until > loop_.now())
        return instant(random_.between(500'000'000, 2'500'000'000));
    if (is_busy() && busy_until_ < loop_.now() + 300ms && random_.happens(0.5))
        return busy_until_ - loop_.now() + 1us;
    return instant(random_.happens(0.03) ? random_.between(2'000'000, 50'000'000)
                                         : random_.between(10'000, 2'000'000));
}

void host::inject_bug(host_program& program) const {
    if (bug_ == file_bug::other_boots_deleted) {
        try {
            other_program(path()).run("DELETE FROM holders WHERE boot <> '" + boot_id() + "'");
        } catch (const std::runtime_error&) {}  // no tables yet, or busy
    }
    const auto* const injected = std::ranges::find(file_bugs, bug_, &named_file_bug::bug);
    if (injected == file_bugs.end() || injected->trigger == nullptr) return;
    const auto trigger = "CREATE TEMP TRIGGER IF NOT EXISTS bug " + std::string(injected->trigger);
    if (program.connection != nullptr)
        ::sqlite3_exec(program.connection, trigger.c_str(), nullptr, nullptr, nullptr);
}

void host::add(simulated_notifier& added) { notifiers_.emplace(added.address(), &added); }

void host::remove(const simulated_notifier& removed) { notifiers_.erase(removed.address()); }

bool host::has_client(std::string_view address) const { return notifiers_.contains(address); }

void host::deliver(const host_program& sender, std::string_view address,
                   const sqlite::notification& message) {
    if (sender.is_cut_off) return;
    loop_.schedule_after(
        instant(random_.between(10'000, 2'000'000)), [this, to = std::string(address), message] {
            const auto receiver = notifiers_.find(to);
            if (receiver == notifiers_.end() || receiver->second->program().is_cut_off) return;
            receiver->second->program().process.post([this, to, message] {
                const auto present = notifiers_.find(to);
                if (present != notifiers_.end()) present->second->receive(message);
            });
        });
}

}  // namespace pawl::simulation
