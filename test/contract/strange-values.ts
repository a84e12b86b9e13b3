import { Ajv } from 'ajv'
import fc from 'fast-check'
import { parseIdempotencyKey } from '../../server/src/api/parse-payment.ts'
import { parseReceived, parsePurchaseTerms } from '../../server/src/api/parse-purchase.ts'
import { PayResourceBody } from '../../server/src/api/purchase-schemas.ts'
import { parseBalance } from '../../server/src/chain/balance-reader.ts'
import { parseReceipt, parseTransfer } from '../../server/src/chain/parse-receipt.ts'
import { parseQuantity } from '../../server/src/chain/quantity.ts'
import { parseBlockHeader } from '../../server/src/chain/block-header.ts'
import { parseTransferLogs } from '../../server/src/chain/transfer-log.ts'
import { TRANSFER_TOPIC } from '../../server/src/chain/transfer-event.ts'
import { numberTransfers } from '../../server/src/domain/deposits/deposit.ts'
import { parseLink, parseNoteText } from '../../server/src/domain/payment-notes/payment-note.ts'
import { describeResource } from '../../server/src/domain/purchases/describe-resource.ts'
import { parseResolutionNote } from '../../server/src/domain/purchases/resolution.ts'
import { readRequest } from '../../server/src/domain/purchases/read-request.ts'
import { parseDeviceName } from '../../server/src/domain/sessions/session.ts'
import { parseEnclaveId, parseTxHash } from '../../server/src/enclave/privy/transactions.ts'
import { RESPONSE_BYTES_MAX } from '../../server/src/jobs/deliver-webhook.ts'
import { checkDocumentUrl, checkWebhookUrl } from '../../server/src/lib/outbound/check-url.ts'
import { checkAuthorization } from '../../server/src/oauth/authorization-steps.ts'
import { toClientName } from '../../server/src/oauth/client-name.ts'
import { parseParameters } from '../../server/src/oauth/parameters.ts'
import { parseRedirectUri } from '../../server/src/oauth/redirect-uri.ts'
import { parseAddress } from '../../server/src/values/address.ts'
import { parseAgentId } from '../../server/src/values/agent-id.ts'
import { CATEGORY_CODE_POINTS_MAX, NOTE_CODE_POINTS_MAX } from '../../server/src/values/limits.ts'
import { parseAmount } from '../../server/src/values/money.ts'
import { parseName } from '../../server/src/values/name.ts'
import { SCOPES } from '../../server/src/values/scope.ts'
import { readX402V2 } from '../../server/src/x402/read-x402.ts'
import { readReceipt as readSellerReceipt } from '../../server/src/x402/signed-statements.ts'
import { ANY_CHARACTER } from '../support/any-character.ts'
import { anyUrl } from '../support/any-url.ts'

/**
 * What strangers send, and what the service's parsers let through of it. A value that a parser accepts must fit into its
 * column: otherwise storing it fails, perhaps after something has happened that cannot be undone.
 */

type Values = readonly unknown[] | Promise<readonly unknown[]>

const SAMPLES = { seed: 20_261_127, numRuns: 300 }
const ADDRESS = `0x${'ab'.repeat(20)}`
const HASH = `0x${'cd'.repeat(32)}`
const WORD = `0x${'0'.repeat(24)}${'ab'.repeat(20)}`
const POLICY = { allowLoopback: true, ownOrigins: [] }
const MONEY = { chainId: 84532, usdc: parse(parseAddress, `0x${'12'.repeat(20)}`), now: new Date(0) }

/** Lengths around the limits of columns and parsers. */
const LENGTHS = [1, 43, 64, 65, 100, 101, 200, 201, 253, 254, 261, 262, 1_000, 2_048, 2_049, 4_096, 4_097]
const CHARACTERS = ['a', 'é', '✓', '𝒳', '👩‍👧', '\u0000', '\ud800', '\udc00', '\u202e', '\u200d', ' ', '\n', '%', '"']
const TEXTS: readonly string[] = [
  '',
  ...CHARACTERS.flatMap((character) => LENGTHS.map((length) => character.repeat(length))),
  ...CHARACTERS.map((character) => `a${character}b`),
  ...fc.sample(fc.string({ unit: ANY_CHARACTER, maxLength: 300 }), SAMPLES),
]
const NUMBERS = [
  0n,
  1n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 256n - 1n,
]
const QUANTITIES = NUMBERS.map((number) => `0x${number.toString(16)}`)
const HEXES = [HASH, HASH.toUpperCase().replace('0X', '0x'), ADDRESS, '0x', `${HASH}00`, `${HASH}\u0000`, '']
const AMOUNTS = ['0.01', '1', '999999999999.999999', '9'.repeat(15), '9'.repeat(16), '9'.repeat(30), '0.0000001', '1e9']
const URLS: readonly string[] = [
  ...LENGTHS.flatMap((length) => [
    `https://${'a'.repeat(length)}.example/`,
    `https://a.example/${'a'.repeat(length)}`,
    `https://a.example/${'é'.repeat(length)}`,
    `https://${`${'a'.repeat(60)}.`.repeat(Math.ceil(length / 61))}example:8443/`,
    `https://${'é'.repeat(length)}.example/`,
    `http://${'a'.repeat(length)}.localhost:65535/`,
  ]),
  'https://a.example/%00',
  'https://a.example/\u0000',
  'https://a.example/\ud800',
  'https://[2606:4700::1]:8443/a?b#c',
  ...fc.sample(anyUrl({ withQuery: true }), SAMPLES),
]

const texts =
  (accept: (text: string) => unknown): (() => unknown[]) =>
  () =>
    keep(TEXTS, accept)
const names = texts(parseName)
const agentIds = texts(parseAgentId)
const addresses = (): unknown[] => keep([ADDRESS, ADDRESS.toUpperCase().replace('0X', '0x'), ...HEXES], parseAddress)
const amounts = (): unknown[] => keep(AMOUNTS, parseAmount)
const counts = (): unknown[] => keep(QUANTITIES, (quantity) => parseQuantity(quantity))
const hashes = (): unknown[] => keep(HEXES, parseTxHash)
const enclaveIds = texts(parseEnclaveId)
const redirectUris = (): unknown[] => keep(URLS, (url) => parseRedirectUri(url, [])?.text ?? null)
const documentUrls = (): string[] => keep(URLS, hrefOf).map(String)
const resources = (): string[] => [
  ...documentUrls(),
  ...keep(URLS, (url) => readRequest({ url }, POLICY).url).map(String),
  ...keep(URLS, (url) => parseReceived({ payment_required: 'a', resource_url: url }, '').resourceUrl).map(String),
]
const memos = texts((memo) => {
  if (!isMemo(memo)) return null
  const body = { agent_id: 'a', wallet: ADDRESS, max_amount_usdc: '1', memo, idempotency_key: 'a' }
  return parsePurchaseTerms(body, CALLER, 'a').memo
})
const isMemo = new Ajv().compile(PayResourceBody.properties.memo)
const CALLER = { workspaceId: 'a', mode: 'test', credentialId: 'a', agentId: null } as Parameters<
  typeof parsePurchaseTerms
>[1]

/** By column: the values that a stranger can put there, as the parser in front of it returns them. */
export const STRANGE: Readonly<Record<string, () => Values>> = {
  // A seller, or whoever an agent says is a seller. An HTTP status has three digits, and Node accepts all of them.
  'purchases.response_status': () => Array.from({ length: 1_000 }, (_, status) => status),
  'purchases.first_answer': () => TEXTS.flatMap((text) => firstAnswers(text)),
  'purchases.resource_url': () => resources().map((url) => describeResource(url).resourceUrl),
  'purchases.host': () => resources().map((url) => describeResource(url).host),
  'outbound_requests.status': () => Array.from({ length: 1_000 }, (_, status) => status),
  'outbound_requests.host': () => resources().map((url) => new URL(url).host),
  // What a member writes about a purchase.
  'purchases.resolution': texts(parseResolutionNote),
  'purchases.description': texts((description) => readOffer({ description })?.description ?? null),
  'payments.to_address': () => keep([ADDRESS, ...HEXES], (payTo) => readOffer({ payTo })?.payTo ?? null),
  'payments.amount_micro': () => [
    ...amounts(),
    ...keep(AMOUNTS, (amount) => readOffer({ amount })?.amountMicro ?? null),
  ],
  'payment_refusals.resource_url': () => resources().map((url) => describeResource(url).resourceUrl),
  // A caller of the API.
  'payments.memo': memos,
  'payments.idempotency_key': texts((key) => parseIdempotencyKey({ idempotency_key: key })),
  'payments.agent_id': agentIds,
  'payments.amount_usdc': () => AMOUNTS.filter((amount) => parseAmount(amount) !== null),
  'payments.wallet_address': addresses,
  'payment_refusals.agent_id': agentIds,
  'payment_refusals.wallet_address': addresses,
  'payment_refusals.to_address': addresses,
  'payment_refusals.amount_usdc': () => AMOUNTS.filter((amount) => parseAmount(amount) !== null),
  'payment_refusals.memo': memos,
  'payment_refusals.idempotency_key': texts((key) => parseIdempotencyKey({ idempotency_key: key })),
  'agents.id': agentIds,
  // A node.
  'payments.mined_block': () => keep(QUANTITIES, (blockNumber) => readReceipt({ blockNumber })?.blockNumber ?? null),
  'payments.mined_block_hash': () => keep(HEXES, (blockHash) => readReceipt({ blockHash })?.blockHash ?? null),
  'payments.log_index': () => keep(QUANTITIES, (index) => readReceipt({}, index)?.transfers[0]?.logIndex ?? null),
  'payments.gas_wei': () =>
    QUANTITIES.flatMap((effectiveGasPrice) =>
      keep(QUANTITIES, (l1Fee) => readReceipt({ gasUsed: '0xffffff', effectiveGasPrice, l1Fee })?.gasWei ?? null),
    ),
  'payments.sender_nonce': counts,
  'payments.first_block': counts,
  'payments.searched_block': counts,
  'deposits.position': () => readLogs([{}], ({ position }) => position),
  'deposits.block_number': () =>
    readLogs(
      QUANTITIES.map((blockNumber) => ({ blockNumber })),
      ({ blockNumber }) => blockNumber,
    ),
  'deposits.amount_micro': () =>
    readLogs(
      NUMBERS.map((amount) => ({ data: toWord(amount) })),
      ({ amountMicro }) => amountMicro,
    ),
  // The contract may report any uint256.
  'wallet_balances.balance_micro': () => NUMBERS,
  'wallet_balances.block_number': counts,
  'deposits.tx_hash': () =>
    readLogs(
      HEXES.map((transactionHash) => ({ transactionHash })),
      ({ txHash }) => txHash,
    ),
  'deposits.block_hash': () =>
    readLogs(
      HEXES.map((blockHash) => ({ blockHash })),
      ({ blockHash }) => blockHash,
    ),
  'deposits.from_address': () =>
    readLogs(
      [WORD, ...HEXES].map((from) => ({ topics: [TRANSFER_TOPIC, from, toWord(1n)] })),
      ({ from }) => from,
    ),
  'deposit_cursors.block_number': counts,
  'deposit_cursors.reread_block': counts,
  'deposit_cursors.block_hash': () =>
    keep(HEXES, (hash) => parseBlockHeader(1n, { number: '0x1', hash, parentHash: HASH, timestamp: '0x1' }).hash),
  'ledger_cursors.block_number': counts,
  // Block 0 is never the first block of a month.
  'month_blocks.first_block': () => counts().filter((number) => number !== 0n),
  'month_blocks.parent_hash': () =>
    keep(HEXES, (parentHash) => parseBlockHeader(1n, { number: '0x1', hash: HASH, parentHash, timestamp: '0x1' }).hash),
  'month_balances.block_hash': () =>
    keep(HEXES, (parentHash) => parseBlockHeader(1n, { number: '0x1', hash: HASH, parentHash, timestamp: '0x1' }).hash),
  'month_balances.balance_micro': () => keep(NUMBERS.map(toWord), parseBalance),
  'unexplained_transfers.tx_hash': hashes,
  'unexplained_transfers.to_address': addresses,
  'unexplained_transfers.log_index': counts,
  'unexplained_transfers.block_number': counts,
  'unexplained_transfers.amount_micro': () => readSent(NUMBERS),
  // The enclave's provider.
  'payments.tx_hash': hashes,
  'payments.user_operation_hash': hashes,
  'payments.enclave_transaction_id': enclaveIds,
  'wallets.address': addresses,
  'wallets.enclave_wallet_id': enclaveIds,
  'wallets.owner_quorum_id': enclaveIds,
  'wallet_slots.enclave_policy_id': enclaveIds,
  'wallet_slots.signer_id': enclaveIds,
  // An OAuth client.
  'oauth_clients.id': documentUrls,
  'oauth_clients.name': texts(toClientName),
  'authorization_requests.state': () => askEach('state').map(({ state }) => state),
  'authorization_requests.code_challenge': () => askEach('code_challenge').map(({ codeChallenge }) => codeChallenge),
  'authorization_requests.agent_id': () => askEach('agent_id').map(({ agentId }) => agentId),
  'authorization_requests.redirect_uri': redirectUris,
  'authorization_codes.redirect_uri': redirectUris,
  'authorization_codes.code_challenge': () => askEach('code_challenge').map(({ codeChallenge }) => codeChallenge),
  // A receiver of webhooks. Its status has three digits too.
  'delivery_attempts.status_code': () => Array.from({ length: 1_000 }, (_, status) => status),
  'delivery_attempts.response_body': () => [`\\x${'ab'.repeat(RESPONSE_BYTES_MAX)}`],
  // A person.
  'webhook_endpoints.url': () => keep(URLS, (url) => toHref(checkWebhookUrl(url, POLICY))),
  'sessions.device': texts(parseDeviceName),
  'workspaces.name': names,
  'users.name': names,
  'passkeys.name': names,
  'wallet_passkeys.name': names,
  'agents.label': names,
  'wallets.name': names,
  'api_keys.name': names,
  'recipients.label': names,
  'saved_views.name': names,
  'recipients.address': addresses,
  'grants.max_per_tx_micro': amounts,
  'grants.daily_cap_micro': amounts,
  'payment_notes.note': texts((text) => parseNoteText(text, NOTE_CODE_POINTS_MAX)),
  'payment_notes.category': texts((text) => parseNoteText(text, CATEGORY_CODE_POINTS_MAX)),
  'payment_notes.link': () => keep([...URLS, ...TEXTS], (text) => parseLink(text)),
  // An authenticator. Its counter has 32 bits (WebAuthn, section 6.1).
  'passkeys.counter': () => [0, 2 ** 32 - 1],
}

/** Returns what a parser makes of values, without those that it rejects. */
function keep<Value>(values: readonly Value[], accept: (value: Value) => unknown): unknown[] {
  return values.flatMap((value) => {
    try {
      const accepted = accept(value)
      return accepted === null || accepted === undefined ? [] : [accepted]
    } catch {
      return []
    }
  })
}

function hrefOf(url: string): string | null {
  return toHref(checkDocumentUrl(url, POLICY))
}

function toHref(url: URL | string): string | null {
  return typeof url === 'string' ? null : url.href
}

function toWord(number: bigint): string {
  return `0x${number.toString(16).padStart(64, '0')}`
}

function readOffer(change: { readonly description?: string; readonly payTo?: string; readonly amount?: string }) {
  const { description = 'goods', payTo = ADDRESS, amount = '1' } = change
  const accept = { scheme: 'exact', network: 'eip155:84532', asset: MONEY.usdc, maxTimeoutSeconds: 60, payTo, amount }
  const required = { x402Version: 2, resource: { url: 'https://a.example/', description }, accepts: [accept] }
  const read = readX402V2(Buffer.from(JSON.stringify(required)).toString('base64'), MONEY)
  return read?.offers[0] ?? null
}

/** What is kept of a seller's receipt, in x402 and in MPP, as JSON. */
function firstAnswers(signature: string): string[] {
  const settled = { extensions: { 'offer-receipt': { info: { receipt: { format: 'jws', signature } } } } }
  const header = Buffer.from(JSON.stringify(settled)).toString('base64')
  const receipts = [
    readSellerReceipt('x402_v2', { 'payment-response': header }),
    readSellerReceipt('mpp', { 'payment-receipt': signature }),
  ]
  return receipts.flatMap((receipt) => (receipt === null ? [] : [JSON.stringify({ receipt: receipt.text })]))
}

function readReceipt(change: Readonly<Record<string, unknown>>, logIndex = '0x0') {
  const log = { address: ADDRESS, topics: [TRANSFER_TOPIC, WORD, WORD], data: toWord(1n), logIndex }
  const receipt = {
    transactionHash: HASH,
    from: ADDRESS,
    status: '0x1',
    logs: [log],
    blockNumber: '0x1',
    blockHash: HASH,
  }
  return parseReceipt(HASH as `0x${string}`, { ...receipt, ...change })
}

type Logged = ReturnType<typeof numberTransfers>[number]

async function readLogs(
  changes: readonly Readonly<Record<string, unknown>>[],
  pick: (log: Logged) => unknown,
): Promise<readonly unknown[]> {
  const place = { transactionHash: HASH, blockHash: HASH, blockNumber: '0x1', logIndex: '0x0' }
  const log = { address: ADDRESS, topics: [TRANSFER_TOPIC, WORD, toWord(1n)], data: toWord(1n), ...place }
  const contract = parse(parseAddress, ADDRESS)
  const request = { contract, from: 0n, to: 2n ** 256n, recipients: null, hashes: new Map() }
  const read = await Promise.allSettled(
    changes.map(async (change) => await parseTransferLogs(request, [{ ...log, ...change }])),
  )
  return read.flatMap((result) => (result.status === 'fulfilled' ? numberTransfers(result.value).map(pick) : []))
}

/** Returns the amounts of transfers out of a wallet, as a receipt and a search have them. The service ignores zero. */
function readSent(amounts: readonly bigint[]): unknown[] {
  const log = { address: ADDRESS, topics: [TRANSFER_TOPIC, WORD, WORD] }
  return amounts
    .flatMap((amount) => {
      return parseTransfer({ ...log, data: toWord(amount) }).map(({ amountMicro }) => amountMicro)
    })
    .filter((amount) => amount > 0n)
}

/** Sends hostile values of one parameter of an authorization request. Returns the requests that are accepted. */
function askEach(parameter: string): ReturnType<typeof checkAuthorization>[] {
  const valid = {
    ...{ response_type: 'code', state: 'a', code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' },
  }
  const origins = { baseUrl: 'https://a.example', authUrl: 'https://a.example' } as Parameters<
    typeof checkAuthorization
  >[0]['origins']
  const client = { scopes: SCOPES }
  const ask = (text: string): ReturnType<typeof checkAuthorization> => {
    const query = Object.entries({ ...valid, [parameter]: text }).map(
      ([name, value]) => `${name}=${encodeURIComponent(value)}`,
    )
    return checkAuthorization({ parameters: parseParameters(Buffer.from(query.join('&'))), client, origins })
  }
  return keep([...TEXTS, 'A'.repeat(43)], ask) as ReturnType<typeof checkAuthorization>[]
}

function parse<Value>(parser: (text: string) => Value | null, text: string): Value {
  const value = parser(text)
  if (value === null) throw new Error(`${text} is not valid`)
  return value
}
