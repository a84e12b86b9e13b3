import type { SandboxFacts } from '../state/sandbox-facts.ts'
import { createClient, type Client } from './http-client.ts'
import { createPrinter, type Printer } from './printer.ts'

/** What each scene of the demo works with. */
export interface DemoScript extends Printer {
  readonly facts: SandboxFacts
  /** The service, with the test key, and with the live key. */
  readonly test: Client
  readonly live: Client
  /** The people and the outside world. */
  readonly control: Client
}

export function openStory(facts: SandboxFacts): DemoScript {
  const { keys } = facts.workspace
  return {
    ...createPrinter(),
    facts,
    test: createClient(facts.base_url, keys.test),
    live: createClient(facts.base_url, keys.live),
    control: createClient(facts.control_url),
  }
}

/** Anybody's address, to pay to. */
export const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
export const STRANGER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
