// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "drawing.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iomanip>
#include <map>
#include <sstream>

namespace real::soak {

namespace {

constexpr double left = 70, width = 900, panel_height = 160, panel_gap = 45, top = 40;

struct series {
    const char* label;
    const char* colour;
    double (*value)(const sample&);
};

struct panel {
    const char* title;
    int decimals;
    std::vector<series> all;
};

double to_mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1U << 20U); }

std::vector<panel> panels() {
    return {{"holds per minute",
             0,
             {{"holds per minute", "#06c",
               [](const sample& each) { return static_cast<double>(each.holds_per_minute); }}}},
            {"memory in MiB",
             1,
             {{"the largest client", "#c60",
               [](const sample& each) { return to_mebibytes(each.client_bytes); }},
              {"all servers", "#393",
               [](const sample& each) { return to_mebibytes(each.server_bytes); }}}},
            {"open descriptors of the largest client",
             0,
             {{"descriptors", "#639",
               [](const sample& each) { return static_cast<double>(each.descriptors); }}}}};
}

class drawing {
public:
    drawing(const std::vector<sample>& samples, const std::vector<fault_mark>& faults)
        : samples_(samples), faults_(faults) {
        if (!samples.empty()) end_ = std::max(end_, samples.back().at);
        if (!faults.empty()) end_ = std::max(end_, faults.back().at);
        text_ << std::fixed << std::setprecision(1);
    }

    std::string draw() {
        const auto all = panels();
        const auto height = top + static_cast<double>(all.size()) * (panel_height + panel_gap);
        text_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << left + width + 30
              << " " << height << "\" font-family=\"sans-serif\" font-size=\"12\">\n";
        draw_environments(height);
        for (std::size_t i = 0; i < all.size(); ++i)
            draw_panel(all[i], top + static_cast<double>(i) * (panel_height + panel_gap));
        text_ << "</svg>\n";
        return text_.str();
    }

private:
    [[nodiscard]] double x_of(milliseconds at) const {
        return left + width * static_cast<double>(at.count()) / static_cast<double>(end_.count());
    }

    void write(double x, double y, const std::string& words, const char* more = "") {
        text_ << "<text x=\"" << x << "\" y=\"" << y << "\"" << more << ">" << words << "</text>\n";
    }

    // The name of each environment above the time at which it ran.
    void draw_environments(double height) {
        milliseconds begin{};
        for (std::size_t i = 0; i < samples_.size(); ++i) {
            const auto& each = samples_[i];
            if (i + 1 < samples_.size() && samples_[i + 1].environment == each.environment)
                continue;
            const auto x = x_of(begin);
            text_ << "<path d=\"M" << x << " " << top - 25 << "V" << height - panel_gap
                  << "\" stroke=\"#999\" stroke-dasharray=\"4\"/>\n";
            write(x + 3, top - 16, each.environment);
            begin = each.at;
        }
    }

    void draw_panel(const panel& each, double y) {
        double largest = 1;
        for (const auto& sample : samples_)
            for (const auto& line : each.all)
                largest = std::max(largest, line.value(sample));
        text_ << "<rect x=\"" << left << "\" y=\"" << y << "\" width=\"" << width << "\" height=\""
              << panel_height << "\" fill=\"none\" stroke=\"#666\"/>\n";
        draw_faults(y);
        std::ostringstream limit;
        limit << std::fixed << std::setprecision(each.decimals) << largest;
        write(left - 5, y + 12, limit.str(), " text-anchor=\"end\"");
        write(left - 5, y + panel_height, "0", " text-anchor=\"end\"");
        double label_x = left + 5;
        for (const auto& line : each.all) {
            draw_line(line, y, largest);
            const auto label = each.all.size() == 1 ? std::string(each.title)
                                                    : std::string(each.title) + ", " + line.label;
            write(label_x, y - 4, label, (std::string(" fill=\"") + line.colour + "\"").c_str());
            label_x += 250;
        }
        constexpr int ticks = 4;
        for (int i = 0; i <= ticks; ++i)
            write(x_of(end_ * i / ticks), y + panel_height + 14, to_text(end_ * i / ticks),
                  " text-anchor=\"middle\"");
    }

    // A line for each environment: between two of them other processes ran.
    void draw_line(const series& line, double y, double largest) {
        std::string environment;
        text_ << "<path fill=\"none\" stroke=\"" << line.colour << "\" d=\"";
        for (const auto& each : samples_) {
            text_ << (each.environment == environment ? "L" : "M") << x_of(each.at) << " "
                  << y + panel_height * (1 - line.value(each) / largest);
            // A single sample is a short stroke.
            if (each.environment != environment) text_ << "h2";
            environment = each.environment;
        }
        text_ << "\"><title>" << line.label << "</title></path>\n";
    }

    void draw_faults(double y) {
        std::map<std::string, std::vector<milliseconds>> times;
        for (const auto& each : faults_)
            times[each.name].push_back(each.at);
        for (const auto& [name, all] : times) {
            text_ << "<path class=\"fault\" stroke=\"#c00\" stroke-opacity=\"0.5\" d=\"";
            for (const auto at : all)
                text_ << "M" << x_of(at) << " " << y + panel_height - 8 << "v8";
            text_ << "\"><title>" << name << "</title></path>\n";
        }
    }

    const std::vector<sample>& samples_;
    const std::vector<fault_mark>& faults_;
    milliseconds end_{1};
    std::ostringstream text_;
};

}  // namespace

std::string draw(const std::vector<sample>& samples, const std::vector<fault_mark>& faults) {
    return drawing(samples, faults).draw();
}

}  // namespace real::soak
