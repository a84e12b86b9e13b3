import type { PaymentRequired, SellerWords, SkipReason } from './payment-required.ts'
import {
  checkExtra,
  readAmount,
  readFlow,
  readPayee,
  skip,
  splitOffers,
  VALID_SECONDS_MIN,
  type AcceptedMoney,
  type ReadOffer,
} from './read-offer.ts'
import {
  OFFER_BODY_BYTES_MAX,
  decodeBase64,
  IDENTIFIER_EXTENSION,
  isObject,
  member,
  OFFERS_MAX,
  parseExactObject,
  parseObject,
  textMember,
  toDescription,
  toWord,
  type JsonObject,
} from './wire-values.ts'
import { findChain } from '../values/chains.ts'

/** How the two versions of x402 name the same things. */
const VERSIONS = {
  x402_v2: { number: 2, amount: 'amount', networkOf: (chainId: number): string | undefined => `eip155:${chainId}` },
  x402_v1: {
    number: 1,
    amount: 'maxAmountRequired',
    networkOf: (chainId: number): string | undefined => findChain(chainId)?.x402Name,
  },
} as const

type Version = keyof typeof VERSIONS

/** Reads version 2, which is in the header `PAYMENT-REQUIRED`. Null if the header is missing or not valid. */
export function readX402V2(header: unknown, money: AcceptedMoney): PaymentRequired | null {
  const text = typeof header === 'string' ? decodeBase64(header) : null
  return text === null ? null : readAccepts(text, { version: 'x402_v2', money })
}

/** Reads version 1, which is in the body. Null if the body is something else. */
export function readX402V1(body: Buffer, money: AcceptedMoney): PaymentRequired | null {
  return body.length > OFFER_BODY_BYTES_MAX ? null : readAccepts(body.toString('utf8'), { version: 'x402_v1', money })
}

function readAccepts(
  text: string,
  { version, money }: { version: Version; money: AcceptedMoney },
): PaymentRequired | null {
  const required = parseObject(text)
  if (required === null || member(required, 'x402Version') !== VERSIONS[version].number) return null
  const accepts = member(required, 'accepts')
  if (!Array.isArray(accepts)) return null
  const exact = parseExactObject(text)
  const about = aboutOf(accepts[0], { version, required })
  const read = accepts
    .slice(0, OFFERS_MAX)
    .map((accept: unknown, index) => readAccept(accept, { version, money, required, exact, index }))
  return {
    protocol: version,
    ...readWords(about),
    ...splitOffers(read),
    unread: Math.max(accepts.length - OFFERS_MAX, 0),
  }
}

function readWords(about: JsonObject): SellerWords {
  return {
    description: toDescription(member(about, 'description')),
    mimeType: toWord(member(about, 'mimeType')) || null,
  }
}

/** What is known beside an entry of `accepts`. */
interface Accepts {
  readonly version: Version
  readonly money: AcceptedMoney
  readonly required: JsonObject
  /** The same as `required`, to be repeated to the seller. */
  readonly exact: JsonObject
  /** The index of the entry. */
  readonly index: number
}

function readAccept(accept: unknown, { version, money, required, exact, index }: Accepts): ReadOffer {
  const { amount } = VERSIONS[version]
  if (!isObject(accept)) return skip({}, amount, 'malformed')
  const reason =
    checkScheme(accept, version, money) ??
    checkExtra(member(accept, 'extra'), money) ??
    checkExtensions(member(required, 'extensions'))
  if (reason !== null) return skip(accept, amount, reason)
  const payTo = readPayee(member(accept, 'payTo'), money.usdc)
  if (payTo === null) return skip(accept, amount, 'recipient_invalid')
  const amountMicro = readAmount(member(accept, amount))
  if (amountMicro === null) return skip(accept, amount, 'amount_invalid')
  const validFor = member(accept, 'maxTimeoutSeconds')
  if (typeof validFor !== 'number' || !Number.isFinite(validFor)) return skip(accept, amount, 'malformed')
  if (validFor < VALID_SECONDS_MIN) return skip(accept, amount, 'offer_too_short')
  const extra = member(accept, 'extra')
  return {
    offer: {
      ...{ protocol: version, amountMicro, payTo, flow: readFlow(extra) ?? 'authorization' },
      ...readWords(aboutOf(accept, { version, required })),
      ...{ validForSeconds: Math.floor(validFor), terms: null },
      echo: version === 'x402_v1' ? echoV1(accept) : echoV2(exact, index),
    },
  }
}

/** Returns the object that describes the resource: in version 1 the entry of `accepts`, in version 2 one for all. */
function aboutOf(accept: unknown, { version, required }: { version: Version; required: JsonObject }): JsonObject {
  const about = version === 'x402_v1' ? accept : member(required, 'resource')
  return isObject(about) ? about : {}
}

/** Checks the scheme, chain and token of an entry of `accepts`. Returns why we cannot pay it, or null if we can. */
function checkScheme(accept: JsonObject, version: Version, { chainId, usdc }: AcceptedMoney): SkipReason | null {
  if (member(accept, 'scheme') !== 'exact') return 'scheme_unknown'
  const network = VERSIONS[version].networkOf(chainId)
  if (network === undefined || member(accept, 'network') !== network) return 'network_unknown'
  return textMember(accept, 'asset')?.toLowerCase() === usdc.toLowerCase() ? null : 'asset_unknown'
}

/**
 * Returns why we cannot pay, if the seller requires an extension that we do not support, such as a signature that proves
 * who pays. The seller would get a payment, and refuse to deliver.
 */
function checkExtensions(extensions: unknown): SkipReason | null {
  const isRequired = ([name, extension]: readonly [string, unknown]): boolean => {
    if (name === IDENTIFIER_EXTENSION || !isObject(extension)) return false
    const info = member(extension, 'info')
    return member(extension, 'required') === true || (isObject(info) && member(info, 'required') === true)
  }
  return isObject(extensions) && Object.entries(extensions).some(isRequired) ? 'extension_required' : null
}

/** Version 2 repeats the entry of `accepts` unchanged, because the seller's server compares it with its own entry. */
function echoV2(exact: JsonObject, index: number): unknown {
  const [accepts, resource, extensions] = ['accepts', 'resource', 'extensions'].map((name) => member(exact, name))
  return {
    accepted: Array.isArray(accepts) ? (accepts[index] as unknown) : null,
    ...(isObject(resource) ? { resource } : {}),
    ...(isObject(extensions) ? { extensions } : {}),
  }
}

function echoV1(accept: JsonObject): unknown {
  return { scheme: member(accept, 'scheme'), network: member(accept, 'network') }
}
