#include "process.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

int main(int argc, char** argv) {
    if (argc == 6 && std::string_view(argv[1]) == "--pawl-helper" &&
        std::string_view(argv[2]) == "storm")
        return storm::run_process({.url = argv[3], .folder = argv[4], .name = argv[5]});
    if (argc == 5 && std::string_view(argv[1]) == "--pawl-helper" &&
        std::string_view(argv[2]) == "refused")
        return storm::wait_for_each(argv[3], std::stoi(argv[4]));
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
