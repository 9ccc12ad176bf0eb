// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_user.hpp"

#include "temp_folder.hpp"

#include <conformance/process.hpp>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace support {
namespace {

const passwd& server_user() {
    const passwd* user = ::getpwnam("postgres");
    if (user == nullptr) user = ::getpwnam("nobody");
    if (user == nullptr) throw std::runtime_error("there is no user postgres and no user nobody");
    return *user;
}

void give(const std::filesystem::path& path, const passwd& user) {
    if (::lchown(path.c_str(), user.pw_uid, user.pw_gid) != 0)
        throw std::runtime_error("cannot give " + path.string() + " to " + user.pw_name);
}

}  // namespace

std::vector<std::string> as_server_user(std::vector<std::string> words) {
    if (::geteuid() != 0) return words;
    const passwd& user = server_user();
    std::vector<std::string> result{"setpriv",
                                    "--reuid=" + std::to_string(user.pw_uid),
                                    "--regid=" + std::to_string(user.pw_gid),
                                    "--clear-groups",
                                    "--pdeathsig=KILL",
                                    "--"};
    result.insert(result.end(), words.begin(), words.end());
    return result;
}

void give_to_server_user(const std::filesystem::path& folder) {
    if (::geteuid() != 0) return;
    const passwd& user = server_user();
    give(folder, user);
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder))
        give(each.path(), user);
}

void run_as_server_user(const std::vector<std::string>& words, const machine& where) {
    const temp_folder folder;
    give_to_server_user(folder.path());
    const std::string output = folder.file("output");
    pawl::conformance::child program({.arguments = on_machine(where, as_server_user(words)),
                                      .environment = {},
                                      .output_file = output,
                                      .folder = folder.path().string()});
    const auto status = program.wait(std::chrono::minutes(2));
    if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return;
    std::ifstream file(output);
    throw std::runtime_error(words.front() +
                             " fails: " + std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace support
