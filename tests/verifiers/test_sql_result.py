"""`sql_result`: the same rows, other rows, what a query may not do, and what no gold may be."""

import json
import re
import sqlite3
from collections import Counter
from random import Random

import pytest

from reward_functions import get, sample, score_batch, weighted
from reward_functions.cdk.artifact import closure
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.types import Scored
from reward_functions.data.linting import lint
from reward_functions.verifiers._sql import database
from reward_functions.verifiers._sql.database import SqlDatabase, SqlRefused
from reward_functions.verifiers._sql.gold import SHIPPED

REWARD = get("sql_result")

SHOP = "shop.sql"


def gold(sql, **more):
    return {"sql": sql, "database": SHOP, **more}


def rule(response, reference, **parameters):
    """The rule that decides."""
    score = REWARD(response, reference, **parameters)
    assert (score.value == 1.0) == (score.evidence.rule == "same-rows")
    return score.evidence.rule


NAMES = "SELECT name FROM customers WHERE city = 'Lyon'"
DEAR = "SELECT item, price FROM orders ORDER BY price DESC"
TOTALS = "SELECT customer_id, sum(price * quantity) FROM orders GROUP BY customer_id"

SAME = [
    # Another query, the same rows.
    (NAMES, NAMES),
    ("select NAME from CUSTOMERS where CITY like 'lyon' order by 1 desc", NAMES),
    (f"{NAMES};", NAMES),
    (f"-- those of Lyon\n{NAMES} -- that is it", NAMES),
    ("WITH c AS (SELECT * FROM customers) SELECT name FROM c WHERE city = 'Lyon'", NAMES),
    ("SELECT x.name FROM (SELECT name, city FROM customers) x WHERE x.city IN ('Lyon')", NAMES),
    ("SELECT c.name AS who FROM customers c WHERE EXISTS (SELECT 1 WHERE c.city = 'Lyon')", NAMES),
    # Numbers: doubles within their rounding, a whole number as a double.
    ("SELECT customer_id, total(quantity * price) FROM orders GROUP BY 1 ORDER BY 2", TOTALS),
    (
        "SELECT 2.0 FROM customers WHERE id = 1",
        "SELECT count(*) FROM customers WHERE city = 'Lyon'",
    ),
    ("SELECT 0.1 + 0.2 FROM customers LIMIT 1", "SELECT 0.3 FROM customers WHERE id = 1"),
    # NULL is NULL, and rows are counted.
    ("SELECT city FROM customers ORDER BY id", "SELECT city FROM customers"),
    # The order of the gold: ties have no order.
    ("SELECT item, price FROM orders ORDER BY price DESC, id", DEAR),
    ("SELECT item, price FROM orders ORDER BY price DESC, id DESC", DEAR),
    (
        "SELECT name FROM customers ORDER BY length(name), id DESC",
        "SELECT name FROM customers ORDER BY length(name)",
    ),
    (
        "SELECT name FROM customers ORDER BY city, id DESC",
        "SELECT name FROM customers c ORDER BY c.city",
    ),
    # LIMIT: any of the rows that tie where it cuts.
    (f"{DEAR} LIMIT 1", f"{DEAR} LIMIT 1"),
    (
        "SELECT day FROM orders WHERE item = 'vase'",
        "SELECT day FROM orders ORDER BY day DESC LIMIT 1",
    ),
    (
        "SELECT name FROM customers WHERE id = 5",
        "SELECT name FROM customers ORDER BY length(name) LIMIT 1",
    ),
    ("SELECT name FROM customers WHERE id = 4", "SELECT name FROM customers LIMIT 1"),
    (
        "SELECT item FROM orders WHERE id = 2",
        "SELECT item FROM orders ORDER BY price DESC LIMIT 1, 1",
    ),
    (
        "SELECT item FROM orders WHERE id = 5",
        "SELECT item FROM orders ORDER BY price DESC LIMIT 1 OFFSET 1",
    ),
    # What a query is ordered by: aliases, ordinals, aggregates, expressions, the columns of others.
    (
        "SELECT city, count(*) FROM customers WHERE city <> '' GROUP BY city ORDER BY city DESC",
        "SELECT city, count(*) AS n FROM customers WHERE city IS NOT NULL GROUP BY city ORDER BY n",
    ),
    (
        "SELECT city FROM customers WHERE city IS NOT NULL GROUP BY 1 ORDER BY 1 DESC",
        "SELECT city FROM customers WHERE city IS NOT NULL GROUP BY city ORDER BY count(*) DESC",
    ),
    (
        "SELECT item, max(price) FROM orders GROUP BY 1 ORDER BY 2 DESC",
        "SELECT item, max(price) AS dear FROM orders GROUP BY item ORDER BY 2 DESC, -dear",
    ),
    (
        "SELECT DISTINCT item FROM orders ORDER BY item = 'vase'",
        "SELECT DISTINCT item FROM orders ORDER BY price < 10",
    ),
    (
        "SELECT name FROM customers WHERE id IN (2, 1) ORDER BY name",
        f"{NAMES} AND id < 3 UNION SELECT name FROM customers WHERE id = 2 ORDER BY 1",
    ),
    # Where the query stands.
    (f"```sql\n{NAMES}\n```", NAMES),
    (f"First:\n```sql\nSELECT 1\n```\nno, better:\n```SQLite\n{NAMES};\n```\nThat is it.", NAMES),
    (f"```sql\n{NAMES}\n```\nIt prints\n```\nAda\nCleo\n```", NAMES),
    (f"~~~\n{NAMES}\n~~~", NAMES),
    (f"```\n```sql\n{NAMES}\n```\n```", NAMES),
    (f"<think>\n```sql\nSELECT 1\n```</think>{NAMES}", NAMES),
    ("SELECT name FROM customers WHERE name = 'Ada' or name = 'Cleo'", NAMES),
]


@pytest.mark.parametrize(("response", "sql"), SAME)
def test_the_rows_of_the_gold_are_paid_in_full(response, sql):
    assert rule(response, gold(sql)) == "same-rows"
    assert rule(f"```sql\n{sql}\n```", gold(sql)) == "same-rows"


OTHER = [
    ("SELECT name FROM customers", NAMES, "other-rows"),
    (f"{NAMES} LIMIT 1", NAMES, "other-rows"),
    (f"{NAMES} UNION ALL {NAMES}", NAMES, "other-rows"),
    ("SELECT lower(name) FROM customers WHERE city = 'Lyon'", NAMES, "other-rows"),
    ("SELECT name, city FROM customers WHERE city = 'Lyon'", NAMES, "columns"),
    ("SELECT * FROM customers WHERE city = 'Lyon'", NAMES, "columns"),
    ("SELECT name FROM customers WHERE city = 'Paris'", NAMES, "other-rows"),
    # Duplicates are counted: BIRD's own comparison, of sets, takes these for equal.
    ("SELECT DISTINCT city FROM customers", "SELECT city FROM customers", "other-rows"),
    ("SELECT item FROM orders", "SELECT DISTINCT item FROM orders", "other-rows"),
    # The order of the gold.
    ("SELECT item, price FROM orders ORDER BY price", DEAR, "other-rows"),
    ("SELECT item, price FROM orders", DEAR, "other-rows"),
    ("SELECT item, price FROM orders ORDER BY price DESC LIMIT 5", DEAR, "other-rows"),
    (
        "SELECT item FROM orders WHERE id = 3",
        "SELECT item FROM orders ORDER BY price DESC LIMIT 1",
        "other-rows",
    ),
    (
        "SELECT item FROM orders WHERE id = 4",
        "SELECT item FROM orders ORDER BY price DESC LIMIT 1, 1",
        "other-rows",
    ),
    (
        "SELECT name FROM customers WHERE id = 3",
        "SELECT name FROM customers ORDER BY length(name) LIMIT 1",
        "other-rows",
    ),
    # Texts and numbers are of a kind; whole numbers are exact.
    (
        "SELECT '2' FROM customers LIMIT 1",
        "SELECT count(*) FROM customers WHERE city = 'Lyon'",
        "other-rows",
    ),
    (
        "SELECT 9007199254740992 FROM orders LIMIT 1",
        "SELECT 9007199254740993 FROM orders LIMIT 1",
        "other-rows",
    ),
    ("SELECT 1.00000000001 FROM orders LIMIT 1", "SELECT 1.0 FROM orders LIMIT 1", "other-rows"),
    (
        "SELECT ifnull(city, '') FROM customers WHERE id > 3",
        "SELECT city FROM customers WHERE id > 3",
        "other-rows",
    ),
    (
        "SELECT x'4c796f6e' FROM customers LIMIT 2",
        "SELECT 'Lyon' FROM customers LIMIT 2",
        "other-rows",
    ),
    # Constants: what reads no table of the gold's earns nothing, under any name.
    ("SELECT 2", "SELECT count(*) FROM customers WHERE city = 'Lyon'", "no-table"),
    ("VALUES (2)", "SELECT count(*) FROM customers WHERE city = 'Lyon'", "no-table"),
    (
        "SELECT 2 FROM orders LIMIT 1",
        "SELECT count(*) FROM customers WHERE city = 'Lyon'",
        "no-table",
    ),
    (
        "WITH customers AS (SELECT 2 AS n) SELECT count(*) + 1 FROM customers",
        "SELECT count(*) FROM customers WHERE city = 'Lyon'",
        "no-table",
    ),
    # No query.
    ("", NAMES, "no-query"),
    (" \n\t", NAMES, "no-query"),
    ("```sql\n```", NAMES, "no-query"),
    ("```sql\n\n```", NAMES, "no-query"),
    ("<think>SELECT name FROM customers WHERE city = 'Lyon'</think>", NAMES, "no-query"),
    (f"{NAMES} {'-' * 20_000}", NAMES, "no-query"),
    ("Ada, Cleo", NAMES, "sql-error"),
    (f"The query is {NAMES}", NAMES, "sql-error"),
    (f"```sql\n{NAMES}", NAMES, "sql-error"),
    ("SELECT nam FROM customers", NAMES, "sql-error"),
    ("SELECT name FROM customer", NAMES, "sql-error"),
    ("SELECT name FROM customers WHERE city = ?", NAMES, "sql-error"),
    ("SELECT abs(-9223372036854775808) FROM customers", NAMES, "sql-error"),
]


@pytest.mark.parametrize(("response", "sql", "decided"), OTHER)
def test_other_rows_earn_nothing_and_the_rule_says_why(response, sql, decided):
    assert rule(response, gold(sql)) == decided


def test_what_is_cut_off_is_named():
    score = REWARD(f"```sql\n{NAMES}", gold(NAMES))
    assert (score.value, score.metrics[1].value) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("SELECT price, item FROM orders ORDER BY price DESC", 1.0),
        ("SELECT price AS item, item AS price FROM orders ORDER BY 1 DESC", 0.0),
        ("SELECT price AS dear, item FROM orders ORDER BY 1 DESC", 0.0),
    ],
)
def test_columns_are_paired_by_name_where_that_is_asked_for(response, value):
    assert REWARD(response, gold(DEAR), columns="by_name").value == value
    assert REWARD(response, gold(DEAR)).value == 0.0 or "item AS price" not in response


def test_the_reference_or_the_parameter_may_say_that_order_counts_or_not():
    other = "SELECT name FROM customers ORDER BY id DESC"
    assert rule(other, gold("SELECT name FROM customers")) == "same-rows"
    assert rule(other, gold("SELECT name FROM customers", ordered=True)) == "other-rows"
    assert rule(other, gold("SELECT name FROM customers ORDER BY id")) == "other-rows"
    assert rule(other, gold("SELECT name FROM customers ORDER BY id", ordered=False)) == "same-rows"
    assert rule(other, gold("SELECT name FROM customers ORDER BY id"), order="any") == "same-rows"


LISTED = {"rows": [["lamp", 2], ["vase", None]], "tables": ["orders"], "database": SHOP}
LISTS = "SELECT item, CASE item WHEN 'lamp' THEN 2 END FROM orders WHERE id IN (1, 6) ORDER BY "


def test_rows_are_a_multiset_unless_they_are_ordered():
    for ordered in (None, False, True):
        reference = LISTED | {"ordered": ordered}
        assert rule(f"{LISTS} id", reference) == "same-rows"
        assert (rule(f"{LISTS} id DESC", reference) == "same-rows") is not ordered
        assert rule("VALUES ('lamp', 2), ('vase', NULL)", reference) == "no-table"
        right = REWARD.gold_response(sample("", reference))
        assert rule(right, reference) == "same-rows"


BAD = [
    (None, "no object"),
    ("SELECT 1", "no object"),
    ([], "no object"),
    ({"database": SHOP}, "neither"),
    (gold(""), "neither"),
    (gold(5), "neither"),
    (gold("SELECT name FROM customers -- " + "x" * 20_000), "neither"),
    ({"sql": NAMES}, "database: "),
    ({"sql": NAMES, "database": "other.sqlite"}, "database: "),
    ({"sql": NAMES, "database": 5}, "database: "),
    ({"sql": NAMES, "database": "../_sql/shop.sql/../../exact_match"}, "database: "),
    ({"sql": NAMES, "database": "/etc/passwd"}, "database: "),
    ({"sql": NAMES, "database": "gold.py"}, "database: "),
    ({"sql": NAMES, "database": "shop\0.sql"}, "database: "),
    ({"sql": NAMES, "database": []}, "database: "),
    ({"sql": NAMES, "database": [SHOP] * 257}, "database: 1 to 256"),
    ({"sql": NAMES, "database": "x" * 5_000}, "database: "),
    ({"sql": NAMES, "database": "\ud800.sql"}, "database: "),
    (gold("SELECT name FROM customers -- \ud800"), "SQLite has an error"),
    (gold(NAMES, ordered="yes"), "ordered: "),
    # A gold that cannot be run, or that any wrong query equals.
    (gold("SELECT name FROM people"), "no such table"),
    (gold("SELECT who FROM customers"), "no such column"),
    (gold("SELEC name"), "SQLite has an error"),
    (gold("SELECT 42"), "reads no table"),
    (gold("SELECT name FROM customers WHERE city = 'Paris'"), "no row"),
    (gold("SELECT max(price) FROM orders WHERE item = 'sofa'"), "nulls alone"),
    (gold("SELECT printf('%s', name) FROM customers"), "printf"),
    (gold("SELECT name FROM customers WHERE date('now') > '2020'"), "what time it is"),
    (gold("SELECT random() FROM customers"), "random"),
    (gold("DELETE FROM customers"), "no SELECT"),
    (gold(f"{NAMES} LIMIT 1 + 1"), "ordered"),
    (gold("SELECT DISTINCT city FROM customers ORDER BY id"), "ordered"),
    (gold("SELECT name, length(city) AS n FROM customers ORDER BY n + id"), "ordered"),
    # Rows that are none.
    ({"rows": [], "tables": ["orders"], "database": SHOP}, "SQLite has an error"),
    ({"rows": [[]], "tables": ["orders"], "database": SHOP}, "SQLite has an error"),
    ({"rows": [[1], [1, 2]], "tables": ["orders"], "database": SHOP}, "SQLite has an error"),
    ({"rows": "x", "tables": ["orders"], "database": SHOP}, "neither"),
    ({"rows": [1], "tables": ["orders"], "database": SHOP}, "rows: "),
    ({"rows": [[{}]], "tables": ["orders"], "database": SHOP}, "rows: "),
    ({"rows": [[1]], "database": SHOP}, "neither"),
    ({"rows": [[10**5_000]], "tables": ["orders"], "database": SHOP}, "rows: "),
    ({"rows": [[float("nan")]], "tables": ["orders"], "database": SHOP}, "rows: "),
    ({"rows": [[1]], "tables": ["people"], "database": SHOP}, "no such table"),
    ({"rows": [["a\0b"]], "tables": ["orders"], "database": SHOP}, "SQLite has an error"),
]


@pytest.mark.parametrize(("reference", "why"), BAD)
def test_a_reference_that_cannot_be_used_is_the_data_sets_failure(reference, why):
    """With any response."""
    for response in ("", NAMES, "x" * 100_000):
        with pytest.raises(BadReference, match=re.escape(why)):
            REWARD(response, reference)


def test_a_gold_of_too_many_rows_or_steps_or_bytes_is_not_used():
    many = gold("SELECT a.id FROM orders a, orders b")
    assert rule(many["sql"], many) == "same-rows"
    for setting in ({"rows": 35}, {"steps": 1_000, "longest": 100}):
        reference = (
            many
            if "rows" in setting
            else gold("SELECT count(*) FROM orders a, orders b, orders c, orders d, orders e")
        )
        with pytest.raises(BadReference):
            REWARD("SELECT 1", reference, **setting)
    with pytest.raises(BadReference, match="too long a value"):
        REWARD("SELECT 1", gold(f"SELECT '{'x' * 101}' FROM orders"), longest=100)


SETTINGS = [
    {"databases": "/no/such/folder"},
    {"steps": 999},
    {"rows": 0},
    {"longest": 99},
    {"order": "none"},
    {"columns": "by_luck"},
]


@pytest.mark.parametrize("parameters", SETTINGS)
def test_settings_that_cannot_be_used_are_refused(parameters):
    with pytest.raises(ConfigurationError):
        REWARD.bind(parameters)


@pytest.fixture
def folder(tmp_path):
    """Databases of two kinds, one of them in a folder of its own, and another file beside."""
    inside = tmp_path / "databases"
    for name in ("zoo", "zoo2"):
        (inside / name).mkdir(parents=True)
        with sqlite3.connect(inside / name / f"{name}.sqlite") as made:
            made.execute("CREATE TABLE animals (name TEXT, legs INTEGER)")
            made.executemany(
                "INSERT INTO animals VALUES (?, ?)",
                [("otter", 4), ("heron", 2), ("spider", 8)] + [("gecko", 4)] * (name == "zoo2"),
            )
        made.close()
    (inside / "farm.sql").write_text("CREATE TABLE cows (name); INSERT INTO cows VALUES ('Bo');")
    (inside / "broken.sqlite").write_text("no database at all, but a text that is long enough")
    (inside / "broken.sql").write_text("CREATE TABEL cows (name);")
    with sqlite3.connect(tmp_path / "secret.sqlite") as secret:
        secret.execute("CREATE TABLE secrets (word)")
        secret.execute("INSERT INTO secrets VALUES ('heron')")
    secret.close()
    return inside


FOUR = "SELECT name FROM animals WHERE legs = 4"


@pytest.mark.parametrize("name", ["zoo", "zoo/zoo.sqlite", "zoo/zoo"])
def test_a_database_is_found_by_its_name_in_the_folder(folder, name):
    reference = {"sql": FOUR, "database": name}
    assert rule(FOUR, reference, databases=str(folder)) == "same-rows"
    one = str(folder / "zoo" / "zoo.sqlite")
    assert rule(FOUR, {"sql": FOUR}, databases=one) == "same-rows"
    assert rule(FOUR, {"sql": FOUR, "database": "zoo"}, databases=one) == "same-rows"
    with pytest.raises(BadReference):
        REWARD(FOUR, {"sql": FOUR, "database": "zoo2"}, databases=one)


@pytest.mark.parametrize(
    "name", ["broken.sqlite", "broken", "broken.sql", "../secret.sqlite", "cat"]
)
def test_what_is_no_database_of_the_folder_is_the_data_sets_failure(folder, name):
    with pytest.raises(BadReference, match="database: "):
        REWARD(FOUR, {"sql": "SELECT word FROM secrets", "database": name}, databases=str(folder))


def test_a_link_that_leads_out_of_the_folder_is_not_followed(folder):
    (folder / "link.sqlite").symlink_to(folder.parent / "secret.sqlite")
    with pytest.raises(BadReference, match="database: "):
        REWARD(FOUR, {"sql": "SELECT word FROM secrets", "database": "link"}, databases=str(folder))


def test_a_second_database_tells_apart_what_is_equal_on_the_first(folder):
    constant = "SELECT 'otter' FROM animals LIMIT 1"
    both = {"sql": FOUR, "database": ["zoo", "zoo2"]}
    assert rule(constant, both | {"database": "zoo"}, databases=str(folder)) == "same-rows"
    assert rule(constant, both, databases=str(folder)) == "other-rows"
    assert rule(FOUR, both, databases=str(folder)) == "same-rows"


def test_a_gold_without_rows_needs_a_database_where_it_has_some(folder):
    sql = "SELECT name FROM animals WHERE name = 'gecko'"
    both = {"sql": sql, "database": ["zoo", "zoo2"]}
    for reference, empty in ((both, False), (both | {"database": "zoo"}, True)):
        with pytest.raises(BadReference, match="no row"):
            REWARD(sql, reference, databases=str(folder), empty=empty)
    assert rule(sql, both, databases=str(folder), empty=True) == "same-rows"
    nothing = "SELECT name FROM animals WHERE 1 = 0"
    assert rule(nothing, both, databases=str(folder), empty=True) == "other-rows"


ATTACKS = [
    # Other files: none is opened, made or read.
    "ATTACH '{secret}' AS s",
    "ATTACH '{new}' AS s",
    "SELECT word FROM '{secret}'.secrets",
    "ATTACH '{secret}' AS s; SELECT word FROM s.secrets",
    "DETACH main",
    "VACUUM INTO '{new}'",
    "VACUUM main INTO '{new}'",
    "VACUUM",
    "SELECT readfile('{secret}') FROM animals",
    "SELECT writefile('{new}', name) FROM animals",
    "SELECT edit(name, 'touch {new}') FROM animals",
    "SELECT load_extension('{new}') FROM animals",
    "SELECT fts3_tokenizer('simple') FROM animals",
    "CREATE VIRTUAL TABLE f USING csv(filename='{secret}')",
    ".open {new}",
    ".read {secret}",
    # Settings and the schema.
    "PRAGMA writable_schema = ON",
    "PRAGMA query_only = OFF",
    "PRAGMA temp_store_directory = '{new}'",
    "SELECT * FROM pragma_database_list",
    "SELECT name FROM pragma_table_info('animals')",
    "SELECT sql FROM sqlite_master",
    "SELECT count(*) FROM sqlite_schema",
    "SELECT 1 FROM sqlite_temp_master",
    "SELECT sqlite_version() FROM animals",
    # Writing.
    "INSERT INTO animals VALUES ('cat', 4)",
    "UPDATE animals SET legs = 4",
    "DELETE FROM animals",
    "DROP TABLE animals",
    "ALTER TABLE animals RENAME TO beasts",
    "CREATE TABLE t AS SELECT * FROM animals",
    "CREATE TEMP TABLE t AS SELECT name FROM animals",
    "CREATE TEMP VIEW v AS SELECT name FROM animals",
    "WITH c AS (SELECT name FROM animals) INSERT INTO animals SELECT name, 4 FROM c",
    "REPLACE INTO animals VALUES ('cat', 4)",
    "BEGIN EXCLUSIVE",
    "SAVEPOINT s",
    "ANALYZE",
    "REINDEX",
    # More than one statement, and what is no statement.
    f"{FOUR}; {FOUR}",
    f"{FOUR}; DROP TABLE animals",
    f"{FOUR}\0; DROP TABLE animals",
    f"EXPLAIN {FOUR}",
    f"EXPLAIN QUERY PLAN {FOUR}",
    f"QUERY PLAN {FOUR}",
    f"/* {FOUR} */",
    f"-- {FOUR}",
    f"{FOUR} /* \0 */",
    "SELECT name FROM animals WHERE legs = 4 UNION SELECT \ud800",
    # Too much: of text, memory, steps, chance.
    "SELECT printf('%.*c', 900000000, 'x') FROM animals",
    "SELECT format('%900000000s', 'x') FROM animals",
    "SELECT randomblob(1000000000) FROM animals",
    "SELECT zeroblob(1000000000) FROM animals",
    "SELECT hex(zeroblob(1000000000)) FROM animals",
    "SELECT quote(name) FROM animals",
    "SELECT random() FROM animals",
    "SELECT value FROM json_each('[1]'), animals",
    "SELECT value FROM generate_series(1, 1000000000)",
    "SELECT name FROM animals WHERE legs = 4 AND date('now') > '2000'",
    "SELECT name FROM animals WHERE legs = 4 AND datetime() > '2000'",
    "SELECT name FROM animals WHERE legs = 4 AND strftime('%Y') > '2000'",
    "SELECT name FROM animals WHERE legs = 4 AND date('2001-01-01', 'LocalTime') > '2000'",
    "SELECT name FROM animals WHERE legs = 4 AND date(x'6e6f77') > '2000'",
    "SELECT name FROM animals WHERE legs = 4 AND date(CAST(x'4e6f770078' AS TEXT)) > '2000'",
    "SELECT name FROM animals WHERE legs = 4 AND date('no' || 'w') > '2000'",
    "SELECT name FROM animals WHERE legs = 4 AND CURRENT_DATE > '2000'",
    "SELECT name FROM animals WHERE name REGEXP '(a+)+$'",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c, animals",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT n + 1 FROM c) SELECT max(n) FROM c, animals",
    "SELECT count(*) FROM " + ", ".join(f"animals a{at}" for at in range(40)),
    "SELECT sum(a0.legs) FROM " + ", ".join(f"animals a{at}" for at in range(16)),
    "WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM c) SELECT s FROM c, animals",
    f"SELECT 1 FROM {', '.join(f'animals a{at}' for at in range(16))} ORDER BY '{'x' * 9_000}'",
    "WITH a0 AS (SELECT legs FROM animals)"
    + "".join(f", a{at + 1} AS (SELECT x.legs FROM a{at} x, a{at} y)" for at in range(30))
    + " SELECT count(*) FROM a30",
    "SELECT " + "(" * 5_000 + "legs" + ")" * 5_000 + " FROM animals",
    "SELECT legs " + "+ legs " * 2_500 + "FROM animals",
    "SELECT name FROM animals WHERE " + " OR ".join(["legs = 4"] * 1_400),
    " UNION ALL ".join([FOUR] * 480),
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_earns_nothing_leaves_no_file_and_reads_no_other(folder, attack):
    new = folder.parent / "new"
    before = {path: path.stat() for path in folder.parent.rglob("*")}
    secret = folder.parent / "secret.sqlite"
    text = attack.replace("{secret}", str(secret)).replace("{new}", str(new))
    reference = {"sql": FOUR, "database": "zoo"}
    score = REWARD(f"```sql\n{text}\n```", reference, databases=str(folder), steps=1_000_000)
    assert score.value == 0.0
    after = {path: path.stat() for path in folder.parent.rglob("*")}
    unchanged = ("st_size", "st_mtime_ns")
    assert before.keys() == after.keys()
    assert all(
        getattr(before[path], each) == getattr(after[path], each)
        for path in before
        for each in unchanged
    )
    assert rule(FOUR, reference, databases=str(folder)) == "same-rows"


LONG = (
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000) "
    "SELECT count(*) FROM notes, c WHERE "
)

COSTLY = [
    # A search is one step, and takes one text times the other.
    f"s LIKE '%{'x' * 130}y' || n",
    f"s LIKE '%{'x' * 130}y' || n ESCAPE '!'",
    f"s GLOB '*{'x' * 130}y' || n",
    "instr(s, substr(s, 1, 9000) || n)",
    "replace(s, substr(s, 1, 9000) || n, 'y') = ''",
    "trim(s, substr(s, 1, 1500) || n) = ''",
    "ltrim(s, substr(s, 1, 1500) || n) = ''",
    "rtrim(s, substr(s, 1, 1500) || n) = ''",
]


@pytest.mark.parametrize("query", COSTLY)
def test_searches_are_counted_by_their_texts(tmp_path, query, monkeypatch):
    monkeypatch.setattr(database, "SEARCHED", 5_000_000)
    long = f"CREATE TABLE notes (s); INSERT INTO notes VALUES ('{'x' * 15_000}');"
    (tmp_path / "long.sql").write_text(long)
    reference = {"sql": "SELECT length(s) FROM notes"}
    assert rule(LONG + query, reference, databases=str(tmp_path / "long.sql")) == "too-much"


def test_values_are_as_long_as_the_database_or_the_gold_needs():
    """A step takes as long as the value that it makes."""
    wide = "replace('{0}', 'x', '{0}')".format("x" * 130)
    long = f"SELECT length({wide}) FROM customers"
    assert rule(long, gold(long)) == "same-rows"
    assert rule(long, gold("SELECT 16900 FROM customers")) == "too-much"
    named = "SELECT group_concat(a.name || b.city) FROM customers a, customers b"
    assert rule(named, gold(named)) == "same-rows"


def test_the_same_query_is_stopped_at_the_same_step():
    made = SqlDatabase(SHIPPED / SHOP)
    taken = {made.run(DEAR, steps=1_000_000, most=10, longest=1_000).steps for _ in range(20)}
    assert len(taken) == 1
    many = "SELECT count(*) FROM orders a, orders b, orders c, orders d"
    steps = made.run(many, steps=1_000_000, most=10, longest=1_000).steps
    for allowed in (steps, steps - 1_000):
        found = [stopped(made, many, allowed) for _ in range(5)]
        assert found == [allowed < steps] * 5


def test_a_call_through_python_takes_more_than_a_step():
    """Millions of them took twelve seconds within the steps of a query."""
    made = SqlDatabase(SHIPPED / SHOP)
    taken = {}
    for test in ("instr(a.item, b.item)", "a.item > b.item"):
        query = f"SELECT sum({test}) FROM orders a, orders b, orders c, orders d, orders e"
        taken[test] = made.run(query, steps=1_000_000, most=10, longest=1_000).steps
    calls, compared = taken.values()
    assert calls > compared + 7 * 6**5


def stopped(made, query, steps):
    try:
        made.run(query, steps=steps, most=10, longest=1_000)
    except SqlRefused as error:
        return "steps" in str(error)
    return False


ORDERS = [
    # Terms, and whether SQLite reads them as columns of the result or of a table.
    *("name", "id", "city", "1", "2", "n", "name DESC", "2 DESC, 1", "n, city DESC", "-n"),
    *("c.name", "lower(name), id", "city COLLATE NOCASE", "city IS NULL, name", "n * 2 + 1"),
    *(
        "city NULLS LAST",
        "CASE name WHEN 'Dan' THEN 0 ELSE 1 END",
        "length(name)",
        '"city"',
    ),
]


@pytest.mark.parametrize("terms", ORDERS)
def test_the_ties_of_a_query_are_those_that_its_terms_do_not_tell_apart(terms):
    """What SQLite itself returns, in as many orders as it can be made to, is right."""
    sql = f"SELECT name, length(city) AS n FROM customers c ORDER BY {terms}"
    for more in ("", ", id", ", id DESC", ", name, id", ", random()"):
        rows = shop().execute(f"{sql}{more}").fetchall()
        wanted = "VALUES " + ", ".join(str(row).replace("None", "NULL") for row in rows)
        response = f"SELECT * FROM ({wanted}) WHERE EXISTS (SELECT 1 FROM customers)"
        assert rule(response, gold(sql)) == "same-rows", more


def shop():
    made = sqlite3.connect(":memory:")
    made.executescript((SHIPPED / SHOP).read_text())
    return made


TERMS = ("item", "price", "quantity", "day", "length(item)", "price * quantity", "customer_id % 2")
WHERES = ("1", "price > 20", "quantity = 1", "item <> 'lamp'", "day >= '2024-02-01'", "id < 5")


def drawn(random):
    """A query in parts: columns, a condition, terms with their ways, an offset and a limit."""
    order = [
        (term, random.choice(("", " DESC"))) for term in random.sample(TERMS, random.randint(0, 2))
    ]
    return {
        "columns": random.sample(TERMS, random.randint(1, 2)),
        "distinct": random.random() < 0.2,
        "where": random.choice(WHERES),
        "order": order,
        "limit": random.choice((None, None, 1, 2, 3)),
        "offset": random.choice((0, 0, 1)),
    }


def mutated(random, parts):
    """The same, or with another part; and a last term that decides ties anyhow."""
    other = drawn(random)
    names = random.sample(sorted(parts), random.randint(0, 2))
    changed = parts | {name: other[name] for name in names if name != "columns"}
    if random.random() < 0.5:
        changed["order"] = [*changed["order"], (random.choice(("id", "-id", "item")), "")]
    return changed


def written(parts, more=""):
    order = ", ".join(term + way for term, way in parts["order"])
    return (
        f"SELECT {'DISTINCT ' * parts['distinct']}{', '.join(parts['columns'])}{more} FROM orders "
        f"WHERE {parts['where']}"
        + (f" ORDER BY {order}" if order else "")
        + (f" LIMIT {parts['limit']} OFFSET {parts['offset']}" if parts["limit"] else "")
    )


def runs_of(made, parts):
    """The rows of a query and their keys, by Python: [(rows that tie, how many are asked for)]."""
    keys = "".join(f", {term}" for term, _ in parts["order"])
    rows = made.execute(written(parts | {"limit": None}, keys)).fetchall()
    width = len(parts["columns"])
    start, first = 0, parts["offset"] if parts["limit"] else 0
    last = first + parts["limit"] if parts["limit"] else len(rows)
    while start < len(rows):
        tied = [row[:width] for row in rows if row[width:] == rows[start][width:]]
        count = min(start + len(tied), last) - max(start, first)
        if count > 0:
            yield tied, count
        start += len(tied)


def compared_in_full(made, parts, response):
    """Whether a response's rows are the gold's, by the definition."""
    rows = made.execute(response).fetchall()
    start = 0
    for tied, count in runs_of(made, parts):
        here = rows[start : start + count]
        if len(here) < count or Counter(here) - Counter(tied):
            return False
        start += count
    return start == len(rows) and (not rows or len(rows[0]) == len(parts["columns"]))


@pytest.mark.parametrize("seed", range(4))
def test_the_verdict_on_mutated_queries_equals_a_full_comparison(seed):
    """1,000 in all; doubles of the shop are told apart by more than their rounding."""
    random, made, verdicts = Random(seed), shop(), Counter()
    while verdicts.total() < 250:
        parts = drawn(random)
        if parts["distinct"] and {term for term, _ in parts["order"]} - {*parts["columns"]}:
            continue
        if not made.execute(written(parts)).fetchall():
            continue
        response = written(mutated(random, parts))
        expected = compared_in_full(made, parts, response)
        assert (rule(response, gold(written(parts))) == "same-rows") == expected, (parts, response)
        verdicts[expected] += 1
    assert min(verdicts.values()) > 40


@pytest.mark.parametrize("size", [1_000, 4_000])
def test_a_thousand_rows_are_compared_as_two_are(folder, size):
    """Doubles at the edge of their rounding, in another order, and one wrong in a last digit."""
    with sqlite3.connect(folder / "many.sqlite") as made:
        made.execute("CREATE TABLE n (id INTEGER, x REAL)")
        values = [(at, at / 7 + 1e-9 * (at % 3)) for at in range(size)]
        made.executemany("INSERT INTO n VALUES (?, ?)", values)
    made.close()
    reference = {"sql": "SELECT id % 5, x FROM n", "database": "many"}
    right = "SELECT id % 5, x * 3 / 3 FROM n ORDER BY x DESC"
    assert rule(right, reference, databases=str(folder)) == "same-rows"
    wrong = f"SELECT id % 5, x * (1 + 1e-11 * (id = {size // 2})) FROM n ORDER BY x DESC"
    assert rule(wrong, reference, databases=str(folder)) == "other-rows"


@pytest.mark.parametrize(
    "flood",
    [
        "```sql\n" * 12_500,
        "```sql\nSELECT 1\n```\n" * 5_000,
        "`" * 100_000,
        "\n".join("`" * at for at in range(440, 2, -1)),
        "(" * 19_000,
        "SELECT " * 2_800,
        "x AS (" * 3_000,
        "SELECT '" + "'" * 19_000,
        "/*" * 9_000,
        "a." * 9_000,
        "WITH " + "x AS (SELECT 1), " * 1_000 + "y AS (SELECT 1) SELECT 1",
        "SELECT 1 " * 11_000,
        "\u200b" * 100_000,
    ],
)
def test_a_flood_earns_nothing(flood):
    (result,) = score_batch(REWARD, [sample(flood, gold(NAMES))])
    assert isinstance(result, Scored)
    assert result.score.value == 0.0


def test_a_fork_and_threads_share_nothing_they_should_not():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: rule(SAME[at % 5][0], gold(SAME[at % 5][1])), range(200)))
    assert set(found) == {"same-rows"}


def prompts(references):
    return [
        {
            "id": f"row-{at}",
            "messages": [{"role": "user", "content": f"{at}: who is it?"}],
            "reference_answer": each,
        }
        for at, each in enumerate(references)
    ]


LINTED = [
    (gold("SELECT name FROM customers"), None),
    (gold("SELECT name FROM people"), "no such table"),
    (gold("SELECT name FROM customers WHERE 1 = 0"), "no row"),
    ({"sql": NAMES, "database": "cat"}, "database: "),
    (gold("SELECT item FROM orders ORDER BY quantity LIMIT 2"), "cuts rows that tie"),
    (gold("SELECT item FROM orders ORDER BY price DESC LIMIT 2"), None),
    (gold("SELECT count(*) FROM orders"), "one row"),
]


def test_lint_finds_what_cannot_be_used_and_what_is_left_open(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, prompts([each for each, _ in LINTED]))))
    found = {}
    for each in lint([str(path)], reward=REWARD, rows=(1, 100)).findings:
        found.setdefault(int(each.where.rpartition(" ")[2]) - 1, []).append(each)
    for at, (_, why) in enumerate(LINTED):
        assert [
            each.detail for each in found.get(at, []) if why is None or why not in each.detail
        ] == []
        assert len(found.get(at, [])) == (why is not None)
    unusable = {at for at, each in found.items() if each[0].level == "error"}
    assert unusable == {1, 2, 3}


def test_lint_takes_the_folder_of_the_databases(folder, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(prompts([{"sql": FOUR, "database": ["zoo", "zoo2"]}])[0]))
    for databases, errors in ((str(folder), 0), ("", 1)):
        linted = lint([str(path)], reward=REWARD, parameters={"databases": databases}, rows=(1, 9))
        assert len(linted.errors) == errors


def test_a_composite_of_a_package_brings_its_databases(folder):
    """As docs/sql-result.md has it: the folder is named from the module beside it."""
    parts = {"sql_result": {"weight": 1.0, "databases": str(folder)}}
    acme = weighted(parts, name="acme.sql", version=1, gold_response="{sql_result}")
    assert acme(f"```sql\n{FOUR}\n```", {"sql": FOUR, "database": "zoo"}).value == 1.0
    assert acme("SELECT 'otter'", {"sql": FOUR, "database": "zoo"}).value == 0.0
    right = acme.gold_response(sample("", {"sql": FOUR, "database": "zoo"}))
    assert acme(right, {"sql": FOUR, "database": "zoo"}).value == 1.0


def test_what_ships_with_a_deployment_holds_the_database_of_the_examples():
    names = closure.reached(
        [closure.HANDLER, "reward_functions.verifiers.sql_result"], REWARD.needs
    )
    assert "reward_functions/verifiers/_sql/shop.sql" in closure.files(names)
