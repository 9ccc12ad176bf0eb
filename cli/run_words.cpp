#include "run_words.hpp"

#include "duration.hpp"

namespace pawl::cli {

namespace {

std::string subject(const run_options& options, std::string_view which) {
    if (options.also.empty() || which.empty()) return in_words(options);
    const auto all = std::to_string(options.also.size() + 1);
    return "'" + std::string(which) + "', one of the " + all + " locks";
}

}  // namespace

std::vector<std::string> names_of(const run_options& options) {
    std::vector<std::string> names{options.name};
    names.insert(names.end(), options.also.begin(), options.also.end());
    return names;
}

std::string in_words(const run_options& options) {
    const auto others = options.also.size();
    const std::string more =
        others == 0 ? "" : " and " + std::to_string(others) + (others == 1 ? " other" : " others");
    return "'" + options.name + "'" + more;
}

std::string loss_sentence(const run_options& options, loss_reason why, std::string_view which,
                          std::string_view outcome) {
    const std::string lost = "Lost " + subject(options, which);
    const std::string then = "; " + std::string(outcome) + ".";
    switch (why) {
    case loss_reason::max_hold:
        return "The " + exact(options.max_hold) + " of --max-hold are over for " +
               in_words(options) + then;
    case loss_reason::forced: return lost + ": somebody released it by force" + then;
    case loss_reason::taken_over:
        return lost + ": the service says that it is no longer ours" + then;
    case loss_reason::none:
    case loss_reason::client_closed: return lost + ": the process that keeps it has ended" + then;
    case loss_reason::expired:
    case loss_reason::forked: break;
    }
    return lost + ": no renewal was confirmed in time" + then;
}

}  // namespace pawl::cli
