import type { SandboxFacts } from '../state/sandbox-facts.ts'
import { createClient, type Client } from './http-client.ts'
import { createPrinter, type Printer } from './printer.ts'

/** What each part of the demo works with. */
export interface DemoScript extends Printer {
  readonly facts: SandboxFacts
  /** The service, called with the test key and with the live key. */
  readonly test: Client
  readonly live: Client
  /** The control API: owners, the faucet and the chains. */
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

/** Any address, used as a recipient. */
export const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
export const STRANGER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
