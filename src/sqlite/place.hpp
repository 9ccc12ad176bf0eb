// Where the file is: on a disk of this host, or we do not touch it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::sqlite {

// The name of a network (or otherwise shared) file system with this magic number of statfs(2), on
// which file locks or shared memory do not hold between hosts; empty for all others.
[[nodiscard]] std::string_view shared_file_system(unsigned long magic) noexcept;
// "ext4", "tmpfs", …; the number in hex where we have no name for it.
[[nodiscard]] std::string file_system_name(unsigned long magic);

// The magic number for the file, or for the nearest folder above it that exists.
[[nodiscard]] unsigned long file_system_of(const std::string& path);

// Throws errc::refused, naming the file system, when it is a shared one.
void refuse_shared(const std::string& path, unsigned long magic);

// The absolute path; throws errc::bad_option for what SQLite would take for something else than a
// file.
[[nodiscard]] std::string checked_path(const std::string& path);

// Names this boot of the host: instants of another one mean nothing now. Throws errc::unsupported
// where this process's boot clock is not the host's.
[[nodiscard]] std::string this_boot();

// Held while a connection to the file is open. A process that was forked meanwhile shares SQLite's
// notion of who has locked what, and would damage the file: there the constructor throws
// errc::unsupported.
class open_mark {
public:
    using file_number = std::pair<dev_t, ino_t>;

    // The file is there by then. `look_again` posts a look at the files; it may be called by any
    // thread.
    open_mark(const std::string& path, std::function<void()> look_again);
    ~open_mark();
    open_mark(const open_mark&) = delete;
    open_mark& operator=(const open_mark&) = delete;

    // All connections of a process share the index of the log (-shm) that the first one opened.
    // False: at the path there is another one by now.
    [[nodiscard]] bool shares_index(const file_number& at_the_path);
    // Has the other connections of this process look whether their files were replaced.
    void warn_others();

private:
    file_number file_;
    std::function<void()> look_again_;
};

}  // namespace pawl::sqlite
