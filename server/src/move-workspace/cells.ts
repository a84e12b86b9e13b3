import type pg from 'pg'
import { DatabaseServers, openConnection } from '../db/database-servers.ts'

const CONNECT_TIMEOUT_MS = 5_000

/** The connections to the cell that a workspace leaves, and to the one that it enters. */
export interface Cells {
  readonly from: pg.Client
  readonly to: pg.Client
}

/** The move cannot be made. The message says why, for the operator. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused'
}

/** Connects to a cell, and closes the connection afterwards. */
export async function withCell<Result>(url: string, verb: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = await openConnection({
    servers: new DatabaseServers(url),
    client: { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, application_name: 'bursar move-workspace' },
  })
  try {
    return await verb(client)
  } finally {
    await client.end()
  }
}

/** Connects to both cells, and closes the connections afterwards. */
export async function withCells<Result>(
  urls: { readonly from: string; readonly to: string },
  verb: (cells: Cells) => Promise<Result>,
): Promise<Result> {
  return await withCell(urls.from, (from) => withCell(urls.to, (to) => verb({ from, to })))
}
