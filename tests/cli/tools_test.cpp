// status, ls, watch, release, doctor, bench, completion.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <array>
#include <fstream>
#include <regex>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

std::unique_ptr<started> holder(const world& here, const std::string& name) {
    auto one = here.start({"run", name, "--", "sleep", "600"});
    EXPECT_TRUE(here.soon_held(name)) << one->err();
    return one;
}

// All that the tools promise, on one backend.
void tell_the_truth(const world& here) {
    const auto free_one = here.run({"status", "job", "--json"});
    EXPECT_EQ(free_one.code, 1);
    EXPECT_EQ(from_json(free_one.out, "it['held'], it['holder'], it['waiters'], it['name']"),
              "False None 0 job");

    const auto job = holder(here, "job");
    const auto other = holder(here, "other");
    const auto waiting = here.start({"run", "job", "--", "true"});
    ASSERT_TRUE(support::eventually([&] {
        return from_json(here.run({"status", "job", "--json"}).out, "it['waiters']") == "1";
    }));
    const auto held = here.run({"status", "job", "--json"});
    EXPECT_EQ(held.code, 0);
    EXPECT_EQ(from_json(held.out, "it['held'], it['holder']['pid'], it['holder']['command']"),
              "True " + std::to_string(job->pid()) + " sleep");
    EXPECT_EQ(
        from_json(held.out, "type(it['holder']['token']).__name__, int(it['holder']['token']) > 0"),
        "str True");
    EXPECT_EQ(from_json(held.out, "0 < it['holder']['remaining_ms'] <= 30000"), "True");
    const auto text = here.run({"status", "job"}).out;
    for (const std::string& word :
         {std::string("job is held"), "pid        " + std::to_string(job->pid()),
          std::string("command    sleep"), std::string("waiters    1")}) {
        EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
    }

    EXPECT_EQ(here.run({"ls", "--names"}).out, "job\nother\n");
    EXPECT_EQ(here.run({"ls", "--names", "jo"}).out, "job\n");
    EXPECT_EQ(here.run({"ls", "nothing"}).out, "");
    EXPECT_EQ(from_json(here.run({"ls", "--json"}).out, "[each['name'] for each in it]"),
              "['job', 'other']");
    const auto table = here.run({"ls"}).out;
    EXPECT_EQ(table.find("NAME"), 0U) << table;
    EXPECT_EQ(table.find('\x1b'), std::string::npos) << "colours are for terminals";
}

TEST(Tools, TellTheTruthOnSqlite) { tell_the_truth(world()); }
TEST(Tools, TellTheTruthOnRedis) {
    support::redis_server server;
    tell_the_truth(world(server.url()));
}

void watch_tells(const world& here) {
    const auto first = holder(here, "first");
    const auto watching = here.start({"watch", "--interval", "50ms"});
    const auto events = here.start({"watch", "--interval", "50ms", "--json"});
    const auto sees = [](const started& one, const std::string& what) {
        return support::eventually([&] { return one.out().find(what) != std::string::npos; });
    };
    EXPECT_TRUE(sees(*watching, "first  held by")) << watching->out() << watching->err();
    EXPECT_TRUE(sees(*events, "\"event\":\"held\""));
    const auto second = holder(here, "second");
    EXPECT_TRUE(sees(*watching, "second  taken by"));
    EXPECT_TRUE(sees(*events, "\"event\":\"taken\""));
    first->signal(SIGTERM);
    EXPECT_TRUE(sees(*watching, "first  freed"));
    EXPECT_TRUE(sees(*events, "\"event\":\"freed\""));
    watching->signal(SIGINT);
    EXPECT_EQ(watching->wait().code, 128 + SIGINT);
    events->signal(SIGTERM);
    std::istringstream lines(events->wait().out);
    for (std::string line; std::getline(lines, line);)
        EXPECT_EQ(from_json(line, "it['lock']['name'] != ''"), "True");
}

TEST(Tools, WatchTellsEachChangeOnSqlite) { watch_tells(world()); }
TEST(Tools, WatchTellsEachChangeOnRedis) {
    support::redis_server server;
    watch_tells(world(server.url()));
}

TEST(Tools, WatchOutlivesAnAbsentServer) {
    support::redis_server server;
    const world here(server.url());
    const auto watching = here.start({"watch", "--interval", "50ms"});
    const auto one = holder(here, "x");
    ASSERT_TRUE(
        support::eventually([&] { return watching->out().find("x  ") != std::string::npos; }));
    server.kill9();
    ASSERT_TRUE(support::eventually([&] { return watching->err().find("pawl: ") == 0; }, 30s));
    server.start(false);
    EXPECT_TRUE(support::eventually(
        [&] { return watching->err().find("answers again") != std::string::npos; }, 30s))
        << watching->err();
}

TEST(Tools, AForeignLockWithoutAnEndIsShownAsSuch) {
    support::redis_server server;
    const world here(server.url());
    server.ask({"SET", "pawl:{x}", "somebody"});
    EXPECT_EQ(from_json(here.run({"status", "x", "--json"}).out, "it['holder']['remaining_ms']"),
              "None");
    const auto text = here.run({"status", "x"}).out;
    EXPECT_NE(text.find("remaining  forever"), std::string::npos) << text;
    EXPECT_EQ(text.find("renewed"), std::string::npos) << text;
}

TEST(Tools, ReleaseWantsForceAndAYes) {
    const world here;
    const auto one = holder(here, "x");
    EXPECT_EQ(here.run({"release", "x"}).code, 64);
    const auto unasked = here.run({"release", "--force", "x"});
    EXPECT_EQ(unasked.code, 64);
    EXPECT_NE(unasked.err.find("--yes"), std::string::npos);
    EXPECT_TRUE(here.held("x"));

    const auto taken = here.run({"release", "--force", "--yes", "--json", "x"});
    EXPECT_EQ(taken.code, 0);
    EXPECT_EQ(from_json(taken.out, "it['released'], it['name']"), "True x");
    EXPECT_EQ(one->wait().code, 70);
    const auto none = here.run({"release", "--force", "--yes", "x"});
    EXPECT_EQ(none.code, 1);
    EXPECT_EQ(none.out, "Nobody holds 'x'.\n");
}

TEST(Tools, DoctorExaminesAndAdvises) {
    support::redis_server sick({.config = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}});
    const world here(sick.url());
    const auto found = here.run({"doctor", "--json"});
    EXPECT_EQ(found.code, 1) << found.out << found.err;
    EXPECT_EQ(
        from_json(found.out,
                  "any(f['grade'] == 'bad' and 'allkeys-lru' in f['fact'] and f['advice'] for f in "
                  "it['findings'])"),
        "True");
    EXPECT_EQ(from_json(found.out, "all(it['guarantees'].values())"), "True");
    EXPECT_EQ(from_json(found.out, "it['service']"), sick.url() + "/0");
    EXPECT_NE(here.run({"doctor"}).out.find("What to change"), std::string::npos);
    EXPECT_EQ(world().run({"doctor"}).code, 0) << "the embedded default is sound";
}

// Two services whose locks are not the same must not look alike.
TEST(Tools, TheServiceIsShownWithEverythingThatDecidesWhichLockANameIs) {
    support::redis_server server;
    const auto shop = server.url("?namespace=shop");
    const world here(shop);
    const auto holder = here.start({"run", "job", "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held("job"));
    const auto shown = server.url() + "/0?namespace=shop";
    EXPECT_NE(here.run({"status", "job"}).out.find("service    " + shown + " (from PAWL_URL)"),
              std::string::npos);
    EXPECT_NE(world(server.url()).run({"status", "job"}).out.find(server.url() + "/0 (from"),
              std::string::npos);
    const auto service = [](const outcome& found) { return from_json(found.out, "it['service']"); };
    EXPECT_EQ(service(here.run({"status", "--json", "job"})), shown);
    EXPECT_EQ(service(here.run({"doctor", "--json"})), shown);
    const auto redisson = server.url("?layout=redisson&object=readwrite&key=app:{name}");
    EXPECT_EQ(service(world(redisson).run({"status", "--json", "job"})),
              server.url() + "/0?key=app:{name}&layout=redisson&object=readwrite");
    server.kill9();
    EXPECT_NE(here.run({"ls"}).err.find(shown), std::string::npos);
}

TEST(Tools, DoctorJudgesTheWayToTheServerAndTheUser) {
    const auto grade = [](const outcome& found, const std::string& topic) {
        return from_json(found.out,
                         "[(f['grade'], f['fact']) for f in it['findings'] if "
                         "f['topic'] == '" +
                             topic + "']");
    };
    support::redis_server plain;
    const auto of_plain = world(plain.url()).run({"doctor", "--json"});
    EXPECT_EQ(grade(of_plain, "transport"), "[('good', 'this host alone')]");
    EXPECT_EQ(grade(of_plain, "user"), "[('warning', 'default, without a password')]");
    EXPECT_NE(grade(of_plain, "latency").find(" µs median"), std::string::npos) << of_plain.out;
    EXPECT_EQ(grade(world(plain.unix_url()).run({"doctor", "--json"}), "transport"),
              "[('good', 'a unix socket')]");
    support::redis_server secure(
        {.config = {"requirepass secret"}, .tls = true, .password = "secret"});
    const auto with_tls = [&](const std::string& option) {
        return world(secure.url("?password_env=WORD&" + option))
            .run({"doctor", "--json"}, {{"WORD", "secret"}});
    };
    const auto checked = with_tls("ca=" + secure.folder().file("ca.crt"));
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_EQ(grade(checked, "transport"), "[('good', 'TLS, certificate checked')]");
    EXPECT_EQ(grade(checked, "user"), "[('good', 'default, with a password')]");
    const auto unchecked = with_tls("verify=no");
    EXPECT_EQ(unchecked.code, 1) << unchecked.err;
    EXPECT_EQ(grade(unchecked, "transport"), "[('bad', 'TLS, certificate not checked')]");
}

struct fsync_case {
    const char* policy;
    const char* row;
    const char* grade;
    const char* forgets;
};

TEST(Tools, DoctorKnowsHowOftenTheServerWritesToTheDisk) {
    const std::array cases{
        fsync_case{"always", "Redis, AOF always", "good", ""},
        fsync_case{"everysec", "Redis, AOF everysec", "note", "the last second"},
        fsync_case{"no", "Redis, AOF without fsync", "warning", "tens of seconds"}};
    for (const auto& each : cases) {
        support::redis_server server(
            {.config = {"appendonly yes", std::string("appendfsync ") + each.policy}});
        const auto found = world(server.url()).run({"doctor", "--json"});
        EXPECT_EQ(found.code, 0) << found.err;
        EXPECT_EQ(from_json(found.out, "it['guarantees']['backend']"), each.row);
        const std::string finding = "[f for f in it['findings'] if f['topic'] == 'persistence'][0]";
        EXPECT_EQ(from_json(found.out, finding + "['grade']"), each.grade);
        const auto advice = from_json(found.out, finding + "['advice']");
        EXPECT_NE(advice.find(each.forgets), std::string::npos) << advice;
    }
}

TEST(Tools, DoctorWhoMayNotAskSaysSo) {
    support::redis_server server(
        {.config = {"appendonly yes", "user default on nopass ~* &* +@all -config"}});
    const auto found = world(server.url()).run({"doctor", "--json"});
    EXPECT_EQ(from_json(found.out, "it['guarantees']['backend']"), "Redis, AOF, fsync unknown");
    EXPECT_NE(found.out.find("allow the user CONFIG GET"), std::string::npos) << found.out;
}

TEST(Tools, DoctorSaysWhatAFailoverDoes) {
    support::redis_server server;
    support::redis_server replica(
        {.config = {"replicaof 127.0.0.1 " + std::to_string(server.port())}});
    const world here(server.url());
    const auto failover = [&] {
        return from_json(here.run({"doctor", "--json"}).out, "it['guarantees']['failover']");
    };
    ASSERT_TRUE(support::eventually([&] { return failover().starts_with("can break"); }));
    const auto of_replica = here.run({"doctor", "--on", replica.url(), "--json"});
    EXPECT_EQ(of_replica.code, 1) << "a replica is no place";
    EXPECT_EQ(from_json(of_replica.out, "it['guarantees']['failover']"),
              "can break: this server is the replica");
}

TEST(Tools, DoctorWarnsOfAPolicyThatOnlyALimitMakesEvict) {
    support::redis_server server({.config = {"maxmemory 0", "maxmemory-policy allkeys-lru"}});
    const auto found = world(server.url()).run({"doctor", "--json"});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(from_json(found.out,
                        "[f['grade'] for f in it['findings'] if f['topic'] == "
                        "'eviction policy']"),
              "['warning']");
}

// Half of the names are another node's, and are refused with MOVED.
TEST(Tools, DoctorKnowsACluster) {
    support::redis_server server({.config = {"cluster-enabled yes"}});
    (void)server.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "8191"});
    const std::string bad =
        "[f['fact'] for f in it['findings'] if f['grade'] == 'bad' and 'luster' in f['fact']]";
    const auto native = world(server.url()).run({"doctor", "--json"});
    EXPECT_EQ(native.code, 1) << native.out << native.err;
    EXPECT_NE(from_json(native.out, bad), "[]") << native.out;
    EXPECT_NE(from_json(native.out, "it['guarantees']['failover']"), "does not apply");
    const auto redisson = world(server.url("?layout=redisson")).run({"doctor", "--json"});
    EXPECT_NE(from_json(redisson.out,
                        "[f['advice'] for f in it['findings'] if f['topic'] == "
                        "'cluster']"),
              "[]")
        << redisson.out;
    EXPECT_EQ(from_json(redisson.out, "it['guarantees']['failover']"),
              "can break: a slot and its locks move to another node");
}

// One that the layout cannot use at all is examined as well: it has one finding, which is bad.
TEST(Tools, DoctorOfAServerThatIsRefused) {
    support::redis_server server({.config = {"rename-command HELLO \"\""}});
    const auto found = world(server.url()).run({"doctor", "--json"});
    EXPECT_EQ(found.code, 1);
    EXPECT_EQ(from_json(found.out, "[f['grade'] for f in it['findings']]"), "['bad']") << found.out;
    EXPECT_NE(from_json(found.out, "it['guarantees']['backend']").find("refused"),
              std::string::npos);
}

TEST(Tools, BenchMeasures) {
    support::redis_server server;
    for (const std::string& url : {server.url(), std::string()}) {
        const world here(url);
        const auto found = here.run({"bench", "--for", "200ms", "--json"});
        ASSERT_EQ(found.code, 0) << found.err;
        for (const char* part : {"uncontended", "hand_off"}) {
            const std::string it = "it['" + std::string(part) + "']";
            EXPECT_EQ(
                from_json(found.out, it + "['count'] > 0 and " + it + "['requests'] >= 2 and 0 < " +
                                         it + "['p50_us'] <= " + it + "['p99_us']"),
                "True")
                << found.out;
        }
        EXPECT_EQ(from_json(found.out, "it['uncontended']['requests']"), "2.0");
        EXPECT_NE(here.run({"bench", "--for", "100ms"}).out.find("hand-off"), std::string::npos);
        EXPECT_EQ(here.run({"ls"}).out, "") << "nothing stays behind";
    }
}

TEST(Tools, CompletionScriptsAreSound) {
    const world here;
    const std::vector<std::pair<std::string, words>> shells{{"bash", {"bash", "-n"}}};
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const auto script = here.run({"completion", shell});
        EXPECT_EQ(script.code, 0);
        EXPECT_NE(script.out.find("pawl"), std::string::npos);
    }
    std::ofstream(here.file("script"))
        << here.run({"completion", "bash"}).out
        << "COMP_WORDS=(pawl run --on-loss t); COMP_CWORD=3; _pawl; echo \"${COMPREPLY[@]}\"\n"
           "COMP_WORDS=(pawl run --sh); COMP_CWORD=2; _pawl; echo \"${COMPREPLY[@]}\"\n"
           "COMP_WORDS=(pawl res); COMP_CWORD=1; _pawl; echo \"${COMPREPLY[@]}\"\n"
           "COMP_WORDS=(pawl st); COMP_CWORD=1; _pawl; echo \"${COMPREPLY[@]}\"\n";
    started bash({"bash", here.file("script")}, here.environment());
    EXPECT_EQ(bash.wait().out, "term\n--shared\nresize\nstatus\n");
    EXPECT_EQ(here.run({"completion", "tcsh"}).code, 64);
}

// As .It Fl in the manual, which says what it does, and in every shell's completion.
TEST(Tools, EveryOptionIsInTheManual) {
    const world here;
    const auto manual = read_file(std::string(PAWL_SOURCE_DIR) + "/cli/man/pawl.1");
    const std::regex option("--([a-z][a-z-]+)");
    for (const char* verb :
         {"run", "elect", "status", "ls", "watch", "release", "resize", "doctor", "bench"}) {
        const auto help = here.run({verb, "--help"}).out;
        std::size_t found = 0;
        for (std::sregex_iterator each(help.begin(), help.end(), option), end; each != end;
             ++each) {
            const auto name = (*each)[1].str();
            if (name == "help") continue;
            ++found;
            const std::regex item("\n\\.It Fl ([a-z] , Fl )?-" + name + "[ \n]");
            EXPECT_TRUE(std::regex_search(manual, item)) << verb << " --" << name;
            EXPECT_NE(here.run({"completion", "bash"}).out.find("--" + name), std::string::npos);
            EXPECT_NE(here.run({"completion", "zsh"}).out.find("--" + name), std::string::npos);
            EXPECT_NE(here.run({"completion", "fish"}).out.find("-l " + name), std::string::npos);
        }
        EXPECT_GE(found, 2U) << help;
    }
}

// As rows of the page's table, and as .It in the manual.
TEST(Tools, EveryExitStatusIsInThePageAndInTheManual) {
    const std::string root = PAWL_SOURCE_DIR;
    const auto page = read_file(root + "/docs/cli.md");
    const auto manual = read_file(root + "/cli/man/pawl.1");
    for (const char* status :
         {"64", "65", "66", "69", "70", "71", "73", "75", "77", "78", "126", "127"}) {
        const std::string number(status);
        EXPECT_TRUE(std::regex_search(page, std::regex("\n\\| (126, )?" + number + "[ ,]")))
            << status;
        EXPECT_TRUE(std::regex_search(manual, std::regex("\n\\.It (126 , )?" + number + "[ \n]")))
            << status;
    }
}

TEST(Tools, VersionAndHelp) {
    const world here;
    EXPECT_EQ(here.run({"run", "--version"}).out, here.run({"--version"}).out);
    EXPECT_EQ(here.run({"help"}).out, here.run({"--help"}).out);
    EXPECT_EQ(here.run({"help", "run"}).out, here.run({"run", "--help"}).out);
    EXPECT_EQ(here.run({"help"}).code, 0);
    EXPECT_EQ(here.run({"--version"}).out.find("pawl "), 0U);
    for (const char* verb : {"run", "elect", "status", "ls", "watch", "release", "resize", "doctor",
                             "bench", "completion"}) {
        const auto help = here.run({verb, "--help"});
        EXPECT_EQ(help.code, 0);
        EXPECT_NE(help.out.find("Usage"), std::string::npos) << verb;
        EXPECT_NE(read_file(std::string(PAWL_SOURCE_DIR) + "/cli/man/pawl.1")
                      .find(".Cm " + std::string(verb)),
                  std::string::npos)
            << verb << " is in the manual";
        for (const char* shell : {"bash", "zsh", "fish"})
            EXPECT_NE(here.run({"completion", shell}).out.find(verb), std::string::npos) << verb;
    }
    const auto help = here.run({"run", "--help"}).out;
    for (const char* option : {"--shared", "--permits", "--fair", "--also"})
        EXPECT_NE(help.find(option), std::string::npos) << option;
}

}  // namespace
