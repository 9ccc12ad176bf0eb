// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// status, ls, watch, release, doctor, bench, completion.
#include "command.hpp"

#include <support/cluster_group.hpp>
#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <array>
#include <fstream>
#include <regex>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

std::unique_ptr<started_process> start_holder(const test_sandbox& sandbox,
                                              const std::string& name) {
    auto process = sandbox.start({"run", name, "--", "sleep", "600"});
    EXPECT_TRUE(sandbox.eventually_held(name)) << process->err();
    return process;
}

// The output of all views, on one backend.
void check_views(const test_sandbox& sandbox) {
    const auto free_one = sandbox.run({"status", "job", "--json"});
    EXPECT_EQ(free_one.code, 1);
    EXPECT_EQ(from_json(free_one.out, "it['held'], it['holder'], it['waiters'], it['name']"),
              "False None 0 job");

    const auto job = start_holder(sandbox, "job");
    const auto other = start_holder(sandbox, "other");
    const auto waiting = sandbox.start({"run", "job", "--", "true"});
    ASSERT_TRUE(support::eventually([&] {
        return from_json(sandbox.run({"status", "job", "--json"}).out, "it['waiters']") == "1";
    }));
    const auto held = sandbox.run({"status", "job", "--json"});
    EXPECT_EQ(held.code, 0);
    EXPECT_EQ(from_json(held.out, "it['held'], it['holder']['pid'], it['holder']['command']"),
              "True " + std::to_string(job->pid()) + " sleep");
    EXPECT_EQ(
        from_json(held.out, "type(it['holder']['token']).__name__, int(it['holder']['token']) > 0"),
        "str True");
    EXPECT_EQ(from_json(held.out, "0 < it['holder']['remaining_ms'] <= 30000"), "True");
    const auto text = sandbox.run({"status", "job"}).out;
    for (const std::string& word :
         {std::string("'job' is held"), "pid        " + std::to_string(job->pid()),
          std::string("command    sleep"), std::string("waiters    1")}) {
        EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
    }

    EXPECT_EQ(sandbox.run({"ls", "--names"}).out, "job\nother\n");
    EXPECT_EQ(sandbox.run({"ls", "--names", "jo"}).out, "job\n");
    EXPECT_EQ(sandbox.run({"ls", "nothing"}).out, "");
    EXPECT_EQ(from_json(sandbox.run({"ls", "--json"}).out, "[each['name'] for each in it]"),
              "['job', 'other']");
    const auto table = sandbox.run({"ls"}).out;
    EXPECT_EQ(table.find("NAME"), 0U) << table;
    EXPECT_EQ(table.find('\x1b'), std::string::npos) << "colours are for terminals";
}

TEST(Verbs, ViewsShowTheStateOnSqlite) { check_views(test_sandbox()); }
TEST(Verbs, ViewsShowTheStateOnRedis) {
    support::redis_server server;
    check_views(test_sandbox(server.url()));
}

void check_watch(const test_sandbox& sandbox) {
    const auto first = start_holder(sandbox, "first");
    const auto watching = sandbox.start({"watch", "--interval", "50ms"});
    const auto events = sandbox.start({"watch", "--interval", "50ms", "--json"});
    const auto shows = [](const started_process& process, const std::string& text) {
        return support::eventually([&] { return process.out().find(text) != std::string::npos; });
    };
    EXPECT_TRUE(shows(*watching, "first  held by")) << watching->out() << watching->err();
    EXPECT_TRUE(shows(*events, "\"event\":\"held\""));
    const auto second = start_holder(sandbox, "second");
    EXPECT_TRUE(shows(*watching, "second  taken by"));
    EXPECT_TRUE(shows(*events, "\"event\":\"taken\""));
    first->signal(SIGTERM);
    EXPECT_TRUE(shows(*watching, "first  freed"));
    EXPECT_TRUE(shows(*events, "\"event\":\"freed\""));
    watching->signal(SIGINT);
    EXPECT_EQ(watching->wait().code, 128 + SIGINT);
    events->signal(SIGTERM);
    std::istringstream lines(events->wait().out);
    for (std::string line; std::getline(lines, line);)
        EXPECT_EQ(from_json(line, "it['lock']['name'] != ''"), "True");
}

TEST(Verbs, WatchReportsEachChangeOnSqlite) { check_watch(test_sandbox()); }
TEST(Verbs, WatchReportsEachChangeOnRedis) {
    support::redis_server server;
    check_watch(test_sandbox(server.url()));
}

TEST(Verbs, WatchOutlivesAnAbsentServer) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto watching = sandbox.start({"watch", "--interval", "50ms"});
    const auto lock_holder = start_holder(sandbox, "x");
    ASSERT_TRUE(
        support::eventually([&] { return watching->out().find("x  ") != std::string::npos; }));
    server.kill9();
    ASSERT_TRUE(support::eventually([&] { return watching->err().find("pawl: ") == 0; }, 30s));
    server.start(false);
    EXPECT_TRUE(support::eventually(
        [&] { return watching->err().find("available again") != std::string::npos; }, 30s))
        << watching->err();
}

TEST(Verbs, AForeignLockWithoutAnEndIsShownAsSuch) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    server.execute({"SET", "pawl:{x}", "somebody"});
    EXPECT_EQ(from_json(sandbox.run({"status", "x", "--json"}).out, "it['holder']['remaining_ms']"),
              "None");
    const auto text = sandbox.run({"status", "x"}).out;
    EXPECT_NE(text.find("remaining  no end is known"), std::string::npos) << text;
    EXPECT_EQ(text.find("renewed"), std::string::npos) << text;
}

TEST(Verbs, ReleaseWantsForceAndAYes) {
    const test_sandbox sandbox;
    const auto lock_holder = start_holder(sandbox, "x");
    EXPECT_EQ(sandbox.run({"release", "x"}).code, 64);
    const auto unasked = sandbox.run({"release", "--force", "x"});
    EXPECT_EQ(unasked.code, 64);
    EXPECT_NE(unasked.err.find("--yes"), std::string::npos);
    EXPECT_TRUE(sandbox.is_held("x"));

    const auto released = sandbox.run({"release", "--force", "--yes", "--json", "x"});
    EXPECT_EQ(released.code, 0);
    EXPECT_EQ(from_json(released.out, "it['released'], it['name']"), "True x");
    EXPECT_EQ(lock_holder->wait().code, 70);
    const auto none = sandbox.run({"release", "--force", "--yes", "x"});
    EXPECT_EQ(none.code, 1);
    EXPECT_EQ(none.out, "No process holds 'x'.\n");
}

TEST(Verbs, ReleaseOfATokenLeavesOtherHolders) {
    const test_sandbox sandbox;
    const auto lock_holder = start_holder(sandbox, "x");
    const auto token =
        from_json(sandbox.run({"status", "x", "--json"}).out, "it['holder']['token']");
    const auto other = sandbox.run({"release", "--force", "--yes", "--json", "--token", "1", "x"});
    EXPECT_EQ(other.code, 1);
    EXPECT_EQ(from_json(other.out, "it['released'], it['held']"), "False True");
    EXPECT_NE(other.err.find("is now held by"), std::string::npos) << other.err;
    EXPECT_TRUE(sandbox.is_held("x"));
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "--token", "none", "x"}).code, 64);
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "--token", token, "x"}).code, 0);
    EXPECT_EQ(lock_holder->wait().code, 70);
}

TEST(Verbs, DoctorExaminesAndAdvises) {
    support::redis_server sick({.config = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}});
    const test_sandbox sandbox(sick.url());
    const auto result = sandbox.run({"doctor", "--json"});
    EXPECT_EQ(result.code, 1) << result.out << result.err;
    EXPECT_EQ(
        from_json(result.out,
                  "any(f['grade'] == 'bad' and 'allkeys-lru' in f['fact'] and f['advice'] for f in "
                  "it['findings'])"),
        "True");
    EXPECT_EQ(from_json(result.out, "all(it['guarantees'].values())"), "True");
    EXPECT_EQ(from_json(result.out, "it['service']"), sick.url() + "/0");
    EXPECT_NE(sandbox.run({"doctor"}).out.find("What to change"), std::string::npos);
    EXPECT_EQ(test_sandbox().run({"doctor"}).code, 0) << "the embedded default is sound";
}

TEST(Verbs, DoctorGroupsTheFindingsByServer) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto result = sandbox.run({"doctor", "--json"});
    const auto address = server.url().substr(std::string("redis://").size());
    EXPECT_EQ(from_json(result.out, "[(n['name'], n['role']) for n in it['nodes']]"),
              "[('" + address + "', 'primary')]");
    const auto node_of = [&](const std::string& topic) {
        return from_json(result.out,
                         "[f['node'] for f in it['findings'] if f['topic'] == '" + topic + "'][0]");
    };
    for (const auto* topic : {"server", "eviction policy", "persistence", "replicas", "latency"})
        EXPECT_EQ(node_of(topic), address) << topic;
    EXPECT_EQ(node_of("user"), "") << "it is the same for all servers";
    const auto shown = sandbox.run({"doctor"}).out;
    const auto heading = shown.find("\n" + address + " (primary)\n");
    ASSERT_NE(heading, std::string::npos) << shown;
    EXPECT_LT(shown.find("transport"), heading);
    EXPECT_GT(shown.find("eviction policy"), heading);
    EXPECT_GT(shown.find("server  "), heading) << shown;
}

// Two services with different locks must be shown differently.
TEST(Verbs, TheServiceIsShownWithEverythingThatDecidesWhichLockANameIs) {
    support::redis_server server;
    const auto shop = server.url("?namespace=shop");
    const test_sandbox sandbox(shop);
    const auto holder = sandbox.start({"run", "job", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("job"));
    const auto shown = server.url() + "/0?namespace=shop";
    EXPECT_NE(sandbox.run({"status", "job"}).out.find("service    " + shown + " (from PAWL_URL)"),
              std::string::npos);
    EXPECT_NE(test_sandbox(server.url()).run({"status", "job"}).out.find(server.url() + "/0 (from"),
              std::string::npos);
    const auto service = [](const outcome& result) {
        return from_json(result.out, "it['service']");
    };
    EXPECT_EQ(service(sandbox.run({"status", "--json", "job"})), shown);
    EXPECT_EQ(service(sandbox.run({"doctor", "--json"})), shown);
    const auto redisson = server.url("?layout=redisson&object=readwrite&key=app:{name}");
    EXPECT_EQ(service(test_sandbox(redisson).run({"status", "--json", "job"})),
              server.url() + "/0?key=app:{name}&layout=redisson&object=readwrite");
    server.kill9();
    EXPECT_NE(sandbox.run({"ls"}).err.find(shown), std::string::npos);
}

TEST(Verbs, DoctorGivesTheSameAdviceOnce) {
    support::cluster_group group({.masters = 3, .replicas = 1});
    const auto report = test_sandbox(group.url()).run({"doctor"}).out;
    const auto begin = report.find("cluster-require-full-coverage (127.0.0.1:");
    ASSERT_NE(begin, std::string::npos) << report;
    const auto line = report.substr(begin, report.find('\n', begin) - begin);
    for (std::size_t node = 0; node < 3; ++node)
        EXPECT_NE(line.find(":" + std::to_string(group.node(node).port())), std::string::npos)
            << line;
    EXPECT_EQ(report.find("cluster-require-full-coverage (", begin + 1), std::string::npos);
    EXPECT_NE(report.find("(replica)\n  not examined: it serves no locks\n"), std::string::npos)
        << report;
}

TEST(Verbs, DoctorJudgesTheWayToTheServerAndTheUser) {
    const auto grade = [](const outcome& result, const std::string& topic) {
        return from_json(result.out,
                         "[(f['grade'], f['fact']) for f in it['findings'] if "
                         "f['topic'] == '" +
                             topic + "']");
    };
    support::redis_server plain;
    const auto of_plain = test_sandbox(plain.url()).run({"doctor", "--json"});
    EXPECT_EQ(grade(of_plain, "transport"), "[('good', 'this host alone')]");
    EXPECT_EQ(grade(of_plain, "user"), "[('warning', 'default, without a password')]");
    EXPECT_NE(grade(of_plain, "latency").find(" µs median"), std::string::npos) << of_plain.out;
    EXPECT_EQ(grade(test_sandbox(plain.unix_url()).run({"doctor", "--json"}), "transport"),
              "[('good', 'a unix socket')]");
    support::redis_server secure(
        {.config = {"requirepass secret"}, .tls = true, .password = "secret"});
    const auto with_tls = [&](const std::string& option) {
        return test_sandbox(secure.url("?password_env=WORD&" + option))
            .run({"doctor", "--json"}, {{"WORD", "secret"}});
    };
    const auto checked = with_tls("ca=" + secure.folder().file("ca.crt"));
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_EQ(grade(checked, "transport"), "[('good', 'TLS, certificate checked')]");
    EXPECT_EQ(grade(checked, "user"), "[('good', 'default, with a password')]");
    EXPECT_EQ(grade(checked, "default user"), "[('good', 'off, or has a password')]");
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

TEST(Verbs, DoctorKnowsHowOftenTheServerWritesToTheDisk) {
    const std::array cases{
        fsync_case{"always", "Redis, AOF always", "good", ""},
        fsync_case{"everysec", "Redis, AOF everysec", "note", "the last second"},
        fsync_case{"no", "Redis, AOF without fsync", "warning", "tens of seconds"}};
    for (const auto& each : cases) {
        support::redis_server server(
            {.config = {"appendonly yes", std::string("appendfsync ") + each.policy}});
        const auto result = test_sandbox(server.url()).run({"doctor", "--json"});
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(from_json(result.out, "it['guarantees']['backend']"), each.row);
        const std::string finding = "[f for f in it['findings'] if f['topic'] == 'persistence'][0]";
        EXPECT_EQ(from_json(result.out, finding + "['grade']"), each.grade);
        const auto advice = from_json(result.out, finding + "['advice']");
        EXPECT_NE(advice.find(each.forgets), std::string::npos) << advice;
    }
}

TEST(Verbs, DoctorReportsAMissingPermission) {
    support::redis_server server(
        {.config = {"appendonly yes", "user default on nopass ~* &* +@all -config"}});
    const auto result = test_sandbox(server.url()).run({"doctor", "--json"});
    EXPECT_EQ(from_json(result.out, "it['guarantees']['backend']"), "Redis, AOF, fsync unknown");
    EXPECT_NE(result.out.find("allow the user CONFIG GET"), std::string::npos) << result.out;
}

TEST(Verbs, DoctorSaysWhatAFailoverDoes) {
    support::redis_server server;
    support::redis_server replica(
        {.config = {"replicaof 127.0.0.1 " + std::to_string(server.port())}});
    const test_sandbox sandbox(server.url());
    const auto failover = [&] {
        return from_json(sandbox.run({"doctor", "--json"}).out, "it['guarantees']['failover']");
    };
    ASSERT_TRUE(support::eventually([&] { return failover().starts_with("can break"); }));
    const auto of_replica = sandbox.run({"doctor", "--on", replica.url(), "--json"});
    EXPECT_EQ(of_replica.code, 1) << "a replica is no place";
    EXPECT_EQ(from_json(of_replica.out, "it['guarantees']['failover']"),
              "can break: this server is the replica");
}

TEST(Verbs, DoctorWarnsOfAPolicyThatOnlyALimitMakesEvict) {
    support::redis_server server({.config = {"maxmemory 0", "maxmemory-policy allkeys-lru"}});
    const auto result = test_sandbox(server.url()).run({"doctor", "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(from_json(result.out,
                        "[f['grade'] for f in it['findings'] if f['topic'] == "
                        "'eviction policy']"),
              "['warning']");
}

// Half of the names belong to another node, which replies MOVED.
TEST(Verbs, DoctorKnowsACluster) {
    support::redis_server server({.config = {"cluster-enabled yes"}});
    (void)server.execute({"CLUSTER", "ADDSLOTSRANGE", "0", "8191"});
    const std::string bad =
        "[f['fact'] for f in it['findings'] if f['grade'] == 'bad' and 'luster' in f['fact']]";
    const auto native = test_sandbox(server.url()).run({"doctor", "--json"});
    EXPECT_EQ(native.code, 1) << native.out << native.err;
    EXPECT_NE(from_json(native.out, bad), "[]") << native.out;
    EXPECT_NE(from_json(native.out, "it['guarantees']['failover']"), "does not apply");
    const auto redisson = test_sandbox(server.url("?layout=redisson")).run({"doctor", "--json"});
    EXPECT_NE(from_json(redisson.out,
                        "[f['advice'] for f in it['findings'] if f['topic'] == "
                        "'cluster']"),
              "[]")
        << redisson.out;
    EXPECT_EQ(from_json(redisson.out, "it['guarantees']['failover']"),
              "can break: a slot and its locks move to another node");
}

// A server that the layout cannot use is examined, too. It has one finding with the grade bad.
TEST(Verbs, DoctorOfAServerThatIsRefused) {
    support::redis_server server({.config = {"rename-command HELLO \"\""}});
    const auto result = test_sandbox(server.url()).run({"doctor", "--json"});
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(from_json(result.out, "[f['grade'] for f in it['findings']]"), "['bad']")
        << result.out;
    EXPECT_NE(from_json(result.out, "it['guarantees']['backend']").find("refused"),
              std::string::npos);
}

TEST(Verbs, BenchMeasures) {
    support::redis_server server;
    for (const std::string& url : {server.url(), std::string()}) {
        const test_sandbox sandbox(url);
        const auto result = sandbox.run({"bench", "--for", "200ms", "--json"});
        ASSERT_EQ(result.code, 0) << result.err;
        for (const char* part : {"uncontended", "hand_off"}) {
            const std::string it = "it['" + std::string(part) + "']";
            EXPECT_EQ(from_json(result.out, it + "['count'] > 0 and " + it +
                                                "['requests'] >= 2 and 0 < " + it +
                                                "['p50_us'] <= " + it + "['p99_us']"),
                      "True")
                << result.out;
        }
        EXPECT_EQ(from_json(result.out, "it['uncontended']['requests']"), "2.0");
        EXPECT_NE(sandbox.run({"bench", "--for", "100ms"}).out.find("hand-off"), std::string::npos);
        EXPECT_EQ(sandbox.run({"ls"}).out, "") << "nothing stays behind";
    }
}

TEST(Verbs, CompletionScriptsAreSound) {
    const test_sandbox sandbox;
    const std::vector<std::pair<std::string, words>> shells{{"bash", {"bash", "-n"}}};
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const auto script = sandbox.run({"completion", shell});
        EXPECT_EQ(script.code, 0);
        EXPECT_NE(script.out.find("pawl"), std::string::npos);
    }
    std::ofstream(sandbox.file("script"))
        << sandbox.run({"completion", "bash"}).out
        << "COMP_WORDS=(pawl run --on-loss t); COMP_CWORD=3; _pawl; echo \"${COMPREPLY[@]}\"\n"
           "COMP_WORDS=(pawl run --sh); COMP_CWORD=2; _pawl; echo \"${COMPREPLY[@]}\"\n"
           "COMP_WORDS=(pawl res); COMP_CWORD=1; _pawl; echo \"${COMPREPLY[@]}\"\n"
           "COMP_WORDS=(pawl st); COMP_CWORD=1; _pawl; echo \"${COMPREPLY[@]}\"\n";
    started_process bash({"bash", sandbox.file("script")}, sandbox.environment());
    EXPECT_EQ(bash.wait().out, "term\n--shared\nresize\nstatus\n");
    EXPECT_EQ(sandbox.run({"completion", "tcsh"}).code, 64);
}

// As .It Fl in the manual, and in the completion of every shell.
TEST(Verbs, EveryOptionIsInTheManual) {
    const test_sandbox sandbox;
    const auto manual = read_file(std::string(PAWL_SOURCE_DIR) + "/cli/man/pawl.1");
    const std::regex option("--([a-z][a-z-]+)");
    for (const char* verb :
         {"run", "elect", "status", "ls", "watch", "release", "resize", "doctor", "bench"}) {
        const auto help = sandbox.run({verb, "--help"}).out;
        std::size_t option_count = 0;
        for (std::sregex_iterator each(help.begin(), help.end(), option), end; each != end;
             ++each) {
            const auto name = (*each)[1].str();
            if (name == "help") continue;
            ++option_count;
            const std::regex item("\n\\.It Fl ([a-z] , Fl )?-" + name + "[ \n]");
            EXPECT_TRUE(std::regex_search(manual, item)) << verb << " --" << name;
            EXPECT_NE(sandbox.run({"completion", "bash"}).out.find("--" + name), std::string::npos);
            EXPECT_NE(sandbox.run({"completion", "zsh"}).out.find("--" + name), std::string::npos);
            EXPECT_NE(sandbox.run({"completion", "fish"}).out.find("-l " + name),
                      std::string::npos);
        }
        EXPECT_GE(option_count, 2U) << help;
    }
}

// As rows of the page's table, and as .It in the manual.
TEST(Verbs, EveryExitStatusIsInThePageAndInTheManual) {
    const std::string root = PAWL_SOURCE_DIR;
    const auto page = read_file(root + "/docs/guide/cli.md");
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

TEST(Verbs, VersionAndHelp) {
    const test_sandbox sandbox;
    EXPECT_EQ(sandbox.run({"run", "--version"}).out, sandbox.run({"--version"}).out);
    EXPECT_EQ(sandbox.run({"help"}).out, sandbox.run({"--help"}).out);
    EXPECT_EQ(sandbox.run({"help", "run"}).out, sandbox.run({"run", "--help"}).out);
    EXPECT_EQ(sandbox.run({"help"}).code, 0);
    EXPECT_EQ(sandbox.run({"--version"}).out.find("pawl "), 0U);
    for (const char* verb : {"run", "elect", "status", "ls", "watch", "release", "resize", "doctor",
                             "bench", "completion"}) {
        const auto help = sandbox.run({verb, "--help"});
        EXPECT_EQ(help.code, 0);
        EXPECT_NE(help.out.find("Usage"), std::string::npos) << verb;
        EXPECT_NE(read_file(std::string(PAWL_SOURCE_DIR) + "/cli/man/pawl.1")
                      .find(".Cm " + std::string(verb)),
                  std::string::npos)
            << verb << " is in the manual";
        for (const char* shell : {"bash", "zsh", "fish"})
            EXPECT_NE(sandbox.run({"completion", shell}).out.find(verb), std::string::npos) << verb;
    }
    const auto help = sandbox.run({"run", "--help"}).out;
    for (const char* option : {"--shared", "--permits", "--fair", "--also"})
        EXPECT_NE(help.find(option), std::string::npos) << option;
}

bool blocks_sigterm(pid_t process) {
    const auto status = read_file("/proc/" + std::to_string(process) + "/status");
    const std::string field = "SigBlk:";
    const auto at = status.find(field);
    return at != std::string::npos &&
           (std::stoull(status.substr(at + field.size()), nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
}

// The first query, and a later one.
TEST(Watch, ASignalEndsItWhileTheServiceIsSilent) {
    support::redis_server server;
    const test_sandbox sandbox(server.url("?reply_timeout=60000&connect_timeout=60000"));
    const auto holder = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    const auto watching = sandbox.start({"watch", "--interval", "50ms"});
    ASSERT_TRUE(
        support::eventually([&] { return watching->out().find("held") != std::string::npos; }));
    server.freeze();
    const auto beginning = sandbox.start({"watch"});
    for (const auto* process : {&watching, &beginning}) {
        ASSERT_TRUE(support::eventually([&] { return blocks_sigterm((*process)->pid()); }));
        (*process)->signal(SIGTERM);
        EXPECT_EQ((*process)->wait().code, 128 + SIGTERM);
    }
    server.thaw();
}

}  // namespace
