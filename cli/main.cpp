#include "command_line.hpp"

int main(int argc, char** argv) { return pawl::cli::run_command(argc, argv); }
