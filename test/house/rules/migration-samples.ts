import { ADDITIVE_MIGRATIONS, SINGLE_ALTERATIONS } from './migrations.ts'
import { broken, file, type Sample } from './sample.ts'

const PATH = 'server/migrations/0002_more.sql'
const NEW_PATH = 'server/migrations/0020_new.sql'

export const MIGRATION_SAMPLES: readonly Sample[] = [
  {
    rule: ADDITIVE_MIGRATIONS,
    fails: [
      broken(PATH, 'drop table hourly_host_sums;'),
      broken(PATH, 'alter table payments drop column memo;'),
      broken(PATH, 'alter table payments rename column memo to note;'),
      broken(PATH, 'alter table payments alter column memo set not null;'),
      broken(PATH, 'alter table payments add column note text not null;'),
      broken(PATH, 'create index payments_noted on payments (note);'),
      // In a transaction, an index cannot be built beside the work of others.
      broken(PATH, 'create index concurrently if not exists payments_noted on payments (note);'),
    ],
    passes: [
      file('server/migrations/0001_baseline.sql', 'create table payments (id text);\ndrop table old;'),
      file(PATH, 'alter table payments add column note text, add column bytes integer not null default 0;'),
      file(PATH, '-- unused since 0001\ndrop table hourly_host_sums;'),
      file(PATH, '-- no transaction\ncreate index concurrently if not exists payments_noted on payments (note);'),
      file(PATH, 'create table events (id text);\ncreate index events_listed on events (id);'),
      file(PATH, '-- Later, drop table is possible.\nalter table payments drop constraint payments_note_check;'),
    ],
  },
  {
    rule: SINGLE_ALTERATIONS,
    fails: [
      broken(NEW_PATH, 'alter table payments\n  add column note text,\n  add column bytes integer;'),
      broken(NEW_PATH, "alter table payments add check (a in ('(', 'b')), drop constraint old;"),
    ],
    passes: [
      file(NEW_PATH, 'alter table payments add column note text;\nalter table payments add column bytes integer;'),
      file(NEW_PATH, "alter table payments -- one, two\n  add check ((a in (1, 2)) or b = 'c, d');"),
      // It was released before, so it cannot change.
      file(PATH, 'alter table payments add column note text, add column bytes integer;'),
    ],
  },
]
