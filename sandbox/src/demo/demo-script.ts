import type { SandboxFacts } from '../state/sandbox-facts.ts'
import { createClient, type Client } from './http-client.ts'
import { createPrinter, type Printer } from './printer.ts'

/** Everything that each part of the demo uses. */
export interface DemoScript extends Printer {
  readonly facts: SandboxFacts
  /** Clients of the service: one with the test key, one with the live key. */
  readonly test: Client
  readonly live: Client
  /** A client of the control API, for the owners, the faucet and the chains. */
  readonly control: Client
}

export function openDemo(facts: SandboxFacts): DemoScript {
  const { keys } = facts.workspace
  return {
    ...createPrinter(),
    facts,
    test: createClient(facts.base_url, keys.test),
    live: createClient(facts.base_url, keys.live),
    control: createClient(facts.control_url),
  }
}

/** Arbitrary addresses that the demo uses as recipients. */
export const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
export const STRANGER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
