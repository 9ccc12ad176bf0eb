// Making a service does not connect, and its description keeps the password to itself.
#include <pawl/redis.hpp>

#include <iostream>

int main() {
    const auto there = pawl::redis::at("redis://somebody:secret@127.0.0.1:6390/2");
    std::cout << there.describe() << '\n';
    return there.describe().find("secret") == std::string::npos ? 0 : 1;
}
