import { keccak256, stringToBytes } from 'viem/utils'
import { checkParameters } from './challenge-parameters.ts'
import { parseChallenges, type Challenge } from './parse-challenges.ts'
import type { PaymentRequired, SellerWords, SkipReason } from './payment-required.ts'
import {
  readAmount,
  readPayee,
  skip,
  splitOffers,
  VALID_SECONDS_MIN,
  type AcceptedMoney,
  type PayingRequest,
  type ReadOffer,
} from './read-offer.ts'
import {
  HEADER_CHARS_MAX,
  isObject,
  member,
  OFFERS_MAX,
  parseObject,
  textMember,
  toDescription,
  type JsonObject,
} from './wire-values.ts'

/** A challenge must end within this time from now, because the authorization that pays it is valid until that end. */
const CHALLENGE_SECONDS_MAX = 300
const DECIMALS = 6
/** A time with its time zone. `Date.parse` alone would accept other texts too (RFC 3339, section 5.6). */
const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

/** Reads the challenges of MPP, in the header `WWW-Authenticate` (D70). Null if the header has none. */
export function readChallenges(header: unknown, money: AcceptedMoney, { body }: PayingRequest): PaymentRequired | null {
  if (typeof header !== 'string' || header.length > HEADER_CHARS_MAX) return null
  const challenges = parseChallenges(header).filter(({ scheme }) => scheme === 'payment')
  const [first] = challenges
  if (first === undefined) return null
  return {
    protocol: 'mpp',
    ...readWords(first),
    ...splitOffers(challenges.slice(0, OFFERS_MAX).map((challenge) => readChallenge(challenge, { money, body }))),
    unread: Math.max(challenges.length - OFFERS_MAX, 0),
  }
}

function readWords({ parameters }: Challenge): SellerWords {
  return { description: toDescription(parameters.get('description')), mimeType: null }
}

function readChallenge(
  challenge: Challenge,
  { money, body }: { readonly money: AcceptedMoney } & Pick<PayingRequest, 'body'>,
): ReadOffer {
  const { parameters } = challenge
  const [id, realm, method, intent] = ['id', 'realm', 'method', 'intent'].map((name) => parameters.get(name) ?? '')
  const request = parseObject(Buffer.from(parameters.get('request') ?? '', 'base64url').toString('utf8')) ?? {}
  const shown = { ...request, scheme: `${method}/${intent}`, asset: member(request, 'currency') }
  const reason = id && realm ? checkRequest(request, { method, intent, money }) : 'malformed'
  const refusal = reason ?? checkParameters(parameters, { request, body })
  if (refusal !== null) return skip(shown, 'amount', refusal)
  const payTo = readPayee(member(request, 'recipient'), money.usdc)
  if (payTo === null) return skip(shown, 'amount', 'recipient_invalid')
  const amountMicro = readAmount(member(request, 'amount'))
  if (amountMicro === null) return skip(shown, 'amount', 'amount_invalid')
  const end = readEnd(parameters.get('expires'), money.now)
  if (typeof end === 'string') return skip(shown, 'amount', end)
  return {
    offer: {
      ...{ protocol: 'mpp', amountMicro, payTo, flow: 'authorization', validForSeconds: null },
      ...readWords(challenge),
      terms: { nonce: keccak256(stringToBytes(`${id}${realm}`)), validBefore: end },
      echo: Object.fromEntries(parameters),
    },
  }
}

/**
 * Checks the method, chain, token and way of paying of a challenge. Returns why we cannot pay it, or null if we can.
 */
function checkRequest(
  request: JsonObject,
  { method, intent, money }: { method: string | undefined; intent: string | undefined; money: AcceptedMoney },
): SkipReason | null {
  if (method !== 'evm' || intent !== 'charge') return 'scheme_unknown'
  const details = member(request, 'methodDetails')
  if (!isObject(details)) return 'malformed'
  if (member(details, 'chainId') !== money.chainId) return 'network_unknown'
  const currency = textMember(request, 'currency')
  if (currency?.toLowerCase() !== money.usdc.toLowerCase()) return 'asset_unknown'
  if ((member(details, 'decimals') ?? DECIMALS) !== DECIMALS) return 'amount_invalid'
  const types = member(details, 'credentialTypes')
  if (!Array.isArray(types) || !types.includes('authorization')) return 'transfer_method_unknown'
  const splits = member(details, 'splits') ?? []
  return Array.isArray(splits) && splits.length === 0 ? null : 'split_unsupported'
}

function readEnd(expires: string | undefined, now: Date): Date | SkipReason {
  const time = expires !== undefined && TIME_PATTERN.test(expires) ? Date.parse(expires) : Number.NaN
  if (Number.isNaN(time)) return 'malformed'
  const end = new Date(Math.floor(time / 1_000) * 1_000)
  const seconds = (end.getTime() - now.getTime()) / 1_000
  if (seconds > CHALLENGE_SECONDS_MAX) return 'challenge_too_long'
  return seconds < VALID_SECONDS_MIN ? 'offer_too_short' : end
}
