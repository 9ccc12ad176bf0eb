// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The soak: see `usage`.
#include "report.hpp"
#include "settings.hpp"
#include "stretch.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

#include <stdlib.h>

namespace real::soak {

namespace {

// For the records. It is removed at the end if nothing in it is worth keeping.
class records_folder {
public:
    records_folder() {
        path_ = (std::filesystem::temp_directory_path() / "pawl-soak-XXXXXX").string();
        if (::mkdtemp(path_.data()) == nullptr)
            throw std::runtime_error("cannot create the folder " + path_);
    }
    records_folder(const records_folder&) = delete;
    records_folder& operator=(const records_folder&) = delete;
    ~records_folder() {
        std::error_code ignored;
        if (!is_kept_) std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    void keep() noexcept { is_kept_ = true; }

private:
    std::string path_;
    bool is_kept_ = false;
};

}  // namespace

int run_verb(const std::vector<std::string>& arguments) {
    const auto options = parse_settings(arguments);
    report result{.seed = options.seed};
    const auto entries = chosen_environments(options.environments, result.notes);
    auto page = open_page(options.html);
    for (const auto& each : result.notes)
        std::cout << each << "\n";
    std::cout << "The seed is " << options.seed << "." << std::endl;
    interruption signals;
    records_folder folder;
    progress figures(std::cout);
    const soak_parts parts{.options = options,
                           .folder = folder.path(),
                           .signals = signals,
                           .figures = figures,
                           .earlier = result.all};
    const auto begin = std::chrono::steady_clock::now();
    bool is_over = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        is_over = is_over || signals.count() != 0;
        if (is_over) {
            result.notes.push_back("The environment '" + entries[i].name + "' was not reached.");
            continue;
        }
        const auto end = begin + std::chrono::milliseconds(options.length) * (i + 1) /
                                     static_cast<std::int64_t>(entries.size());
        result.all.push_back(run_stretch(entries[i], parts, end));
        is_over = options.ends_at_failure && !result.all.back().failures.empty();
    }
    std::cout << text_of(result);
    page << page_of(result, figures.samples(), figures.faults());
    const int status = exit_status(result.all);
    if (status != 0) {
        folder.keep();
        std::cout << "The records of failed rounds, and what clients printed, are in "
                  << folder.path() << ".\n";
    }
    if (page.is_open() && !page.flush())
        throw std::runtime_error("'" + options.html + "' cannot be written: disk full?");
    return status;
}

}  // namespace real::soak
