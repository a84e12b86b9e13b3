import pg from 'pg'
import { translateError } from './errors.ts'
import { gatherWrites } from './one-write.ts'
import type { Query } from './query.ts'
import { readResult } from './query.ts'

/**
 * One connection that many callers share: their statements travel one behind the other without waiting (pipelining),
 * and every statement commits by itself. It connects at first use, and anew after it was lost.
 */
export interface Lane {
  run<Result>(query: Query<Result>): Promise<Result>
  close(): Promise<void>
}

export function openLane(config: pg.ClientConfig): Lane {
  let connection: Promise<pg.Client> | null = null

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ ...config, pipeline: true })
    const forget = (): void => {
      connection = null
    }
    client.on('error', forget)
    client.on('end', forget)
    try {
      await client.connect()
    } catch (error) {
      forget()
      throw error
    }
    return client
  }

  return {
    async run(query) {
      try {
        connection ??= connect()
        const client = await connection
        gatherWrites(client)
        return readResult(query, await client.query({ name: query.name, text: query.text, values: [...query.values] }))
      } catch (error) {
        throw translateError(error)
      }
    },
    async close() {
      const open = connection
      connection = null
      if (open !== null) await open.then((client) => client.end()).catch(() => undefined)
    },
  }
}
