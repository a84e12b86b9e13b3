import type pg from 'pg'

/**
 * Returns the differences between two cells because of which the rows of one would be of no use in the other, in words.
 * The encryption keys that the first one needs must be known in the other one.
 */
export async function compareCells(from: pg.Client, to: pg.Client): Promise<string[]> {
  const [ours, theirs] = [await readCell(from), await readCell(to)]
  const missing = (needed: readonly string[], known: readonly string[]) => needed.filter((one) => !known.includes(one))
  return [
    ...missing(ours.migrations, theirs.migrations).map(
      (version) => `the other cell does not have migration ${version}`,
    ),
    ...missing(theirs.migrations, ours.migrations).map((version) => `this cell does not have migration ${version}`),
    ...missing(ours.keys, theirs.keys).map((key) => `the other cell has never used the encryption key ${key}`),
  ]
}

async function readCell(client: pg.Client): Promise<{ migrations: string[]; keys: string[] }> {
  const { rows } = await client.query<{ migrations: string[]; keys: string[] }>(
    `select array(select version || ' (' || left(checksum, 8) || ')' from schema_migrations order by 1) as migrations,
      array(select fingerprint from encryption_keys where unused_since is null order by 1) as keys`,
  )
  return rows[0] ?? { migrations: [], keys: [] }
}
