import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { findFreePort } from '../../../test/support/free-port.ts'
import { type Chain, startChain, type StartChainOptions } from '../../src/chain/start-chain.ts'

export const TEST_CHAIN_ID = 84532

const folders: string[] = []

// The folders are deleted when the process exits. A test's own hooks would delete them too early: a chain writes its
// state once more when it stops, and hooks run in the order in which they were registered.
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Creates a folder that is deleted when the process exits. */
export const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'bursar chain '))
  folders.push(folder)
  return folder
}

/** Starts a chain with short blocks. It is stopped at the end of the test. */
export const startTestChain = async (t: TestContext, options: Partial<StartChainOptions> = {}): Promise<Chain> => {
  const stateFile = options.stateFile ?? join(makeFolder(), 'chain.state')
  const port = options.port ?? (await findFreePort())
  const chain = await startChain({ chainId: TEST_CHAIN_ID, blockTimeSeconds: 0.05, ...options, port, stateFile })
  t.after(() => chain.stop())
  return chain
}
