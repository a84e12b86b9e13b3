import { hash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { answerJson, startFakeServer, type FakeServer } from './fake-server.ts'

/** A signing request as the enclave received it. */
export interface SigningRequest {
  readonly walletId: string
  readonly referenceId: string
  readonly idempotencyKey: string
  readonly expiry: number
  readonly sponsored: boolean
}

/** A request to sign an EIP-3009 authorization, as the enclave received it. */
export interface AuthorizationRequest {
  readonly idempotencyKey: string
  readonly message: Readonly<Record<string, string>>
}

export interface ToldTransaction {
  readonly status: string
  readonly txHash: string | null
  readonly userOperationHash?: string
}

/** A response that replaces the usual one. If `isAccepted`, the enclave accepts the transfer nevertheless. */
export interface OddAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly isAccepted?: boolean
}

/** How the enclave handles a signing request: it signs and responds, or it fails in one of several ways. */
export type Behaviour =
  | 'sign'
  | 'sign without hash'
  | 'sign and lose the answer'
  | 'reject'
  | 'unavailable'
  | 'hang'
  | 'sign when released'
  | OddAnswer

/**
 * An enclave that does not really sign. It responds at once, and makes one transfer for each reference id. A test can
 * make it fail.
 */
export interface FakeEnclave extends FakeServer {
  /** All signing requests so far, in order. */
  readonly requests: SigningRequest[]
  /** All requests to sign an authorization so far, in order. They are no part of `requests`. */
  readonly authorizations: AuthorizationRequest[]
  /** The private keys with which authorizations are signed, by the wallet's address in lower case. */
  readonly walletKeys: Map<string, Hex>
  /** The transaction hash of each accepted transfer, by reference id. */
  readonly accepted: Map<string, string>
  /** The path of each request that created a key quorum or a policy, in order. */
  readonly created: string[]
  /** By reference id: what a look-up returns instead of the accepted transaction. */
  readonly told: Map<string, ToldTransaction>
  /** With the behaviour 'sign when released', the enclave waits for this promise. */
  released: Promise<void>
  /** While this is true, every look-up gets a 503. */
  blind: boolean
  /** The number of look-ups by reference id that the enclave has responded to. */
  lookUps: number
  /** Returns the behaviour for a signing request. */
  behave: (request: SigningRequest) => Behaviour
  /** Returns the time of the enclave's clock, which it sends in `Date` headers. */
  now: () => Date
}

const WALLETS_PATH = '/v1/wallets'
const QUORUMS_PATH = '/v1/key_quorums'
const POLICIES_PATH = '/v1/policies'
const RPC_PATH = /^\/v1\/wallets\/([^/]+)\/rpc$/
const TRANSACTION_PATH = /^\/v1\/transactions\/([^/]+)$/

export async function startFakeEnclave(): Promise<FakeEnclave> {
  const state = {
    requests: [] as SigningRequest[],
    authorizations: [] as AuthorizationRequest[],
    walletKeys: new Map<string, Hex>(),
    accepted: new Map<string, string>(),
    created: [] as string[],
    told: new Map<string, ToldTransaction>(),
    blind: false,
    lookUps: 0,
    released: Promise.resolve(),
    behave: (): Behaviour => 'sign',
    now: () => new Date(),
  } satisfies Omit<FakeEnclave, keyof FakeServer>
  const enclave: Omit<FakeEnclave, keyof FakeServer> = state
  const server = await startFakeServer((request, body, response) => {
    response.setHeader('date', enclave.now().toUTCString())
    const url = new URL(request.url ?? '/', 'http://enclave')
    if (url.pathname === WALLETS_PATH) {
      answerJson(response, createWallet(body))
      return
    }
    if (url.pathname === QUORUMS_PATH || url.pathname === POLICIES_PATH) {
      enclave.created.push(url.pathname)
      answerJson(response, { ...(JSON.parse(body) as object), id: randomBytes(12).toString('hex') })
      return
    }
    const walletId = RPC_PATH.exec(url.pathname)?.[1]
    if (walletId !== undefined && body.includes('"eth_signTypedData_v4"')) {
      const key = String(request.headers['privy-idempotency-key'])
      void answerAuthorization(enclave, { walletId, key, body }, response)
      return
    }
    if (walletId !== undefined) {
      const { reference_id: referenceId, sponsor } = JSON.parse(body) as { reference_id: unknown; sponsor: unknown }
      const signing = {
        walletId,
        referenceId: String(referenceId),
        sponsored: sponsor === true,
        idempotencyKey: String(request.headers['privy-idempotency-key']),
        expiry: Number(request.headers['privy-request-expiry']),
      }
      enclave.requests.push(signing)
      answerSigning(enclave, signing, response)
      return
    }
    if (enclave.blind) {
      answerJson(response, { error: 'unavailable' }, 503)
      return
    }
    const reference = url.searchParams.get('reference_id')
    if (reference !== null) {
      enclave.lookUps += 1
      const transaction = findTransaction(enclave, reference)
      answerJson(response, { transactions: transaction === null ? [] : [transaction] })
      return
    }
    const transactionId = TRANSACTION_PATH.exec(url.pathname)?.[1]
    const found = [...enclave.accepted.keys()].find((accepted) => toTransactionId(accepted) === transactionId)
    if (found === undefined) answerJson(response, { error: 'not found' }, 404)
    else answerJson(response, findTransaction(enclave, found))
  })
  return Object.assign(enclave, server)
}

/** Creates a wallet with the owner and the signers that the request names, for any caller. */
function createWallet(body: string) {
  return {
    additional_signers: [],
    ...(JSON.parse(body) as object),
    id: randomBytes(12).toString('hex'),
    address: `0x${randomBytes(20).toString('hex')}`,
  }
}

function answerSigning(
  enclave: Omit<FakeEnclave, keyof FakeServer>,
  request: SigningRequest,
  response: ServerResponse,
): void {
  const behaviour = enclave.behave(request)
  if (behaviour === 'hang') return
  if (behaviour === 'sign when released') {
    void enclave.released.then(() => answerSigning({ ...enclave, behave: () => 'sign' }, request, response))
    return
  }
  if (behaviour === 'unavailable') {
    answerJson(response, { error: 'unavailable' }, 503)
    return
  }
  if (behaviour === 'reject') {
    answerJson(response, { error: 'RPC request denied due to policy violation', code: 'policy_violation' }, 400)
    return
  }
  if (typeof behaviour === 'object') {
    if (behaviour.isAccepted === true) enclave.accepted.set(request.referenceId, toHash(request.referenceId))
    for (const [name, value] of Object.entries(behaviour.headers ?? {})) response.setHeader(name, value)
    answerJson(response, behaviour.body, behaviour.status)
    return
  }
  if (enclave.accepted.has(request.referenceId)) {
    answerJson(response, { error: 'reference_id must be unique', code: 'invalid_data' }, 400)
    return
  }
  const txHash = toHash(request.referenceId)
  enclave.accepted.set(request.referenceId, txHash)
  if (behaviour === 'sign and lose the answer') {
    response.destroy()
    return
  }
  const data = {
    hash: behaviour === 'sign without hash' ? '' : txHash,
    caip2: 'eip155:84532',
    transaction_id: toTransactionId(request.referenceId),
    reference_id: request.referenceId,
  }
  answerJson(response, { method: 'eth_sendTransaction', data })
}

/**
 * Signs an authorization with the wallet's key, or fails as `behave` says. It also signs an authorization that it has
 * signed before, and does not check the policy.
 */
async function answerAuthorization(
  enclave: Omit<FakeEnclave, keyof FakeServer>,
  { walletId, key, body }: { walletId: string; key: string; body: string },
  response: ServerResponse,
): Promise<void> {
  const { params } = JSON.parse(body) as { params: { typed_data: TypedData } }
  const { domain, types, primary_type: primaryType, message } = params.typed_data
  enclave.authorizations.push({ idempotencyKey: key, message })
  const behaviour = enclave.behave({ walletId, referenceId: '', idempotencyKey: key, expiry: 0, sponsored: false })
  if (behaviour === 'sign when released') await enclave.released
  if (behaviour === 'hang') return
  if (behaviour === 'unavailable' || behaviour === 'sign and lose the answer') {
    response.destroy()
    return
  }
  if (behaviour === 'reject') {
    answerJson(response, { error: 'RPC request denied due to policy violation', code: 'policy_violation' }, 400)
    return
  }
  if (typeof behaviour === 'object') {
    answerJson(response, behaviour.body, behaviour.status)
    return
  }
  const walletKey = enclave.walletKeys.get(String(message['from']).toLowerCase())
  if (walletKey === undefined) throw new Error('the fake enclave has no key of this wallet')
  const signature = await privateKeyToAccount(walletKey).signTypedData({ domain, types, primaryType, message })
  answerJson(response, { method: 'eth_signTypedData_v4', data: { signature, encoding: 'hex' } })
}

interface TypedData {
  readonly domain: {
    readonly name: string
    readonly version: string
    readonly chainId: number
    readonly verifyingContract: Hex
  }
  readonly types: Record<string, { name: string; type: string }[]>
  readonly primary_type: string
  readonly message: Readonly<Record<string, string>>
}

function toHash(referenceId: string): string {
  return `0x${hash('sha256', referenceId, 'hex')}`
}

function toTransactionId(referenceId: string): string {
  return `tx${hash('sha256', `id:${referenceId}`, 'hex').slice(0, 22)}`
}

function findTransaction(enclave: Omit<FakeEnclave, keyof FakeServer>, referenceId: string) {
  const accepted = enclave.accepted.get(referenceId)
  const told = enclave.told.get(referenceId)
  if (accepted === undefined && told === undefined) return null
  return {
    id: toTransactionId(referenceId),
    wallet_id: 'wallet',
    caip2: 'eip155:84532',
    status: told?.status ?? 'broadcasted',
    transaction_hash: told === undefined ? accepted : told.txHash,
    user_operation_hash: told?.userOperationHash,
    created_at: 0,
    reference_id: referenceId,
  }
}
