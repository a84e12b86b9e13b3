import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A schema with three tables, a change that locks them all, and an index that is built without a transaction. */
const FILES = [
  `create table grants (id text primary key);
   create table payments (id text primary key, memo text);
   create table agents (id text primary key);`,
  `lock table grants, payments, agents in access exclusive mode;
   alter table payments add column note text;`,
  `-- no transaction
create index concurrently if not exists payments_noted on payments (note);`,
]

export interface SampleMigrations {
  readonly folder: URL
  readonly versions: readonly string[]
  readonly remove: () => Promise<void>
}

/** Writes the first `count` sample migrations to a new folder. */
export async function writeSampleMigrations(count = FILES.length): Promise<SampleMigrations> {
  const path = await mkdtemp(join(tmpdir(), 'bursar-migrations-'))
  const files = FILES.slice(0, count).map((sql, index) => ({ version: String(index + 1).padStart(4, '0'), sql }))
  await Promise.all(files.map(({ version, sql }) => writeFile(join(path, `${version}_sample.sql`), sql)))
  return {
    folder: pathToFileURL(`${path}/`),
    versions: files.map(({ version }) => version),
    remove: () => rm(path, { recursive: true }),
  }
}
