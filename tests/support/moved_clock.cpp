// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "moved_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

namespace support {

namespace {

std::int64_t system_us() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

moved_clock::moved_clock() {
    const int file = ::open(folder_.file("clock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(clock_page)) != 0)
        throw std::system_error(errno, std::system_category(), "the page of a clock");
    void* const mapped =
        ::mmap(nullptr, sizeof(clock_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (mapped == MAP_FAILED) throw std::system_error(errno, std::system_category(), "mmap");
    page_ = new (mapped) clock_page{};
    // Some servers run as another user, who may not read the folder of the build.
    namespace fs = std::filesystem;
    fs::copy_file(PAWL_CLOCK_SHIM, folder_.file("clock.so"));
    for (const auto* each : {"", "clock", "clock.so"})
        fs::permissions(folder_.file(each), fs::perms::others_read | fs::perms::others_exec,
                        fs::perm_options::add);
}

moved_clock::~moved_clock() { ::munmap(page_, sizeof(clock_page)); }

std::vector<std::pair<std::string, std::string>> moved_clock::environment() const {
    return {{"LD_PRELOAD", folder_.file("clock.so")}, {"PAWL_CLOCK_FILE", folder_.file("clock")}};
}

moved_clock::for_new_programs::for_new_programs(const moved_clock& clocks) {
    for (const auto& [name, value] : clocks.environment())
        ::setenv(name.c_str(), value.c_str(), 1);
}

moved_clock::for_new_programs::~for_new_programs() {
    for (const char* name : {"LD_PRELOAD", "PAWL_CLOCK_FILE"})
        ::unsetenv(name);
}

template <class Change>
void moved_clock::write(Change change) {
    ++page_->version;
    change();
    ++page_->version;
}

void moved_clock::freeze_at(std::int64_t us) {
    write([&] { page_->wall_is_us = us; });
}

void moved_clock::step(std::chrono::microseconds amount) {
    write([&] { page_->wall_ahead_us += amount.count(); });
}

void moved_clock::set_rate(double rate) {
    const auto offset = wall_offset();
    write([&] {
        page_->wall_ahead_us = offset.count();
        page_->wall_faster_since_us = system_us();
        page_->wall_faster_ppm = static_cast<std::int64_t>((rate - 1) * 1'000'000);
    });
}

std::chrono::microseconds moved_clock::wall_offset() const {
    const auto since = system_us() - page_->wall_faster_since_us;
    return std::chrono::microseconds(page_->wall_ahead_us +
                                     since * page_->wall_faster_ppm / 1'000'000);
}

void moved_clock::suspend_boot_clock(std::chrono::nanoseconds span) {
    write([&] { page_->boot_behind_ns += span.count(); });
}

}  // namespace support
