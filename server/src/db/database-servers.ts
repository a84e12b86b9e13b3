import pg from 'pg'
import { parseDatabaseUrl } from '../lib/parse-database-url.ts'
import type { ConnectionWatch } from './connection-watch.ts'
import { DatabaseReadOnly } from './errors.ts'

/** The settings of a session, by their names in PostgreSQL. */
export type SessionSettings = Readonly<Record<string, string>>

/** How connections are opened: to which servers, with which options of the driver, and with which settings. */
export interface ConnectionSource {
  readonly servers: DatabaseServers
  readonly client?: pg.ClientConfig
  readonly settings?: SessionSettings
  /** Closes connections that lead nowhere any more. */
  readonly watch?: ConnectionWatch
  /** Whether a server that accepts no writes will do. */
  readonly mayBeReadOnly?: boolean
}

/**
 * The servers of a database URL. The first one that accepts writes is used, until connecting to it fails. So if a
 * standby takes over, the service finds it as soon as it has become the primary.
 */
export class DatabaseServers {
  readonly urls: readonly [string, ...string[]]
  #current = 0

  constructor(databaseUrl: string) {
    const [first, ...others] = parseDatabaseUrl(databaseUrl) ?? []
    if (first === undefined) throw new Error('the database URL is not valid')
    this.urls = [first, ...others]
  }

  /** Calls `open` for one server after the other until it succeeds. If it never does, throws the error of the last one. */
  async connect<Connection>(open: (url: string) => Promise<Connection>): Promise<Connection> {
    const first = this.#current
    for (let tries = 1; ; tries += 1) {
      const index = (first + tries - 1) % this.urls.length
      try {
        const connection = await open(this.urls[index] ?? this.urls[0])
        this.#current = index
        return connection
      } catch (error) {
        if (tries >= this.urls.length) throw error
      }
    }
  }
}

/**
 * Opens a connection to the server that accepts writes. Until the connection is used, its errors are ignored: without a
 * listener, an idle connection that breaks would end the process.
 */
export async function openConnection(source: ConnectionSource): Promise<pg.Client> {
  return await source.servers.connect(async (connectionString) => {
    const connection = new pg.Client({ ...source.client, connectionString })
    connection.on('error', () => undefined)
    try {
      await connection.connect()
      if (source.mayBeReadOnly !== true) await prepareSession(connection, source)
      return connection
    } catch (error) {
      // The end is not awaited, because a server that hangs would never confirm it.
      connection.end().catch(() => undefined)
      throw error
    }
  })
}

/**
 * Applies the settings to a new session. They are not sent when the connection is opened, because connection poolers
 * reject most of them there. Throws `DatabaseReadOnly` if the server accepts no writes.
 */
export async function prepareSession(
  connection: pg.Client,
  { settings = {}, watch }: Pick<ConnectionSource, 'settings' | 'watch'>,
): Promise<void> {
  const { rows } = await connection.query<{ is_read_only: boolean; pid: number }>(
    `select current_setting('transaction_read_only')::bool as is_read_only, pg_backend_pid() as pid,
      (select count(set_config(name, value, false)) from unnest($1::text[], $2::text[]) as setting (name, value))`,
    [Object.keys(settings), Object.values(settings)],
  )
  const [session] = rows
  if (session?.is_read_only !== false) throw new DatabaseReadOnly('the database server accepts no writes')
  watch?.add(connection, session.pid)
}
