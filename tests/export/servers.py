"""The databases that exported SQL is run in: sqlite3 and DuckDB in this process, PostgreSQL as a server of our own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

WAIT = 60  # seconds for the server to start


def program(name):
    """Where a program of PostgreSQL is; Debian keeps them out of the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


@contextmanager
def postgresql():
    """A server on a socket in a new folder; gives the folder, and takes everything away in the end."""
    initdb, pg_ctl = program("initdb"), program("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt install postgresql)")
    # short, for a socket's path has at most 107 bytes; pytest's folders are not open to another user
    folder = Path(tempfile.mkdtemp(prefix="rfsc-pg-"))
    user = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        try:
            account = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        os.chown(folder, account.pw_uid, account.pw_gid)
        user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    data = folder / "data"

    def call(*command):
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=WAIT + 10, **user)

    try:
        made = call(initdb, "-D", str(data), "-U", "rfsc", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        if made.returncode:
            pytest.skip(f"initdb failed: {made.stderr.strip()[-300:]}")
        options = f"-c listen_addresses='' -k {folder} -c fsync=off"
        start = ("-D", str(data), "-l", str(folder / "log"), "-o", options, "-w", "-t", str(WAIT))
        started = call(pg_ctl, *start, "start")
        if started.returncode:
            pytest.skip(f"PostgreSQL does not start: {started.stdout.strip()[-300:]}")
        try:
            yield folder
        finally:
            call(pg_ctl, "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
