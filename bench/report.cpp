// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace bench {

namespace {

std::string processor_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            return line.substr(line.find(':') + 2);
        }
    }
    return "unknown";
}

std::string read_load_average() {
    std::ifstream file("/proc/loadavg");
    std::string load_average;
    file >> load_average;
    return load_average;
}

std::string current_date() {
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

std::string to_json_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result + '"';
}

std::string format_json_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

// Width in columns: UTF-8 continuation bytes take no room.
std::string pad_right(std::string text, std::size_t width) {
    const auto shown = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
    text.append(width > shown ? width - shown : 0, ' ');
    return text;
}

std::string with_unit(double value, const std::string& unit) {
    return format_number(value) + ' ' + unit;
}

}  // namespace

machine_info describe_machine(const std::string& server) {
    return {{"date", current_date()},
            {"processor", processor_model()},
            {"cores", std::to_string(std::thread::hardware_concurrency())},
            {"load before", read_load_average()},
            {"compiler", __VERSION__},
#ifdef __OPTIMIZE__
            {"optimized", "yes"},
#else
            {"optimized", "no: do not quote these numbers"},
#endif
            {"server", server}};
}

void print_table(const machine_info& machine, const std::vector<row>& rows) {
    std::printf("\n");
    for (const auto& [name, value] : machine) {
        std::printf("%s: %s\n", name.c_str(), value.c_str());
    }
    std::printf("\n%s%s%s%s%s%s\n", pad_right("what", 54).c_str(),
                pad_right("measured", 24).c_str(), pad_right("baseline", 18).c_str(),
                pad_right("ratio", 8).c_str(), pad_right("target", 9).c_str(), "met");
    for (const row& each : rows) {
        std::printf(
            "%s%s%s%s%s%s\n", pad_right(each.label, 54).c_str(),
            pad_right(with_unit(each.measured, each.unit), 24).c_str(),
            pad_right(each.baseline ? with_unit(*each.baseline, each.unit) : "-", 18).c_str(),
            pad_right(each.ratio ? format_number(*each.ratio) : "-", 8).c_str(),
            pad_right(each.target.empty() ? "-" : each.target, 9).c_str(),
            !each.met   ? "-"
            : *each.met ? "yes"
                        : "NO");
        if (!each.baseline_name.empty()) {
            std::printf("    baseline: %s\n", each.baseline_name.c_str());
        }
        if (!each.note.empty()) {
            std::printf("    %s\n", each.note.c_str());
        }
    }
}

void write_json(const std::string& path, const machine_info& machine,
                const std::vector<row>& rows) {
    std::ofstream out(path);
    out << "{\n  \"where\": {";
    for (std::size_t i = 0; i < machine.size(); ++i) {
        out << (i == 0 ? "\n" : ",\n") << "    " << to_json_string(machine[i].first) << ": "
            << to_json_string(machine[i].second);
    }
    out << "\n  },\n  \"rows\": [";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const row& each = rows[i];
        out << (i == 0 ? "\n" : ",\n") << "    {\"id\": " << to_json_string(each.id)
            << ", \"what\": " << to_json_string(each.label)
            << ", \"unit\": " << to_json_string(each.unit)
            << ", \"measured\": " << format_json_number(each.measured)
            << ", \"baseline\": " << (each.baseline ? format_json_number(*each.baseline) : "null")
            << ", \"baseline_name\": "
            << (each.baseline ? to_json_string(each.baseline_name) : "null")
            << ", \"ratio\": " << (each.ratio ? format_json_number(*each.ratio) : "null")
            << ", \"target\": " << (each.target.empty() ? "null" : to_json_string(each.target))
            << ", \"met\": "
            << (!each.met   ? "null"
                : *each.met ? "true"
                            : "false")
            << ", \"note\": " << to_json_string(each.note) << "}";
    }
    out << "\n  ]\n}\n";
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
}

}  // namespace bench
