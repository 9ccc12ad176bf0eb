// Numbers and what is said of them.
#pragma once

#include <pawl/types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct settings {
    bool quick = false;  // fewer rounds: to see that it runs, not to quote
    std::string only;    // run the measurements whose id starts with this
    std::string json;    // a file for the rows; empty: none
    std::string out;     // a folder for the rows and the chart; empty: none
};

// One line of the result.
struct row {
    std::string id;
    std::string what;
    std::string unit;
    double measured = 0;
    std::string limit_name;  // empty: nothing to compare with
    std::optional<double> limit{};
    std::optional<double>
        ratio{};         // measured ÷ limit; the median over rounds where it was taken in rounds
    std::string target;  // for people: "≤ 1.25"; empty: published only
    std::optional<bool> met{};
    std::string note{};
};

enum class bound { at_most, at_least };

// Fills in `ratio` where there is a limit, `target` and `met`: of the ratio if there is one, else
// of the number itself.
row judged(row line, bound which, double target);

[[nodiscard]] double percentile(std::vector<double> values, double share);
[[nodiscard]] inline double median(std::vector<double> values) {
    return percentile(std::move(values), 0.5);
}
[[nodiscard]] double seconds(pawl::duration time);
// Runs `once`, `times` times, and gives back how long each took in µs.
template <class F>
std::vector<double> time_each(int times, F&& once) {
    std::vector<double> taken;
    taken.reserve(static_cast<std::size_t>(times));
    for (int i = 0; i < times; ++i) {
        const auto before = pawl::boot_clock::now();
        once();
        taken.push_back(seconds(pawl::boot_clock::now() - before) * 1e6);
    }
    return taken;
}

// One line on standard error, so that the table can be piped.
void progress(const std::string& line);
// "12.3", with three figures that matter.
[[nodiscard]] std::string figure(double value);

}  // namespace bench
