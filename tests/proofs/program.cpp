// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "program.hpp"

#include "arguments.hpp"
#include "begin_set.hpp"
#include "client_process.hpp"
#include "network.hpp"
#include "pace.hpp"

#include <iostream>

namespace proofs {

namespace {

int run_helper(const std::vector<std::string>& words) {
    if (words == std::vector<std::string>{"namespace"}) return keep_namespace();
    if (words.size() == 3 && words[0] == "begin-set") return begin_set(words[1], words[2]);
    if (const auto client = read_client_words(words)) return run_client(*client);
    return 2;
}

}  // namespace

int run_program(int argc, char** argv, const std::string& name,
                const std::function<int(const std::vector<std::string>&)>& run) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words[0] == "--pawl-helper")
        return run_helper({words.begin() + 1, words.end()});
    try {
        return run(words);
    } catch (const bad_usage& problem) {
        std::cerr << problem.what() << "\n";
        return 2;
    } catch (const interrupted&) {
        return 1;
    } catch (const std::exception& problem) {
        std::cerr << "The " << name << " failed: " << problem.what() << "\n";
        return 1;
    }
}

std::ofstream open_page(const std::string& path) {
    std::ofstream page;
    if (path.empty()) return page;
    page.open(path);
    if (!page) throw bad_usage("'" + path + "' cannot be written; name another --html.");
    return page;
}

}  // namespace proofs
