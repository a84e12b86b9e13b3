import type { WireBehaviour } from '../sandbox/seller.ts'
import { pick } from './random.ts'

/** What arrives of the goods: all of them, a part, as much as is kept, all in an unknown encoding, or anything. */
export type Goods = 'whole' | 'part' | 'cut' | 'encoded' | 'none' | 'anything'

/** What the response to the agent says: an error code, or whether the goods were delivered. */
export type Told =
  | { readonly code: string }
  | { readonly delivery: 'delivered' | 'failed' | 'unknown'; readonly goods: Goods; readonly status?: number }

/** How a seller behaves, and what the agent must be told, if nothing else goes wrong. */
export interface Scenario {
  readonly title: string
  readonly behaviour: WireBehaviour
  readonly method: 'GET' | 'POST'
  readonly told: Told
}

type Random = () => number

const SLOW_MS = 1_500
const DRIP_MS = 500
/** The seller waits 3 s for its facilitator, which is slower. */
const SETTLE_LATE_MS = 3_500
/** More than is kept of an answer. */
const HUGE_BYTES = 1_500_000
const SUCCESSES = [200, 201, 203, 226, 299]
const FAILURES = [300, 399, 400, 402, 404, 418, 500, 503, 599, 600, 777, 999]
const KNOWN = ['gzip', 'deflate', 'deflate_raw', 'br', 'gzip_br'] as const
const CLAIMED = [...KNOWN, 'gzip_claimed'] as const

const WHOLE: Told = { delivery: 'delivered', goods: 'whole' }
const REFUSED: Told = { delivery: 'failed', goods: 'none' }

/** Makes a scenario. Each kind is equally likely. The same random numbers make the same scenario. */
export function makeScenario(random: Random): Scenario {
  const [title, make] = pick(KINDS, random)
  const protocol = pick(['x402_v2', 'x402_v1', 'mpp', 'mpp_and_x402', 'mpp_beside_bearer'] as const, random)
  const flow = pick(['authorization', 'upfront'] as const, random)
  const { behaviour = {}, method = 'GET', told = WHOLE } = make(random)
  return { title, behaviour: { protocol, flow, ...behaviour }, method, told }
}

type Made = Partial<Pick<Scenario, 'behaviour' | 'method' | 'told'>>

const KINDS: readonly (readonly [string, (random: Random) => Made])[] = [
  ['nothing', () => ({})],
  ['an order', () => ({ method: 'POST' })],
  ['an odd success', (random) => withStatus(pick(SUCCESSES, random), 'delivered')],
  ['an odd failure', (random) => withStatus(pick(FAILURES, random), 'failed')],
  ['encoded goods', (random) => ({ behaviour: { faults: ['answer_encoded'], encoding: pick(CLAIMED, random) } })],
  [
    'goods in an unknown encoding',
    () => ({
      behaviour: { faults: ['answer_encoded'], encoding: 'unknown' },
      told: { delivery: 'delivered', goods: 'encoded' },
    }),
  ],
  ['huge goods', () => ({ behaviour: { faults: ['answer_huge'], answer_bytes: HUGE_BYTES }, told: CUT })],
  [
    'a bomb',
    (random) => ({
      behaviour: { faults: ['answer_huge', 'answer_encoded'], answer_bytes: HUGE_BYTES, encoding: pick(KNOWN, random) },
      told: CUT,
    }),
  ],
  [
    'an answer that breaks off once, at a seller that remembers',
    (random) => ({ behaviour: { ...breakOff(random), ...ONCE, ...REMEMBERS } }),
  ],
  ['an answer that breaks off once', (random) => ({ behaviour: { ...breakOff(random), ...ONCE }, told: PART })],
  ['answers that always break off', (random) => ({ behaviour: { ...breakOff(random), ...REMEMBERS }, told: PART })],
  [
    'encoded goods that break off',
    (random) => ({
      behaviour: { faults: ['answer_encoded', 'answer_cut'], encoding: pick(KNOWN, random), ...REMEMBERS },
      told: { delivery: 'unknown', goods: 'anything' },
    }),
  ],
  [
    'encoded goods that are corrupt once, at a seller that remembers',
    () => ({ behaviour: { faults: ['answer_encoded', 'answer_corrupt'], encoding: 'gzip', ...ONCE, ...REMEMBERS } }),
  ],
  [
    'encoded goods that are corrupt',
    () => ({
      behaviour: { faults: ['answer_encoded', 'answer_corrupt'], encoding: 'gzip' },
      told: { delivery: 'unknown', goods: 'anything' },
    }),
  ],
  [
    'an answer that is lost once, at a seller that remembers',
    () => ({ behaviour: { faults: ['answer_lost'], ...ONCE, ...REMEMBERS } }),
  ],
  ['an answer that is lost', () => ({ behaviour: { faults: ['answer_lost'], ...ONCE }, told: REFUSED })],
  ['a slow answer', () => ({ behaviour: { faults: ['answer_slow'], delay_ms: SLOW_MS } })],
  ['an answer that drips', () => ({ behaviour: { faults: ['answer_dripped'], delay_ms: DRIP_MS } })],
  ['an answer that is sent twice', () => ({ behaviour: { faults: ['answer_twice'] } })],
  ['an encoded price', (random) => ({ behaviour: { faults: ['offer_encoded'], encoding: pick(CLAIMED, random) } })],
  [
    'a price in a header, with a body that breaks off',
    (random) => ({ behaviour: { faults: ['offer_cut'], protocol: pick(['x402_v2', 'mpp'] as const, random) } }),
  ],
  [
    'a price in a body that breaks off',
    () => ({ behaviour: { faults: ['offer_cut'], protocol: 'x402_v1' }, told: { code: 'resource_unreachable' } }),
  ],
  ['a redirect', (random) => ({ behaviour: { ...redirect(pick([301, 302, 303, 307, 308], random)), ...ONCE } })],
  [
    'an order that is redirected by GET',
    (random) => ({
      behaviour: redirect(pick([301, 302, 303], random)),
      method: 'POST',
      told: { code: 'resource_redirected' },
    }),
  ],
  [
    'an order that is redirected to another server',
    (random) => ({
      behaviour: { ...redirect(pick([307, 308], random)), redirect_to: 'https://example.com/' },
      method: 'POST',
      told: { code: 'resource_redirected' },
    }),
  ],
  [
    'an order that is redirected',
    (random) => ({ behaviour: { ...redirect(pick([307, 308], random)), ...ONCE }, method: 'POST' }),
  ],
  [
    'a redirect to a private address',
    () => ({
      behaviour: { ...redirect(302), redirect_to: 'https://10.0.0.1/' },
      told: { code: 'resource_url_not_allowed' },
    }),
  ],
  [
    'a page for people',
    () => ({ behaviour: { faults: ['html_paywall'] }, told: { code: 'payment_protocol_unknown' } }),
  ],
  ['a handler that fails', () => ({ behaviour: { faults: ['handler_fails'], protocol: 'x402_v2' }, told: REFUSED })],
  [
    'a facilitator that does not see the receipt',
    () => ({ behaviour: { faults: ['receipt_wait_fails'], protocol: 'x402_v2' }, told: REFUSED }),
  ],
  [
    'a facilitator whose answer is lost',
    () => ({ behaviour: { faults: ['settle_answer_lost'], protocol: 'x402_v2' }, told: REFUSED }),
  ],
  [
    'a facilitator that is too slow',
    () => ({ behaviour: { faults: ['settle_late'], delay_ms: SETTLE_LATE_MS, protocol: 'x402_v2' }, told: REFUSED }),
  ],
  ['a settlement that fails', () => ({ behaviour: { faults: ['settle_fails'], protocol: 'x402_v2' }, told: REFUSED })],
  ['a price that is raised', () => ({ behaviour: { faults: ['price_raised'], protocol: 'x402_v2' }, told: REFUSED })],
  ['a payee that changes', () => ({ behaviour: { faults: ['payee_changed'], protocol: 'x402_v2' }, told: REFUSED })],
]

const ONCE = { fault_count: 1 } as const
const REMEMBERS = { remembers: true } as const
const CUT: Told = { delivery: 'delivered', goods: 'cut' }
const PART: Told = { delivery: 'unknown', goods: 'part' }

function withStatus(status: number, delivery: 'delivered' | 'failed'): Made {
  return { behaviour: { faults: ['answer_status'], answer_status: status }, told: { delivery, goods: 'whole', status } }
}

function breakOff(random: Random): WireBehaviour {
  return { faults: [pick(['answer_cut', 'answer_unfinished'] as const, random)] }
}

function redirect(status: number): WireBehaviour {
  return { faults: ['redirect'], redirect_status: status }
}

/** The body of a POST, which the goods repeat. */
export const ORDERED = 'three, please'
/** How much of an answer is kept. */
const KEPT_BYTES = 1_024 * 1_024

/** An answer of a seller, as the agent gets it. */
export interface ShownAnswer {
  readonly status: number
  readonly body: string | null
  readonly body_base64: string | null
  readonly truncated: boolean
}

/** Returns what the agent has of the goods of a resource. Null if it has something that these goods do not explain. */
export function readGoods(answer: ShownAnswer | null, { id, method }: { id: string; method: string }): Goods | null {
  if (answer === null) return 'none'
  const { truncated } = answer
  const body = answer.body ?? Buffer.from(answer.body_base64 ?? '', 'base64').toString('latin1')
  if (/^x*$/.test(body) && body.length === KEPT_BYTES && truncated) return 'cut'
  if (!truncated && isWhole(body, { id, method })) return 'whole'
  if (!truncated && isWhole(body.split('').toReversed().join(''), { id, method })) return 'encoded'
  const start = `{"goods":"${id}","delivery":`
  if (truncated && (start.startsWith(body) || body.startsWith(start))) return 'part'
  if (truncated) return 'anything'
  return answer.status >= 400 ? 'none' : null
}

function isWhole(text: string, { id, method }: { id: string; method: string }): boolean {
  const received = method === 'POST' ? `,"received":"${ORDERED}"` : ''
  return new RegExp(`^\\{"goods":"${id}","delivery":\\d+,"method":"${method}"${received}\\}$`).test(text)
}
