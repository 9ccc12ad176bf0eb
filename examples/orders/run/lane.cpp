// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lane.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace shop {
namespace {

constexpr int longest_silence_ms = 600'000;

}  // namespace

worker_process::worker_process(const worker_options& options)
    : process_("/proc/self/exe", options.to_arguments()) {}

void worker_process::send(const std::string& command) {
    process_.write_line(command);
    is_busy = true;
}

std::string worker_process::receive() {
    std::array<char, 512> buffer{};
    while (text_.find('\n') == std::string::npos) {
        pollfd ready{output(), POLLIN, 0};
        if (::poll(&ready, 1, 0) != 1) return {};
        const ssize_t size = ::read(output(), buffer.data(), buffer.size());
        if (size <= 0) return "died";
        text_.append(buffer.data(), static_cast<std::size_t>(size));
    }
    const auto end = text_.find('\n');
    auto line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
}

void worker_process::wait_stopped() { is_stopped = process_.wait_stopped(); }

void worker_process::resume() {
    is_stopped = false;
    process_.signal(SIGCONT);
}

lane::lane(worker_options options, int workers, std::function<void(const visit&)> on_stop)
    : options_(std::move(options)), on_stop_(std::move(on_stop)) {
    for (int i = 0; i < workers; ++i)
        workers_.emplace_back(options_);
}

void lane::begin(const visit& played) {
    workers_.at(begun_++).send("serve " + played.order + ' ' +
                               std::string(name_of(played.planned)));
}

bool lane::play(const visit& played) {
    begun_ = 0;
    for (int i = 0; i < played.at_once; ++i)
        begin(played);
    bool is_done = false;
    while (std::ranges::any_of(workers_, &worker_process::is_busy)) {
        worker_process* from = nullptr;
        const auto line = next_line(from);
        if (on_line(*from, line, played)) is_done = true;
        resume_if_last();
    }
    return is_done;
}

bool lane::on_line(worker_process& from, const std::string& line, const visit& played) {
    if (line == "stopping") {
        ++counts_.stopped;
        from.wait_stopped();
        on_stop_(played);
        for (int i = 0; i < played.after_stop; ++i)
            begin(played);
        return false;
    }
    from.is_busy = false;
    if (line == "died") {
        ++counts_.died;
        from = worker_process(options_);
    } else if (line.starts_with("failed")) {
        counts_.failures.push_back(played.order + ": " + line.substr(7));
    }
    return line == "done";
}

void lane::resume_if_last() {
    const auto is_at_work = [](const worker_process& each) {
        return each.is_busy && !each.is_stopped;
    };
    if (std::ranges::any_of(workers_, is_at_work)) return;
    for (auto& each : workers_)
        if (each.is_stopped) each.resume();
}

std::string lane::next_line(worker_process*& from) {
    for (;;) {
        std::vector<pollfd> outputs;
        for (auto& each : workers_) {
            if (!each.is_busy || each.is_stopped) continue;
            from = &each;
            if (auto line = each.receive(); !line.empty()) return line;
            outputs.push_back({each.output(), POLLIN, 0});
        }
        if (::poll(outputs.data(), outputs.size(), longest_silence_ms) == 0)
            throw std::runtime_error("A worker does not answer.");
    }
}

std::string lane::ask(const std::string& command) {
    workers_.front().send(command);
    worker_process* from = nullptr;
    auto line = next_line(from);
    from->is_busy = false;
    return line;
}

}  // namespace shop
