#include "peer.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    if (argc == 5 && std::string(argv[1]) == "--pawl-helper")
        return interop::run_peer(argv[3], argv[4]);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
