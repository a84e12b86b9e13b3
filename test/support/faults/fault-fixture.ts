import { findSandboxDatabase, type SandboxDatabase } from '../sandbox/sandbox-database.ts'
import {
  startThrowAwaySandbox,
  type ThrowAwayOptions,
  type ThrowAwaySandbox,
} from '../../../sandbox/src/throw-away-sandbox.ts'
import { FEW_SLOTS } from '../few-slots.ts'
import { call, type AnswerBody } from '../http-client.ts'

/** An agent, the wallet from which it pays, and its daily cap. */
export interface Payer {
  readonly agentId: string
  readonly wallet: string
  readonly capMicro: bigint
}

/**
 * A sandbox with several wallets, each of which several agents use. It has so many API keys that there is always one
 * below its rate limit.
 */
export interface FaultFixture {
  readonly sandbox: ThrowAwaySandbox
  readonly database: SandboxDatabase
  readonly payers: readonly Payer[]
  /** Returns the next key. After the last one, starts again with the first. */
  takeKey(): string
  readonly clock: SandboxClock
  control(path: string, body?: object): Promise<AnswerBody>
  /** Returns how often each fault has occurred in sends to and reads from the enclave. */
  countFaults(): Promise<Readonly<Record<string, number>>>
}

/**
 * Moves the sandbox's clock forward, and remembers how far it was ahead of the real time at each moment. The chain's
 * blocks have real times, so the tests convert these to the sandbox's time.
 */
export interface SandboxClock {
  advance(seconds: number): Promise<void>
  /** Converts a real time to the sandbox's time at that moment. */
  toSandboxTime(realMs: number): number
}

export interface FaultFixtureOptions {
  readonly wallets: number
  readonly agentsPerWallet: number
  readonly keys: number
  readonly capMicro: bigint
  /** Options of the sandbox. By default, it starts with an empty data directory and saves memory. */
  readonly sandbox?: ThrowAwayOptions
}

const FUND_USDC = '100000'
const MICRO = 1_000_000n

export async function openFaultFixture(options: FaultFixtureOptions): Promise<FaultFixture> {
  const sandbox = await startThrowAwaySandbox({
    durable: false,
    enclaveProfile: 'fast',
    walletSlots: FEW_SLOTS,
    ...options.sandbox,
  })
  try {
    const { control_url: controlUrl } = sandbox.facts
    const control = async (path: string, body: object = {}): Promise<AnswerBody> => {
      const answer = await call(controlUrl, 'POST', path, { body })
      if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
      return answer.body
    }
    const { payers, keys } = await preparePayers(sandbox, { control, options })
    return {
      sandbox,
      database: findSandboxDatabase(sandbox),
      payers,
      takeKey: takeInTurn(keys),
      clock: openClock(control),
      control,
      countFaults: async () => {
        const { body } = await call(controlUrl, 'GET', '/enclave/faults')
        return (body as unknown as { met: Record<string, number> }).met
      },
    }
  } catch (error) {
    await sandbox.remove()
    throw error
  }
}

async function preparePayers(
  { facts }: ThrowAwaySandbox,
  { control, options }: { control: FaultFixture['control']; options: FaultFixtureOptions },
): Promise<{ payers: Payer[]; keys: string[] }> {
  const { workspace } = await control('/workspaces', { name: 'Faults', plan: 'scale' })
  const keys = [workspace.keys.test]
  while (keys.length < options.keys) {
    keys.push((await control(`/workspaces/${workspace.slug}/keys`, { mode: 'test' })).key.secret)
  }
  const payers: Payer[] = []
  for (let wallet = 0; wallet < options.wallets; wallet += 1) {
    const made = await control(`/workspaces/${workspace.slug}/wallets`, { mode: 'test', fund_usdc: FUND_USDC })
    for (let agent = 0; agent < options.agentsPerWallet; agent += 1) {
      const agentId = `agent-${wallet}-${agent}`
      const answer = await call(facts.base_url, 'POST', '/v1/agents', {
        key: keys[payers.length % keys.length] ?? '',
        body: { id: agentId },
      })
      if (answer.status !== 201) throw new Error(answer.text)
      const payer = { agentId, wallet: made.wallet.address, capMicro: options.capMicro }
      const terms = { max_per_tx_usdc: '1', daily_cap_usdc: formatUsdc(options.capMicro) }
      await control(`/workspaces/${workspace.slug}/grants`, {
        mode: 'test',
        agent_id: agentId,
        wallet: payer.wallet,
        ...terms,
      })
      payers.push(payer)
    }
  }
  return { payers, keys }
}

function takeInTurn(keys: readonly string[]): () => string {
  let taken = 0
  return () => {
    taken += 1
    return keys[taken % keys.length] ?? ''
  }
}

function openClock(control: FaultFixture['control']): SandboxClock {
  const moves: { readonly realMs: number; readonly offsetMs: number }[] = []
  return {
    advance: async (seconds) => {
      const offsetMs = (moves.at(-1)?.offsetMs ?? 0) + seconds * 1_000
      await control('/clock', { advance_seconds: seconds })
      moves.push({ realMs: Date.now(), offsetMs })
    },
    toSandboxTime: (realMs) => realMs + (moves.findLast((move) => move.realMs <= realMs)?.offsetMs ?? 0),
  }
}

export function formatUsdc(micro: bigint): string {
  return `${micro / MICRO}.${String(micro % MICRO).padStart(6, '0')}`
}
