#include "moved_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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
}

moved_clock::~moved_clock() { ::munmap(page_, sizeof(clock_page)); }

std::vector<std::pair<std::string, std::string>> moved_clock::environment() const {
    return {{"LD_PRELOAD", PAWL_CLOCK_SHIM}, {"PAWL_CLOCK_FILE", folder_.file("clock")}};
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

void moved_clock::stand_at(std::int64_t us) {
    write([&] { page_->wall_is_us = us; });
}

void moved_clock::leap(std::chrono::microseconds by) {
    write([&] { page_->wall_ahead_us += by.count(); });
}

void moved_clock::go_at(double rate) {
    const auto so_far = ahead();
    write([&] {
        page_->wall_ahead_us = so_far.count();
        page_->wall_faster_since_us = system_us();
        page_->wall_faster_ppm = static_cast<std::int64_t>((rate - 1) * 1'000'000);
    });
}

std::chrono::microseconds moved_clock::ahead() const {
    const auto since = system_us() - page_->wall_faster_since_us;
    return std::chrono::microseconds(page_->wall_ahead_us +
                                     since * page_->wall_faster_ppm / 1'000'000);
}

void moved_clock::stood_still(std::chrono::nanoseconds how_long) {
    write([&] { page_->boot_behind_ns += how_long.count(); });
}

}  // namespace support
