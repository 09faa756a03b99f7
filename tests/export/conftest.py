"""The databases, started once for all tests of exports, and Node.js."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest

from rfsc.export import to_javascript

from .servers import postgresql

TYPES = {
    "sqlite": ("REAL", "TEXT", "?"),
    "duckdb": ("DOUBLE", "VARCHAR", "?"),
    "postgresql": ("double precision", "text", "%s"),
}


class Database:
    """A connection with two methods that look the same whatever the database."""

    def __init__(self, dialect, connection):
        self.dialect, self.connection = dialect, connection

    def load(self, rows, columns, table="data"):
        """A new table of these columns (name and "number" or "text") with its row number in front; NaN is NULL."""
        number, text, mark = TYPES[self.dialect]
        name = '"' + table.replace('"', '""') + '"'
        self.connection.execute(f"DROP TABLE IF EXISTS {name}")
        types = [f'"{c.replace(chr(34), chr(34) * 2)}" {number if kind == "number" else text}' for c, kind in columns]
        self.connection.execute(f"CREATE TABLE {name} (row_number INTEGER, {', '.join(types)})")
        cells = [[None if c is None or c != c else c for c in row] for row in rows]
        marks = ", ".join([mark] * (len(columns) + 1))
        cursor = self.connection.cursor()
        into = name.replace("%", "%%") if mark == "%s" else name  # beside its marks psycopg wants them doubled
        cursor.executemany(f"INSERT INTO {into} VALUES ({marks})", [[i, *row] for i, row in enumerate(cells)])

    def ask(self, query):
        """Names of the columns, and the rows by their first column, which is left out."""
        cursor = self.connection.execute(query)
        names = [d[0] for d in cursor.description]
        return names[1:], [row[1:] for row in sorted(cursor.fetchall())]

    def numbers(self, query):
        """The rows as an array, NaN for NULL."""
        return np.array([[np.nan if c is None else c for c in row] for row in self.ask(query)[1]], dtype=np.float64)


@pytest.fixture(scope="session")
def postgresql_server():
    """A server, and the folder of its socket."""
    pytest.importorskip("psycopg")
    with postgresql() as folder:
        yield folder


@pytest.fixture(scope="session")
def databases(request):
    """Connections by dialect, made where they are first asked for."""
    made = {}

    def connect(dialect):
        if dialect not in made:
            if dialect == "sqlite":
                connection = sqlite3.connect(":memory:", isolation_level=None)
            elif dialect == "duckdb":
                connection = pytest.importorskip("duckdb").connect()
                connection.execute("SET threads = 1")
            else:
                folder = request.getfixturevalue("postgresql_server")
                psycopg = pytest.importorskip("psycopg")
                connection = psycopg.connect(host=str(folder), user="rfsc", dbname="postgres", autocommit=True)
                connection.prepare_threshold = None  # tables of one name come and go with other columns
            made[dialect] = Database(dialect, connection)
            request.addfinalizer(connection.close)
        return made[dialect]

    return connect


@pytest.fixture(params=["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.slow)])
def database(request, databases):
    """Each database in turn."""
    return databases(request.param)


RUN = """
import { readFileSync } from "node:fs";
const out = [];
for (const [file, rows] of JSON.parse(readFileSync(0, "utf8"))) {
  const { predict } = await import(file);
  out.push(rows.map((cells) => {
    // by pairs, because the order of cells that a parser gives must not matter
    const row = Object.fromEntries(cells);
    try {
      const found = predict(row);
      return found && [found.label, Object.entries(found.decision), Object.entries(found.probability)];
    } catch (error) { return { error: error.message }; }
  }));
}
process.stdout.write(JSON.stringify(out));
"""


@pytest.fixture
def run_javascript(tmp_path):
    """What generated modules give for rows, all in one process."""

    def run(pairs):
        (tmp_path / "run.mjs").write_text(RUN, encoding="utf-8")
        given = []
        for i, (predictor, names, rows) in enumerate(pairs):
            path = tmp_path / f"model{i}.mjs"
            path.write_text(to_javascript(predictor), encoding="utf-8")
            cells = [[None if cell is None or cell != cell else cell for cell in row] for row in rows]
            given.append([str(path), [list(zip(names, row, strict=True)) for row in cells]])
        line = [shutil.which("node"), str(tmp_path / "run.mjs")]
        done = subprocess.run(line, input=json.dumps(given), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
