import type { Decoded } from '../decode/request.ts'
import type { WalletRecord } from '../decode/record.ts'
import type { Transfer } from '../decode/transfer.ts'
import type { TransferAuthorization } from '../decode/typed-data.ts'
import type { Claims } from '../read-message.ts'
import type { Remembered } from '../remembered-requests.ts'
import { describeOwners, type KnownKeys } from './describe-owners.ts'
import { describeEnd, describeTerms } from './describe-terms.ts'
import type { Description, Fact } from './description.ts'
import { formatChain, formatTime, formatTokenAmount, isUsdc } from './format.ts'
import { nameAddress } from './name-address.ts'

const TIME_SECONDS_MAX = 8_640_000_000_000n

/** What this page knows beside the bytes that are signed. */
export interface DescribeContext {
  readonly record: WalletRecord
  readonly claims: Claims
  readonly keys: KnownKeys
  /** What was signed last in this browser for the same policy or list of owners. */
  readonly remembered: Remembered | null
}

/** Describes a decoded request in words and figures. */
export function describe(decoded: Decoded, { record, claims, keys, remembered }: DescribeContext): Description {
  switch (decoded.kind) {
    case 'record':
      return describeRecord(decoded.record)
    case 'policy':
      return decoded.terms === null
        ? describeEnd({ record, claims, remembered })
        : describeTerms(decoded.terms, { record, claims, remembered })
    case 'transfer':
      return describeTransfer(decoded.transfer, claims)
    case 'authorization':
      return describeAuthorization(decoded.authorization, claims)
    case 'owners':
      return describeOwners(decoded.publicKeys, { record, claims, keys, remembered })
    case 'signers':
      return describeSigners(decoded.slots.length, record)
  }
}

function describeRecord({ address, policies }: WalletRecord): Description {
  const grants = policies.length === 1 ? '1 grant' : `${policies.length} grants`
  return {
    title: 'Confirm a wallet',
    summary:
      'You confirm that this is the address of your wallet. Sign only if you have just created or moved this wallet, or have just added your passkey to it.',
    facts: [fact('Wallet', address), fact('At the same time', `at most ${grants}`)],
    warnings: [],
    notes: [
      {
        headline: 'this page checks later requests against it',
        text: 'Before every later signature for this wallet, this page checks that the request is for this address.',
      },
    ],
    button: 'Confirm the wallet',
  }
}

function describeTransfer({ chainId, token, from, to, amount }: Transfer, claims: Claims): Description {
  return {
    title: 'Withdraw from the wallet',
    summary: `Sends ${formatTokenAmount(amount, chainId, token)} from the wallet now. This signature allows a single transfer.`,
    facts: [
      { label: 'To', lines: [nameAddress(to, claims)] },
      fact('Amount', formatTokenAmount(amount, chainId, token)),
      fact('Network', formatChain(chainId)),
      ...tokenFacts(chainId, token),
      fact('From wallet', from),
    ],
    warnings: tokenWarnings(chainId, token),
    button: 'Sign the withdrawal',
  }
}

function describeAuthorization(authorization: TransferAuthorization, claims: Claims): Description {
  const { chainId, token, from, to, amount, validAfter, validBefore } = authorization
  return {
    title: 'Authorize one transfer',
    summary: `Lets anybody who has this signature send ${formatTokenAmount(amount, chainId, token)} from the wallet to this recipient, once.`,
    facts: [
      fact('Amount', formatTokenAmount(amount, chainId, token)),
      { label: 'To', lines: [nameAddress(to, claims)] },
      fact('From wallet', from),
      fact('Network', formatChain(chainId)),
      fact('After', formatSeconds(validAfter) ?? 'never'),
      fact('Before', formatSeconds(validBefore) ?? 'without an end'),
      ...tokenFacts(chainId, token),
    ],
    warnings: [
      ...(formatSeconds(validBefore) === null ? ['The authorization has no end date.'] : []),
      ...tokenWarnings(chainId, token),
    ],
    button: 'Sign the authorization',
  }
}

function describeSigners(usable: number, { address, policies }: WalletRecord): Description {
  return {
    title: 'Change which slots of the wallet can be used',
    summary: `After this, ${usable} of the wallet's ${policies.length} slots can be used. A slot holds one grant.`,
    facts: [
      fact('Wallet', address),
      fact('Slots that can be used', String(usable)),
      fact('Slots that can no longer be used', String(policies.length - usable)),
    ],
    warnings: [],
    button: 'Sign the change',
  }
}

function fact(label: string, text: string): Fact {
  return { label, lines: [{ text }] }
}

function tokenFacts(chainId: bigint, token: string): readonly Fact[] {
  return isUsdc(chainId, token) ? [] : [fact('Token contract', token)]
}

function tokenWarnings(chainId: bigint, token: string): readonly string[] {
  return isUsdc(chainId, token)
    ? []
    : ['The token is not the USDC that this page knows. The amount is shown with 6 decimals.']
}

/** Returns null if the time is later than a `Date` can be. */
function formatSeconds(seconds: bigint): string | null {
  return seconds > TIME_SECONDS_MAX ? null : formatTime(new Date(Number(seconds) * 1_000))
}
