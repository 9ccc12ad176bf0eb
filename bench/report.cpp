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

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            return line.substr(line.find(':') + 2);
        }
    }
    return "unknown";
}

std::string load() {
    std::ifstream file("/proc/loadavg");
    std::string one;
    file >> one;
    return one;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result + '"';
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

// Columns as people count them: UTF-8's continuation bytes take no room.
std::string padded(std::string text, std::size_t width) {
    const auto shown = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
    text.append(width > shown ? width - shown : 0, ' ');
    return text;
}

std::string with_unit(double value, const std::string& unit) { return figure(value) + ' ' + unit; }

}  // namespace

surroundings look_around(const std::string& server) {
    return {{"date", today()},
            {"processor", processor()},
            {"cores", std::to_string(std::thread::hardware_concurrency())},
            {"load before", load()},
            {"compiler", __VERSION__},
#ifdef __OPTIMIZE__
            {"optimized", "yes"},
#else
            {"optimized", "no: do not quote these numbers"},
#endif
            {"server", server}};
}

void print_table(const surroundings& where, const std::vector<row>& rows) {
    std::printf("\n");
    for (const auto& [name, value] : where) {
        std::printf("%s: %s\n", name.c_str(), value.c_str());
    }
    std::printf("\n%s%s%s%s%s%s\n", padded("what", 54).c_str(), padded("measured", 24).c_str(),
                padded("limit", 18).c_str(), padded("ratio", 8).c_str(),
                padded("target", 9).c_str(), "met");
    for (const row& each : rows) {
        std::printf("%s%s%s%s%s%s\n", padded(each.what, 54).c_str(),
                    padded(with_unit(each.measured, each.unit), 24).c_str(),
                    padded(each.limit ? with_unit(*each.limit, each.unit) : "-", 18).c_str(),
                    padded(each.ratio ? figure(*each.ratio) : "-", 8).c_str(),
                    padded(each.target.empty() ? "-" : each.target, 9).c_str(),
                    !each.met   ? "-"
                    : *each.met ? "yes"
                                : "NO");
        if (!each.limit_name.empty()) {
            std::printf("    limit: %s\n", each.limit_name.c_str());
        }
        if (!each.note.empty()) {
            std::printf("    %s\n", each.note.c_str());
        }
    }
}

void write_json(const std::string& path, const surroundings& where, const std::vector<row>& rows) {
    std::ofstream out(path);
    out << "{\n  \"where\": {";
    for (std::size_t i = 0; i < where.size(); ++i) {
        out << (i == 0 ? "\n" : ",\n") << "    " << quoted(where[i].first) << ": "
            << quoted(where[i].second);
    }
    out << "\n  },\n  \"rows\": [";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const row& each = rows[i];
        out << (i == 0 ? "\n" : ",\n") << "    {\"id\": " << quoted(each.id)
            << ", \"what\": " << quoted(each.what) << ", \"unit\": " << quoted(each.unit)
            << ", \"measured\": " << number(each.measured)
            << ", \"limit\": " << (each.limit ? number(*each.limit) : "null")
            << ", \"limit_name\": " << (each.limit ? quoted(each.limit_name) : "null")
            << ", \"ratio\": " << (each.ratio ? number(*each.ratio) : "null")
            << ", \"target\": " << (each.target.empty() ? "null" : quoted(each.target))
            << ", \"met\": "
            << (!each.met   ? "null"
                : *each.met ? "true"
                            : "false")
            << ", \"note\": " << quoted(each.note) << "}";
    }
    out << "\n  ]\n}\n";
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
}

}  // namespace bench
