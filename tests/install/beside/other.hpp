// Somebody else's code over some Asio, as a static library of the program brings it.
#pragma once

#include <cstddef>

// Timers, a strand, threads and sockets; the number of what completed, which must be `rounds` × 4.
std::size_t run_other(std::size_t rounds);

// An io_context of that code where its Boost is Pawl's, else null; and its run().
void* other_loop();
void run_other_loop();
