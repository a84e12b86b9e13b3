import { addressesFrom } from '../../../sandbox/src/addresses.ts'
import { serverEnvironment } from '../../../sandbox/src/processes/environments.ts'
import { openState } from '../../../sandbox/src/state/sandbox-state.ts'
import { startThrowAwaySandbox, type ThrowAwayOptions } from '../../../sandbox/src/throw-away-sandbox.ts'
import { FEW_SLOTS } from '../few-slots.ts'
import { call, type JsonAnswer } from '../http-client.ts'
import { findSandboxDatabase } from '../sandbox/sandbox-database.ts'
import type { SandboxFixture } from '../sandbox/sandbox-fixture.ts'
import { openUsdcChain } from '../sandbox/usdc-chain.ts'

/** A sandbox whose database is backed up and restored. The caller may also be a program that is not a test. */
export type RestoreFixture = Pick<
  SandboxFixture,
  'sandbox' | 'dataDir' | 'baseUrl' | 'chains' | 'control' | 'query' | 'databaseUrl' | 'environment' | 'advanceClock'
> & { close(): Promise<void> }

export async function openRestoreFixture(options: ThrowAwayOptions = {}): Promise<RestoreFixture> {
  const sandbox = await startThrowAwaySandbox({ enclaveProfile: 'fast', walletSlots: FEW_SLOTS, ...options })
  const { dataDir, port, facts } = sandbox
  const { url: databaseUrl, query } = findSandboxDatabase(sandbox)
  const control = async (path: string, body: object = {}): Promise<JsonAnswer> => {
    const answer = await call(facts.control_url, 'POST', path, { body })
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  return {
    sandbox,
    dataDir,
    baseUrl: facts.base_url,
    chains: { test: openUsdcChain(facts.chains.test), live: openUsdcChain(facts.chains.live) },
    control,
    query,
    databaseUrl,
    environment: () => {
      const { current: state } = openState(dataDir)
      const addresses = addressesFrom(port)
      return { ...serverEnvironment({ addresses, state, databaseUrl, dataDir, walletSlots: FEW_SLOTS }) }
    },
    advanceClock: async (seconds) => void (await control('/clock', { advance_seconds: seconds })),
    close: () => sandbox.remove(),
  }
}
