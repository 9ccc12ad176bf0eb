// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "open_folder.hpp"

#include <pawl/detail/file_systems.hpp>
#include <pawl/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pawl::guard {
namespace {

errc reason_of(int system_error) noexcept {
    switch (system_error) {
    case EACCES:
    case EPERM:
    case EROFS: return errc::refused;
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG: return errc::bad_option;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return errc::exhausted;
    default: return errc::unavailable;
    }
}

const char* advice_for(errc reason) noexcept {
    switch (reason) {
    case errc::refused: return "; check the rights of the folder and of its files.";
    case errc::bad_option: return "; check the path of the fenced file.";
    case errc::exhausted: return "; this process needs more descriptors or memory.";
    default: return "; check the disk, then write again.";
    }
}

template <class Call>
auto repeated(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR)
        result = call();
    return result;
}

}  // namespace

void refuse_shared_folder(const std::string& path, unsigned long magic) {
    if (const auto name = detail::shared_file_system(magic); !name.empty())
        throw error(errc::refused, path + " is on " + std::string(name) +
                                       ", where two hosts may not see each other's file locks; "
                                       "choose a local disk, or a row in a database.");
}

open_file::~open_file() {
    if (is_open()) ::close(number_);
}

open_folder::open_folder(std::string path)
    : path_(std::move(path)), folder_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (!folder_.is_open()) fail({}, "cannot be opened");
}

// A lock file that was deleted while this process waited for it locks nothing.
void open_folder::lock(const std::string& name) {
    const auto lock_name = name + ".lock";
    for (;;) {
        auto file = open(lock_name);
        if (!file.is_open() && errno == ENOENT) file = make(lock_name, name);
        if (!file.is_open() && errno == EEXIST) continue;
        if (!file.is_open()) fail(lock_name, "cannot be opened");
        if (repeated([&] { return ::flock(file.number(), LOCK_EX); }) != 0)
            fail(lock_name, "cannot be locked");
        if (!leads_to(lock_name, file)) continue;
        lock_ = std::move(file);
        return;
    }
}

std::optional<std::string> open_folder::read(const std::string& name) {
    const auto file = open(name);
    if (!file.is_open() && errno == ENOENT) return std::nullopt;
    if (!file.is_open()) fail(name, "cannot be opened");
    std::array<char, 64> bytes{};  // more than any token
    const auto count = repeated([&] { return ::read(file.number(), bytes.data(), bytes.size()); });
    if (count < 0) fail(name, "cannot be read");
    return std::string(bytes.data(), static_cast<std::size_t>(count));
}

void open_folder::write(const std::string& name, std::string_view content,
                        const std::string& like) {
    if (::unlinkat(folder_.number(), name.c_str(), 0) != 0 && errno != ENOENT)
        fail(name, "cannot be replaced");
    written_ = make(name, like);
    if (!written_.is_open()) fail(name, "cannot be made");
    while (!content.empty()) {
        const auto count =
            repeated([&] { return ::write(written_.number(), content.data(), content.size()); });
        if (count < 0) fail(name, "cannot be written");
        content.remove_prefix(static_cast<std::size_t>(count));
    }
}

// By the descriptor that has written: it reports each error of the disk.
void open_folder::sync(const std::string& name) {
    if (::fsync(written_.number()) != 0) fail(name, "cannot be written to the disk");
    written_ = open_file();
}

void open_folder::rename(const std::string& from, const std::string& to) {
    if (::renameat(folder_.number(), from.c_str(), folder_.number(), to.c_str()) != 0)
        fail(to, "cannot be replaced");
}

void open_folder::sync_folder() {
    if (::fsync(folder_.number()) != 0) fail({}, "cannot be written to the disk");
}

// Without O_NONBLOCK, the open of a FIFO waits for its writer.
open_file open_folder::open(const std::string& name) const {
    open_file file(
        ::openat(folder_.number(), name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    struct stat status {};
    if (file.is_open() && ::fstat(file.number(), &status) == 0 && !S_ISREG(status.st_mode))
        throw error(errc::bad_option, path_ + "/" + name +
                                          " is not an ordinary file, as it is beside a fenced "
                                          "file; remove it, or choose another folder.");
    return file;
}

// Without a file that it should be like, the mode follows the umask.
open_file open_folder::make(const std::string& name, const std::string& like) const {
    open_file file(::openat(folder_.number(), name.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    struct stat status {};
    if (file.is_open() && ::fstatat(folder_.number(), like.c_str(), &status, 0) == 0 &&
        ::fchmod(file.number(), status.st_mode & 07777) != 0)
        fail(name, "cannot get the mode of the file");
    return file;
}

bool open_folder::leads_to(const std::string& name, const open_file& file) const {
    struct stat by_name {};
    struct stat by_number {};
    return ::fstatat(folder_.number(), name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
           ::fstat(file.number(), &by_number) == 0 && by_name.st_dev == by_number.st_dev &&
           by_name.st_ino == by_number.st_ino;
}

void open_folder::fail(const std::string& name, const char* action) const {
    const int system_error = errno;
    const auto reason = reason_of(system_error);
    throw error(reason, path_ + (name.empty() ? "" : "/" + name) + ' ' + action + " (" +
                            std::strerror(system_error) + ')' + advice_for(reason));
}

}  // namespace pawl::guard
