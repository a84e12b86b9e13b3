import type pg from 'pg'

/** The block with which a month began on the chain of a mode. */
interface MonthBlock {
  readonly mode: string
  readonly month: string
  readonly block: string
}

interface Cell {
  readonly migrations: readonly string[]
  readonly keys: readonly string[]
  readonly months: readonly MonthBlock[]
}

/**
 * Returns the differences between two cells because of which the rows of one would be of no use in the other, in words.
 * The encryption keys that the first one needs must be known in the other one. The database does not know the ids of the
 * chains. Two cells use different chains if a month began with different blocks there.
 */
export async function compareCells(from: pg.Client, to: pg.Client): Promise<string[]> {
  const [ours, theirs] = [await readCell(from), await readCell(to)]
  const missing = (needed: readonly string[], known: readonly string[]) => needed.filter((one) => !known.includes(one))
  const otherMonths = ours.months.filter(({ mode, month, block }) =>
    theirs.months.some((one) => one.mode === mode && one.month === month && one.block !== block),
  )
  return [
    ...missing(ours.migrations, theirs.migrations).map(
      (version) => `the other cell does not have migration ${version}`,
    ),
    ...missing(theirs.migrations, ours.migrations).map((version) => `this cell does not have migration ${version}`),
    ...missing(ours.keys, theirs.keys).map((key) => `the other cell has never used the encryption key ${key}`),
    ...otherMonths.map(
      ({ mode, month }) =>
        `the other cell uses another chain in ${mode} mode, because ${month} began with another block there`,
    ),
  ]
}

async function readCell(client: pg.Client): Promise<Cell> {
  const { rows } = await client.query<Cell>(
    `select array(select version || ' (' || left(checksum, 8) || ')' from schema_migrations order by 1) as migrations,
      array(select fingerprint from encryption_keys where unused_since is null order by 1) as keys,
      (select coalesce(
        json_agg(json_build_object('mode', mode, 'month', month, 'block', first_block || ' ' || parent_hash)), '[]')
        from month_blocks where is_final) as months`,
  )
  return rows[0] ?? { migrations: [], keys: [], months: [] }
}
