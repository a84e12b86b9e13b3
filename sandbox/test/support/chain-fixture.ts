import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { type Chain, startChain, type StartChainOptions } from '../../src/chain/start-chain.ts'

export const TEST_CHAIN_ID = 84532

const WAIT_MS = 20_000
const LOOK_MS = 10

/** A port that was free a moment ago. */
export const findFreePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port)
        else reject(new Error('no port'))
      })
    })
  })

const folders: string[] = []

// A test's own clean-up runs in the order of its registration, and a chain that stops later writes its state once more.
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A folder that goes with the process. */
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

/** Waits until `look` answers something. */
export const waitFor = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error('the condition does not come to hold')
    await delay(LOOK_MS)
  }
}
