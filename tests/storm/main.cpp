#include "process.hpp"
#include "work.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

int main(int argc, char** argv) {
    const bool helper = argc > 2 && std::string_view(argv[1]) == "--pawl-helper";
    const std::string_view role = helper ? argv[2] : "";
    if (argc == 6) {
        const storm::orders what{.url = argv[3], .folder = argv[4], .name = argv[5]};
        if (role == "storm") return storm::run_process(what);
        if (role == "stripes") return storm::run_stripes(what);
        if (role == "adopt") return storm::run_adopter(what);
    }
    if (argc == 5 && role == "refused") return storm::wait_for_each(argv[3], std::stoi(argv[4]));
    if (argc == 4 && role == "work") return storm::run_worker(argv[3]);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
