// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "host_names.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace {

// Flags that no entry of the system has: `freeaddrinfo` recognizes its own entries by them.
constexpr int of_this_table = 0x70617700;

struct name_table {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, std::vector<std::string>> addresses;
    std::map<std::string, std::size_t> lookups;
    std::set<std::string> hanging_names;
    std::size_t hanging_count = 0;
};

name_table& table() {
    static auto& all = *new name_table;  // a look-up may outlive the tests
    return all;
}

addrinfo* make_entry(const std::string& text) {
    auto* entry = static_cast<addrinfo*>(std::calloc(1, sizeof(addrinfo) + sizeof(sockaddr_in)));
    auto* result = reinterpret_cast<sockaddr_in*>(entry + 1);
    result->sin_family = AF_INET;
    ::inet_pton(AF_INET, text.c_str(), &result->sin_addr);
    entry->ai_family = AF_INET;
    entry->ai_socktype = SOCK_STREAM;
    entry->ai_addrlen = sizeof(sockaddr_in);
    entry->ai_addr = reinterpret_cast<sockaddr*>(result);
    entry->ai_flags = of_this_table;
    return entry;
}

template <class Function>
Function* system_function(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* wanted,
                           addrinfo** result) {
    auto& all = table();
    std::unique_lock lock(all.mutex);
    const std::string host = name == nullptr ? "" : name;
    ++all.lookups[host];
    if (all.hanging_names.contains(host)) {
        ++all.hanging_count;
        all.changed.wait(lock, [&] { return !all.hanging_names.contains(host); });
        --all.hanging_count;
        return EAI_AGAIN;
    }
    const auto at = all.addresses.find(host);
    if (at == all.addresses.end()) {
        lock.unlock();
        return system_function<decltype(::getaddrinfo)>("getaddrinfo")(name, service, wanted,
                                                                       result);
    }
    *result = nullptr;
    for (auto each = at->second.rbegin(); each != at->second.rend(); ++each) {
        auto* entry = make_entry(*each);
        entry->ai_next = *result;
        *result = entry;
    }
    return *result == nullptr ? EAI_NONAME : 0;
}

extern "C" void freeaddrinfo(addrinfo* first) {
    if (first != nullptr && first->ai_flags != of_this_table) {
        system_function<decltype(::freeaddrinfo)>("freeaddrinfo")(first);
        return;
    }
    while (first != nullptr)
        std::free(std::exchange(first, first->ai_next));
}

namespace chaos {

host_names::~host_names() {
    release_hanging();
    const std::lock_guard lock(table().mutex);
    table().addresses.clear();
    table().lookups.clear();
}

void host_names::resolve_to(const std::string& name, const std::vector<std::string>& addresses) {
    const std::lock_guard lock(table().mutex);
    table().addresses[name] = addresses;
    table().hanging_names.erase(name);
    table().changed.notify_all();
}

void host_names::start_hanging(const std::string& name) {
    const std::lock_guard lock(table().mutex);
    table().hanging_names.insert(name);
}

void host_names::release_hanging() {
    const std::lock_guard lock(table().mutex);
    table().hanging_names.clear();
    table().changed.notify_all();
}

std::size_t host_names::hanging_lookups() const {
    const std::lock_guard lock(table().mutex);
    return table().hanging_count;
}

std::size_t host_names::lookup_count(const std::string& name) const {
    const std::lock_guard lock(table().mutex);
    return table().lookups[name];
}

}  // namespace chaos
