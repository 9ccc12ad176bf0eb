# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Private servers with durable settings, and what they have done so far."""
import os
import pwd
import re
import shutil
import subprocess
import time
from pathlib import Path

import server as redis
from server import die_with_parent, free_port

START = 60  # s


def server_user():
    """PostgreSQL and MariaDB refuse to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {each.pw_name for each in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def processor_seconds(pid):
    """Of a process, its children, and all their threads that live."""
    total = 0
    for process in [pid, *children(pid)]:
        for path in Path(f"/proc/{process}/task").glob("*/schedstat"):
            try:
                total += int(path.read_text().split()[0])
            except OSError:  # it has ended meanwhile
                pass
    return total / 1e9


def children(pid):
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


class Database:
    """What PostgreSQL and MariaDB have in common. `data` must be on a disk."""

    def __init__(self, folder):
        self.folder = folder
        self.as_user = server_user()
        if self.as_user:
            os.chown(folder, self.as_user["user"], self.as_user["group"])
        self.log = folder / "log"
        self.install()
        for _ in range(10):  # another program may take the port first
            self.port = free_port()
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(self.command(), stdout=log, stderr=log,
                                                cwd=folder, preexec_fn=die_with_parent,
                                                **self.as_user)
            if self.is_ready():
                return
        raise SystemExit(f"{self.name} does not start; its log ends with:\n"
                         + self.log.read_text(errors="replace")[-2000:])

    def is_ready(self):
        end = time.monotonic() + START
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self.query("select 1")
                return True
            except subprocess.CalledProcessError:
                time.sleep(0.1)
        self.stop()
        return False

    def run(self, *words):
        subprocess.run(words, check=True, cwd=self.folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, **self.as_user)

    def query(self, sql):
        """The first column of the first row, as text."""
        return subprocess.run([*self.client(), sql], check=True, capture_output=True, text=True,
                              cwd="/").stdout.split("\n")[0]

    def number(self, sql):
        return float(self.query(sql) or 0)

    def processor(self):
        return processor_seconds(self.process.pid)

    def stop(self):
        self.process.send_signal(self.stop_signal)
        self.process.wait()


class Postgres(Database):
    name = "PostgreSQL"
    stop_signal = 3  # SIGQUIT: at once, and without leaving shared memory behind
    idle_sessions = 0  # that do not end

    def __init__(self, folder):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"),
                       key=lambda path: int(path.parent.name))
        if not found:
            raise SystemExit("There is no PostgreSQL server; ./dev bench stores installs it.")
        self.programs = found[-1]
        super().__init__(folder)
        # 18 counts flushes with other input and output.
        self.version = self.query("show server_version").split()[0]
        self.flush_query = ("select sum(fsyncs) from pg_stat_io where object = 'wal'"
                            if int(self.version.split(".")[0]) >= 18
                            else "select wal_sync from pg_stat_wal")

    def install(self):
        self.run(self.programs / "initdb", "--pgdata=data", "--username=postgres", "--auth=trust",
                 "--encoding=UTF8", "--locale=C")
        with open(self.folder / "data/postgresql.conf", "a", encoding="utf-8") as file:
            file.write("listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
                       "max_connections = 400\nfsync = on\nsynchronous_commit = on\n"
                       "log_line_prefix = ''\n")

    def command(self):
        return [self.programs / "postgres", "-D", "data", "-c", f"port={self.port}"]

    def client(self):
        return [self.programs / "psql", "-XAtq", "-d", self.place(), "-c"]

    def place(self):
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def url(self):
        return self.place()

    def log_bytes(self):
        return self.number("select pg_current_wal_insert_lsn() - '0/0'")

    def flushes(self):
        """After the end of the sessions, which report their flushes then at the latest."""
        end = time.monotonic() + START
        sessions = "select count(*) from pg_stat_activity where backend_type = 'client backend'"
        while self.number(sessions) > 1 + self.idle_sessions and time.monotonic() < end:
            time.sleep(0.05)
        return self.flushes_now()

    def flushes_now(self):
        return self.number(self.flush_query)

    def begin_to_count_requests(self):
        self.query("alter system set log_statement = 'all'")
        self.query("select pg_reload_conf()")
        time.sleep(0.5)
        self.log_begin = self.log.stat().st_size

    def requests(self):
        """Since begin_to_count_requests(): the statements of clients, by the log."""
        text = self.log.read_bytes()[self.log_begin:].decode(errors="replace")
        self.query("alter system reset log_statement")
        self.query("select pg_reload_conf()")
        return len(re.findall(r"^LOG:  (?:execute|statement)", text, re.MULTILINE))

    def storage(self):
        """(rows, bytes of the rows, bytes on the disk) of the locks."""
        return (self.number("select (select count(*) from pawl.lock) + (select count(*) from "
                            "pawl.holder) + (select count(*) from pawl.waiter)"),
                self.number("select sum(pg_column_size(l)) from pawl.lock l"),
                self.number("select pg_total_relation_size('pawl.lock')"))


class MariaDb(Database):
    name = "MariaDB"
    stop_signal = 9

    def __init__(self, folder):
        super().__init__(folder)
        self.version = self.query("select version()").split("-")[0]
        self.query("create database if not exists bench")

    def install(self):
        if shutil.which("mariadb-install-db") is None:
            raise SystemExit("There is no MariaDB server; ./dev bench stores installs it.")
        self.run("mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data",
                 "--auth-root-authentication-method=normal", "--skip-test-db")

    def command(self):
        program = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
        return [program, "--no-defaults", f"--datadir={self.folder}/data", f"--port={self.port}",
                "--bind-address=127.0.0.1", f"--socket={self.folder}/socket",
                f"--pid-file={self.folder}/pid", f"--tmpdir={self.folder}", "--skip-name-resolve",
                "--innodb-flush-log-at-trx-commit=1"]

    def client(self):
        return ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{self.port}", "-uroot", "-N", "-e"]

    def place(self):
        return str(self.port)

    def url(self):
        return f"mariadb://root@127.0.0.1:{self.port}/pawl"

    def status(self, name):
        return float(self.query(f"show global status like '{name}'").split("\t")[1])

    def log_bytes(self):
        return self.status("Innodb_lsn_current")

    def flushes(self):
        return self.flushes_now()

    def flushes_now(self):
        """Those of the data files are among them, but come rarely."""
        return self.status("Innodb_data_fsyncs")

    def begin_to_count_requests(self):
        self.questions = self.status("Questions")

    def requests(self):
        """Since begin_to_count_requests(): the statements of clients, without these two."""
        before, now = self.status("Questions"), self.status("Questions")
        return before - self.questions - (now - before)

    def storage(self):
        self.query("analyze table pawl.lock")
        tables = "from information_schema.tables where table_schema = 'pawl' and table_name"
        return (self.number("select (select count(*) from pawl.lock) + (select count(*) from "
                            "pawl.holder) + (select count(*) from pawl.waiter)"),
                self.number(f"select avg_row_length * table_rows {tables} = 'lock'"),
                self.number(f"select data_length + index_length {tables} = 'lock'"))


class Redis(redis.Server):
    """Without persistence, as in the other comparisons."""
    name = "Redis"

    def __init__(self, folder):
        super().__init__(folder)
        self.version = self.info("server", "redis_version")

    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def processor(self):
        return processor_seconds(self.process.pid)

    def log_bytes(self):
        return 0.0

    def flushes(self):
        return 0.0

    def flushes_now(self):
        return 0.0

    def begin_to_count_requests(self):
        self.monitor = redis.Monitor(self)

    def requests(self):
        sent, _ = self.monitor.counts()
        return sum(sent.values())

    def storage(self):
        memory = float(self.info("memory", "used_memory"))
        return float(self.connection.call("DBSIZE")), memory, memory
