import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { findFreePort } from '../../../test/support/free-port.ts'
import { type Chain, startChain, type StartChainOptions } from '../../src/chain/start-chain.ts'

export const TEST_CHAIN_ID = 84532

const folders: string[] = []

// A test's own clean-up runs in the order of its registration, and a chain that stops later writes its state once more.
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A folder that is deleted when the process ends. */
export const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'bursar chain '))
  folders.push(folder)
  return folder
}

/** A chain with short blocks that ends with the test. */
export const startTestChain = async (t: TestContext, options: Partial<StartChainOptions> = {}): Promise<Chain> => {
  const stateFile = options.stateFile ?? join(makeFolder(), 'chain.state')
  const port = options.port ?? (await findFreePort())
  const chain = await startChain({ chainId: TEST_CHAIN_ID, blockTimeSeconds: 0.05, ...options, port, stateFile })
  t.after(() => chain.stop())
  return chain
}
