import type { Encoding, Fault, Flow, OfferKind, Protocol } from '../../../sandbox/src/seller/behaviour.ts'
import type { Counters } from '../../../sandbox/src/seller/resource.ts'
import type { Mode } from '../../../server/src/values/mode.ts'
import { call, type JsonAnswer } from '../http-client.ts'
import type { SandboxFixture } from './sandbox-fixture.ts'

/** What a resource is to do. Every member may be absent; `GET /` of the control API lists the defaults. */
export interface WireBehaviour {
  readonly mode?: Mode
  readonly price_usdc?: string
  readonly protocol?: Protocol
  readonly flow?: Flow
  readonly pay_to?: string
  readonly offers?: readonly OfferKind[]
  readonly max_timeout_seconds?: number
  readonly faults?: readonly Fault[]
  readonly fault_count?: number
  readonly changes_after?: number
  readonly delay_ms?: number
  readonly answer_bytes?: number
  readonly answer_status?: number
  readonly encoding?: Encoding
  readonly redirect_status?: number
  readonly redirect_to?: string
  readonly remembers?: boolean
}

/**
 * A resource at the sandbox's seller. No other resource has the same payee, so the payee's balance is what the resource
 * was paid.
 */
export interface SoldResource {
  readonly id: string
  readonly url: string
  readonly payTo: string
  /** The payee after `payee_changed` has happened. */
  readonly laterPayTo: string
  readonly mode: Mode
}

type SandboxAccess = Pick<SandboxFixture, 'control' | 'sandbox' | 'chains'>

/**
 * Creates a resource at the seller of a sandbox. The first call starts the seller. Tests that run at the same time on
 * one sandbox do not disturb each other, because each resource has its own path, faults, counters and payee.
 */
export async function createResource(fixture: SandboxAccess, behaviour: WireBehaviour = {}): Promise<SoldResource> {
  const answer = await fixture.control('/seller/resources', behaviour)
  const { id, url, pay_to: payTo, later_pay_to: laterPayTo } = readResource(answer)
  return { id, url, payTo, laterPayTo, mode: behaviour.mode ?? 'test' }
}

/** Reads what a resource has seen and done. */
export async function readCounters(fixture: SandboxAccess, { id }: SoldResource): Promise<Counters> {
  const answer = await call(fixture.sandbox.facts.control_url, 'GET', `/seller/resources/${id}`, {})
  if (answer.status !== 200) throw new Error(answer.text)
  return readResource(answer)
}

/** Returns what a resource was paid so far, in micro-USDC. */
export async function readTakings(fixture: SandboxAccess, { mode, payTo }: SoldResource): Promise<bigint> {
  return await fixture.chains[mode].balanceOf(payTo)
}

interface WireResource extends Counters {
  readonly id: string
  readonly url: string
  readonly pay_to: string
  readonly later_pay_to: string
}

function readResource({ text }: JsonAnswer): WireResource {
  return JSON.parse(text).resource
}
