#include "journal.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace storm {

namespace {

int open_to_append(const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) throw std::runtime_error("cannot write " + path);
    return file;
}

void write_whole(int file, const std::string& text) {
    if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error("cannot write to a journal: disk full?");
}

// "got KEY TOKEN INVOKED RETURNED DEADLINE", then "at KEY WHEN DEADLINE" as long as the lock was
// believed to be held. What a holder believed after its last line, before it was killed, nobody
// knows.
void read_journal(const std::filesystem::path& path, support::history& into) {
    std::map<std::string, support::hold_record> open;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string verb, key;
        words >> verb >> key;
        support::hold_record& it = open[key];
        if (verb == "got") {
            words >> it.token >> it.invoked >> it.returned >> it.deadline;
            it.ended = it.returned;
            it.who = path.stem().string() + "/" + key;
        } else {
            words >> it.ended >> it.deadline;
        }
    }
    for (auto& [key, record] : open)
        into.holds.push_back(record);
}

}  // namespace

journal::journal(const std::string& path) : file_(open_to_append(path)) {}

journal::~journal() { ::close(file_); }

void journal::write(const std::string& line) const { write_whole(file_, line + "\n"); }

resource::resource(const std::string& path) : file_(open_to_append(path)) {}

resource::~resource() { ::close(file_); }

resource::alone::alone(int on) : file(on) {
    while (::flock(file, LOCK_EX) != 0) {}
}

resource::alone::~alone() { ::flock(file, LOCK_UN); }

void resource::append(std::uint64_t token, support::instant now) const {
    write_whole(file_, std::to_string(token) + " " + std::to_string(now) + "\n");
}

support::history read_history(const std::string& folder) {
    support::history result;
    for (const auto& each : std::filesystem::directory_iterator(folder))
        if (each.path().extension() == ".journal") read_journal(each.path(), result);
    std::ifstream file(std::filesystem::path(folder) / "resource");
    for (support::write_record each; file >> each.token >> each.when;)
        result.writes.push_back(each);
    return result;
}

}  // namespace storm
