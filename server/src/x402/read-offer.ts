import { parseAddress, ZERO_ADDRESS, type Address } from '../values/address.ts'
import { microUsdc, type MicroUsdc } from '../values/money.ts'
import { usdcDomain } from '../values/transfer-authorization.ts'
import type { Offer, SkippedOffer, SkipReason } from './payment-required.ts'
import { isObject, member, toWord, type JsonObject } from './wire-values.ts'

/** The chain and the token that we pay with. */
export interface PaidToken {
  readonly chainId: number
  readonly usdc: Address
}

/** What we pay with, and the time at which the offer is read. */
export interface AcceptedMoney extends PaidToken {
  readonly now: Date
}

/** What is known about the request that will pay. */
export interface PayingRequest {
  /** How long the payment header may be, in bytes, with its name. */
  readonly headerBytesMax: number
  /** The body. Undefined if the agent sends the request itself. */
  readonly body: Buffer | null | undefined
}

/** An offer that we can pay, or an offer that we skip. */
export type ReadOffer = { readonly offer: Offer } | { readonly skipped: SkippedOffer }

/** The shortest time that is enough for the seller to check the signature and to submit it to the chain (D65). */
export const VALID_SECONDS_MIN = 20
/** At most 15 digits: less than a billion USDC, and far below the largest amount of a payment. */
const AMOUNT_PATTERN = /^[1-9][0-9]{0,14}$/

/**
 * Members of `extra` with which other schemes of x402 say where the money goes or when it is taken (`auth-capture`,
 * `batch-settlement` and `upto` in version 2.27 of the package `@x402/evm`). An offer of the scheme `exact` has none of
 * them. A seller may add members of its own to `extra`, so other unknown members are ignored: what we sign is fixed by
 * the members that we check.
 */
const FOREIGN_EXTRA = [
  ...['authCaptureEscrow', 'captureAuthorizer', 'captureDeadline', 'refundDeadline'],
  ...['feeRecipient', 'minFeeBps', 'maxFeeBps', 'receiverAuthorizer', 'withdrawDelay', 'minDeposit'],
  'facilitatorAddress',
]

/** Returns the payee. Null if it is no address, or one that cannot own USDC. */
export function readPayee(value: unknown, usdc: Address): Address | null {
  const payee = typeof value === 'string' ? parseAddress(value) : null
  return payee === ZERO_ADDRESS || payee === usdc ? null : payee
}

/** Reads an amount in micro-USDC: a string of decimal digits, not zero. */
export function readAmount(value: unknown): MicroUsdc | null {
  return typeof value === 'string' && AMOUNT_PATTERN.test(value) ? microUsdc(BigInt(value)) : null
}

/**
 * Returns why we cannot pay an x402 offer with this `extra`. Null if we can. The EIP-712 domain in `extra` must be ours
 * or missing: a signature for another domain would move other money, such as a balance at Circle Gateway.
 */
export function checkExtra(extra: unknown, { chainId, usdc }: PaidToken): SkipReason | null {
  if (extra === undefined || extra === null) return null
  if (!isObject(extra)) return 'malformed'
  const method = member(extra, 'assetTransferMethod') ?? 'eip3009'
  const type = member(extra, 'primaryType') ?? 'TransferWithAuthorization'
  if (method !== 'eip3009' || type !== 'TransferWithAuthorization') return 'transfer_method_unknown'
  if (FOREIGN_EXTRA.some((name) => (member(extra, name) ?? null) !== null)) return 'extra_unknown'
  if (readFlow(extra) === null) return 'flow_unknown'
  const { name, version } = usdcDomain(chainId, usdc)
  const isOurs = (member(extra, 'name') ?? name) === name && (member(extra, 'version') ?? version) === version
  return isOurs && (member(extra, 'verifyingContract') ?? null) === null ? null : 'domain_unknown'
}

/** Returns the flow, which says when the seller gives its goods. Null for a flow that we do not know. */
export function readFlow(extra: unknown): Offer['flow'] | null {
  const flow = (isObject(extra) ? member(extra, 'paymentFlow') : null) ?? 'authorization'
  return flow === 'authorization' || flow === 'upfront' ? flow : null
}

/** Describes an offer that we cannot pay. `amount` is the name of the member that contains its amount. */
export function skip(offer: JsonObject, amount: string, reason: SkipReason): ReadOffer {
  const [scheme, network, asset] = ['scheme', 'network', 'asset'].map((name) => toWord(member(offer, name)))
  const texts = { scheme: scheme ?? '', network: network ?? '', asset: asset ?? '' }
  return { skipped: { ...texts, amount: toWord(member(offer, amount)), reason } }
}

/** Describes an offer that we could pay, but skip for a reason of our own. */
export function skipOwn({ protocol, amountMicro }: Offer, reason: SkipReason, token: PaidToken): SkippedOffer {
  const scheme = protocol === 'mpp' ? 'evm/charge' : 'exact'
  return { scheme, network: `eip155:${token.chainId}`, asset: token.usdc, amount: String(amountMicro), reason }
}

export function splitOffers(read: readonly ReadOffer[]): { offers: Offer[]; skipped: SkippedOffer[] } {
  return {
    offers: read.flatMap((one) => ('offer' in one ? [one.offer] : [])),
    skipped: read.flatMap((one) => ('skipped' in one ? [one.skipped] : [])),
  }
}
