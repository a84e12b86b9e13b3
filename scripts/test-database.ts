import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../sandbox/src/postgres/start-postgres.ts'

export interface TestDatabase {
  readonly url: string
  /** Stops PostgreSQL and removes its files. */
  stop(): Promise<void>
}

/** Starts a throw-away PostgreSQL in a temporary folder on a free port. It outlives no run, so it never syncs. */
export async function startTestDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-test-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    // Started by root, PostgreSQL runs as another user, who must be able to walk through.
    await chmod(folder, 0o711)
    const postgres = await startPostgres({ dataDir: join(folder, 'data'), port: await findFreePort(), durable: false })
    return {
      url: postgres.url,
      stop: async () => {
        await postgres.stop()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('the system gave no port')
  return address.port
}
