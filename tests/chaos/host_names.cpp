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

// Flags that no entry of the system's has: `freeaddrinfo` knows by them whose it is.
constexpr int of_this_book = 0x70617700;

struct book {
    std::mutex guard;
    std::condition_variable changed;
    std::map<std::string, std::vector<std::string>> leads;
    std::map<std::string, std::size_t> asked;
    std::set<std::string> hangs;
    std::size_t hanging = 0;
};

book& names() {
    static auto& all = *new book;  // a look-up may outlive the tests
    return all;
}

addrinfo* make_entry(const std::string& text) {
    auto* entry = static_cast<addrinfo*>(std::calloc(1, sizeof(addrinfo) + sizeof(sockaddr_in)));
    auto* to = reinterpret_cast<sockaddr_in*>(entry + 1);
    to->sin_family = AF_INET;
    ::inet_pton(AF_INET, text.c_str(), &to->sin_addr);
    entry->ai_family = AF_INET;
    entry->ai_socktype = SOCK_STREAM;
    entry->ai_addrlen = sizeof(sockaddr_in);
    entry->ai_addr = reinterpret_cast<sockaddr*>(to);
    entry->ai_flags = of_this_book;
    return entry;
}

template <class Function>
Function* systems(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* wanted,
                           addrinfo** to) {
    auto& all = names();
    std::unique_lock lock(all.guard);
    const std::string host = name == nullptr ? "" : name;
    ++all.asked[host];
    if (all.hangs.contains(host)) {
        ++all.hanging;
        all.changed.wait(lock, [&] { return !all.hangs.contains(host); });
        --all.hanging;
        return EAI_AGAIN;
    }
    const auto at = all.leads.find(host);
    if (at == all.leads.end()) {
        lock.unlock();
        return systems<decltype(::getaddrinfo)>("getaddrinfo")(name, service, wanted, to);
    }
    *to = nullptr;
    for (auto each = at->second.rbegin(); each != at->second.rend(); ++each) {
        auto* entry = make_entry(*each);
        entry->ai_next = *to;
        *to = entry;
    }
    return *to == nullptr ? EAI_NONAME : 0;
}

extern "C" void freeaddrinfo(addrinfo* first) {
    if (first != nullptr && first->ai_flags != of_this_book) {
        systems<decltype(::freeaddrinfo)>("freeaddrinfo")(first);
        return;
    }
    while (first != nullptr)
        std::free(std::exchange(first, first->ai_next));
}

namespace chaos {

host_names::~host_names() {
    answer();
    const std::lock_guard lock(names().guard);
    names().leads.clear();
    names().asked.clear();
}

void host_names::lead(const std::string& name, const std::vector<std::string>& addresses) {
    const std::lock_guard lock(names().guard);
    names().leads[name] = addresses;
    names().hangs.erase(name);
    names().changed.notify_all();
}

void host_names::hang(const std::string& name) {
    const std::lock_guard lock(names().guard);
    names().hangs.insert(name);
}

void host_names::answer() {
    const std::lock_guard lock(names().guard);
    names().hangs.clear();
    names().changed.notify_all();
}

std::size_t host_names::hanging() const {
    const std::lock_guard lock(names().guard);
    return names().hanging;
}

std::size_t host_names::asked(const std::string& name) const {
    const std::lock_guard lock(names().guard);
    return names().asked[name];
}

}  // namespace chaos
