// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/fenced_file.hpp>

#include "open_folder.hpp"
#include "token_number.hpp"

#include <pawl/error.hpp>

#include <sys/vfs.h>

#include <filesystem>

namespace pawl::guard {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_path(const std::string& problem) {
    throw error(errc::bad_option, problem);
}

void check_text(const std::string& path) {
    if (path.empty() || path.back() == '/')
        refuse_path("The path '" + path + "' names no file; add the name of the file.");
    if (path.find('\0') != std::string::npos)
        refuse_path("The path of the fenced file contains a zero byte; leave it out.");
    for (const auto* each : {".fence", ".lock", ".new"})
        if (path.ends_with(each))
            refuse_path(path + " ends with " + each +
                        ", as the files beside a fenced file do; choose another name.");
}

void check_folder_of(const fs::path& path) {
    const auto folder = path.parent_path();
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        refuse_path("There is no folder " + folder.string() + "; make it first.");
    struct statfs status {};
    if (::statfs(folder.c_str(), &status) != 0) return;  // the first write says why
    refuse_shared_folder(path.string(), static_cast<unsigned long>(status.f_type));
}

// A link's target, so that all names of the file have the same fence.
std::string target_of(const std::string& path) {
    check_text(path);
    std::error_code failed;
    const auto given = fs::absolute(path);
    auto target = fs::canonical(given, failed);
    if (failed && fs::is_symlink(fs::symlink_status(given, failed)))
        refuse_path(path + " is a symbolic link that leads to no file; name the file.");
    if (target.empty())
        target = fs::weakly_canonical(given.parent_path(), failed) / given.filename();
    check_folder_of(target);
    if (fs::exists(target, failed) && !fs::is_regular_file(target, failed))
        refuse_path(target.string() + " is not an ordinary file; name one.");
    return target.string();
}

std::string name_in_folder(const std::string& path) { return fs::path(path).filename().string(); }

}  // namespace

fenced_file::fenced_file(const std::string& path) : path_(target_of(path)) {}

fence_result fenced_file::write(std::string_view content, fencing_token token) const {
    (void)token_number(token);
    open_folder folder(fs::path(path_).parent_path().string());
    const auto name = name_in_folder(path_);
    folder.lock(name);
    return write_fenced(folder, name, content, token);
}

fencing_token fenced_file::newest() const {
    open_folder folder(fs::path(path_).parent_path().string());
    return fence_of(folder, name_in_folder(path_));
}

}  // namespace pawl::guard
