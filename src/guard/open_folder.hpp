// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The folder of a fenced file, on the disk.
#pragma once

#include "fenced_folder.hpp"

#include <string>
#include <utility>

namespace pawl::guard {

// Throws errc::refused if the magic number of statfs(2) is that of a file system which several
// hosts share.
void refuse_shared_folder(const std::string& path, unsigned long magic);

// A descriptor that is closed at the end.
class open_file {
public:
    explicit open_file(int number = -1) noexcept : number_(number) {}
    open_file(open_file&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    open_file& operator=(open_file&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~open_file();

    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }

private:
    int number_;
};

class open_folder final : public fenced_folder {
public:
    explicit open_folder(std::string path);

    // Waits for the lock file NAME.lock, and keeps it locked until the object's end.
    void lock(const std::string& name);

    std::optional<std::string> read(const std::string& name) override;
    void write(const std::string& name, std::string_view content, const std::string& like) override;
    void sync(const std::string& name) override;
    void rename(const std::string& from, const std::string& to) override;
    void sync_folder() override;

private:
    [[nodiscard]] open_file open(const std::string& name) const;
    [[nodiscard]] open_file make(const std::string& name, const std::string& like) const;
    [[nodiscard]] bool leads_to(const std::string& name, const open_file& file) const;
    [[noreturn]] void fail(const std::string& name, const char* action) const;

    std::string path_;
    open_file folder_;
    open_file written_;  // the file that `sync` comes for
    open_file lock_;
};

}  // namespace pawl::guard
