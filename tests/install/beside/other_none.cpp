// No other Asio at all.
#include "other.hpp"

std::size_t run_other(std::size_t rounds) { return rounds * 4; }
void* other_loop() { return nullptr; }
void run_other_loop() {}
