"""The tables as the migrations leave them, word for word: moving code moves no column."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine

from app.db.session import make_engine

RECORDED = Path(__file__).parents[1] / "data" / "schema"
WORDS = {
    "sqlite": ["SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"],
    "postgresql": [
        """SELECT concat_ws(' ', 'COLUMN', relname, attname, format_type(atttypid, atttypmod),
                  CASE WHEN attnotnull THEN 'NOT NULL' END,
                  'DEFAULT ' || pg_get_expr(adbin, adrelid))
           FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
           LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
           WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
             AND attnum > 0 AND NOT attisdropped
           ORDER BY relname, attnum""",
        """SELECT concat_ws(' ', 'CONSTRAINT', conname, conrelid::regclass,
                  pg_get_constraintdef(oid))
           FROM pg_constraint
           WHERE connamespace = 'public'::regnamespace AND contype != 'n' ORDER BY conname""",
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname",
        """SELECT concat_ws(' ', 'POLICY', policyname, tablename, permissive, roles, cmd,
                  'USING ' || qual, 'WITH CHECK ' || with_check)
           FROM pg_policies ORDER BY tablename, policyname""",
        """SELECT concat_ws(' ', 'ROW SECURITY', relname,
                  CASE WHEN relforcerowsecurity THEN 'FORCED' END)
           FROM pg_class WHERE relrowsecurity ORDER BY relname""",
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname",
        """SELECT pg_get_functiondef(oid) FROM pg_proc
           WHERE pronamespace = 'public'::regnamespace ORDER BY proname""",
    ],
}


def describe(engine: Engine) -> str:
    with engine.connect() as connection:
        words = [
            word
            for query in WORDS[engine.dialect.name]
            for word in connection.exec_driver_sql(query).scalars()
        ]
    return "".join(f"{line.rstrip()}\n" for word in words for line in word.splitlines())


def test_the_schema_is_the_recorded_one(database_url: str, tmp_path: Path) -> None:
    engine = make_engine(database_url, pool_size=0)
    found = tmp_path / f"{engine.dialect.name}.sql"
    found.write_text(describe(engine))
    recorded = RECORDED / found.name
    assert found.read_text() == recorded.read_text(), f"after a migration: cp {found} {recorded}"
