import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DATA_FOLDERS } from '../../../sandbox/src/state/data-dir-layout.ts'
import { startSandbox } from '../../../sandbox/src/start-sandbox.ts'
import { findFreePorts, makeDataDir } from '../../../sandbox/src/throw-away-sandbox.ts'
import { withServerLock } from '../database/test-server.ts'
import { waitFor } from '../wait-for.ts'
import { findSandboxDatabase } from './sandbox-database.ts'

/** The number of the lock that a process holds while it prepares the data directory. */
const PREPARE_LOCK = 7_301_947
/** The demo workspace has a wallet in each mode, and each wallet gets one deposit. */
const DEMO_DEPOSITS = 2

/**
 * Returns a data directory with which sandboxes can start. It contains what the first start of a sandbox creates: the
 * database, the contracts on both chains, and the demo workspace. To create this takes as long as the rest of a start,
 * so the first test that needs it creates it for the whole run.
 */
export async function prepareSandbox(): Promise<string> {
  const prepared = join(tmpdir(), 'bursar-prepared-sandbox')
  if (!existsSync(prepared)) {
    await withServerLock(PREPARE_LOCK, async () => {
      if (!existsSync(prepared)) await prepareAt(prepared)
    })
  }
  return prepared
}

async function prepareAt(prepared: string): Promise<void> {
  const [port, dataDir] = await Promise.all([findFreePorts(), makeDataDir()])
  try {
    const sandbox = await startSandbox({ port, dataDir, durable: false, enclaveProfile: 'fast' })
    try {
      // Without this wait, each sandbox that starts with this directory would find the deposits while its tests count
      // events.
      const { query } = findSandboxDatabase({ dataDir, port })
      await waitFor('the deposits in the demo wallets', async () => {
        const rows = await query('select 1 from deposits')
        return rows.length === DEMO_DEPOSITS
      })
    } finally {
      await sandbox.stop()
    }
    await rm(join(dataDir, DATA_FOLDERS.logs), { recursive: true })
    await rename(dataDir, prepared)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
