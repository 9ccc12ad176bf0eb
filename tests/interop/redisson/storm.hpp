// What takes part in the storm, and what it writes down for the judge. Each process has a journal
// of lines:
//
//   take KEY NAME MODE COUNT WHEN   it begins to ask; MODE is exclusive, shared or permits
//   at KEY WHEN UNTIL               at WHEN it believes that it holds until UNTIL at least
//   robbed KEY UNTIL                the hold was gone although nobody may end it before UNTIL
//   leave KEY                       from now on it may have given the hold back
//   left KEY                        it has given the hold back
//   gone KEY                        it was refused, and has nothing to give back
//   trouble KEY WORDS               nobody knows
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace interop {

inline constexpr int semaphore_permits = 1000;  // of the one without leases: the dead keep theirs

class storm_journal {
public:
    explicit storm_journal(const std::string& path);
    ~storm_journal();
    storm_journal(const storm_journal&) = delete;
    storm_journal& operator=(const storm_journal&) = delete;
    // In one piece: a process that is killed leaves whole lines.
    void write(const std::string& line) const;

private:
    int file_;
};

// One Pawl process in the storm: wants every object for ever, until it is told to end.
class storm_worker {
public:
    virtual ~storm_worker() = default;
    // Gives everything back.
    virtual void calm_down() = 0;
};
// `how` is sync or async.
[[nodiscard]] std::unique_ptr<storm_worker> make_storm_worker(const std::string& how,
                                                              const std::string& url,
                                                              std::int64_t ttl_ms,
                                                              const std::string& journal);

// The command of `pawl run`: believes for a moment that it holds `lock`.
int run_storm_command(const std::string& journal);

// What is known of all journals of a folder.
struct storm_verdict {
    struct object {
        std::size_t by_java = 0;
        std::size_t by_pawl = 0;
        std::int64_t longest_gap = 0;  // ns, in which nobody held it
    };
    std::map<std::string, object> objects;
    std::vector<std::string> wrongs;
    // Permits without a lease that nobody is there to give back: at least, and at most.
    int surely_lost = 0;
    int perhaps_lost = 0;
};
// Journals with `java` in their name are Java's.
[[nodiscard]] storm_verdict judge_storm(const std::string& folder);

}  // namespace interop
