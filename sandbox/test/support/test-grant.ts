import { randomUUID } from 'node:crypto'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import type { Address } from 'viem'
import { createSoftwarePasskey } from '../../src/software-passkey.ts'
import type { SoftwarePasskey } from '../../src/software-passkey.ts'
import type { PolicyRecord, SignerRecord, WalletRecord } from '../../src/enclave/records.ts'
import type { CreatePolicyBody, UpdateWalletBody } from '../../src/enclave/schemas.ts'
import { loadSdk } from './test-client.ts'
import type { SendAnswer, SendParams } from './test-client.ts'
import { APP_ID, CAIP2 } from './test-enclave.ts'
import type { TestEnclave } from './test-enclave.ts'

const PAYEE: Address = '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B'
export const CHAIN_ID = 84532
const EXPIRY_MS = 15 * 60 * 1000
const ABI = parseAbi(['function transfer(address to, uint256 amount) returns (bool)'])

export interface KeyPair {
  readonly publicKey: string
  readonly privateKey: string
}

/**
 * A wallet that a passkey owns, and an agent. The owner has signed a grant: the agent's signer at the enclave may
 * transfer up to `maxMicro` at a time from the wallet to `PAYEE`.
 */
export interface TestGrant {
  readonly passkey: SoftwarePasskey
  readonly wallet: WalletRecord
  readonly policy: PolicyRecord
  readonly signer: SignerRecord
  readonly agent: KeyPair
}

export async function openGrant(enclave: TestEnclave, usdc: Address, maxMicro = 5_000_000n): Promise<TestGrant> {
  const { client } = enclave
  const passkey = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:4101' })
  const agent = await loadSdk().generateP256KeyPair()
  const quorum = await client.keyQuorums().create({ public_keys: [agent.publicKey], authorization_threshold: 1 })
  const wallet = await client.wallets().create({
    chain_type: 'ethereum',
    owner: { public_key: passkey.publicKeySpki },
    idempotency_key: randomUUID(),
  })
  const policy = await client.policies().create({ ...formatPolicy(usdc, maxMicro), owner_id: wallet.owner_id })
  const signer = { signer_id: quorum.id, override_policy_ids: [policy.id] }
  const granted = await signedUpdate(enclave, { wallet, passkey, body: { additional_signers: [signer] } })
  return { passkey, wallet: granted, policy, signer, agent }
}

/** Changes a wallet. The owner's passkey signs the exact request (D15). */
export async function signedUpdate(
  enclave: TestEnclave,
  { wallet, passkey, body }: { wallet: WalletRecord; passkey: SoftwarePasskey; body: UpdateWalletBody },
): Promise<WalletRecord> {
  const expiry = Date.now() + EXPIRY_MS
  const signature = assertRequest(passkey, {
    method: 'PATCH',
    url: `${enclave.url}/v1/wallets/${wallet.id}`,
    body,
    expiry,
  })
  return await enclave.client.wallets().update(wallet.id, {
    ...body,
    request_expiry: expiry,
    authorization_context: { signatures: [signature] },
  })
}

/** Returns the signature header with which a passkey authorizes a request. */
export function assertRequest(
  passkey: SoftwarePasskey,
  { method, url, body, expiry }: { method: string; url: string; body: unknown; expiry?: number },
): string {
  const payload = loadSdk().formatRequestForAuthorizationSignature({
    version: 1,
    method,
    url,
    body,
    headers: { 'privy-app-id': APP_ID, ...(expiry === undefined ? {} : { 'privy-request-expiry': String(expiry) }) },
  })
  const { authenticatorData, clientDataJSON, signature } = passkey.assert(payload).response
  return `webauthn:${authenticatorData}:${clientDataJSON}:${signature}`
}

export interface TransferInput {
  readonly amountMicro?: bigint
  readonly to?: Address
  readonly referenceId?: string
  readonly idempotencyKey?: string
  readonly sponsor?: boolean
  readonly privateKeys?: readonly string[]
  readonly expiry?: number
}

export async function transfer(
  enclave: TestEnclave,
  { wallet, agent }: Pick<TestGrant, 'wallet' | 'agent'>,
  usdc: Address,
  input: TransferInput = {},
): Promise<SendAnswer> {
  const params: SendParams = {
    ...formatTransfer(usdc, input),
    idempotency_key: input.idempotencyKey ?? randomUUID(),
    authorization_context: { authorization_private_keys: input.privateKeys ?? [agent.privateKey] },
    ...(input.expiry === undefined ? {} : { request_expiry: input.expiry }),
  }
  return await enclave.client.wallets().ethereum().sendTransaction(wallet.id, params)
}

export function formatTransfer(usdc: Address, input: TransferInput) {
  const data = encodeFunctionData({ abi: ABI, args: [input.to ?? PAYEE, input.amountMicro ?? 1_000_000n] })
  return {
    caip2: CAIP2,
    sponsor: input.sponsor ?? true,
    reference_id: input.referenceId ?? randomUUID(),
    params: { transaction: { to: usdc, data, value: '0x0', chain_id: CHAIN_ID } },
  }
}

export function formatPolicy(usdc: Address, maxMicro: bigint): CreatePolicyBody {
  const calldata = { field_source: 'ethereum_calldata', abi: ABI } as const
  return {
    version: '1.0',
    name: 'grant',
    chain_type: 'ethereum',
    rules: [
      {
        name: 'USDC transfer cap',
        method: 'eth_sendTransaction',
        action: 'ALLOW',
        conditions: [
          { field_source: 'ethereum_transaction', field: 'chain_id', operator: 'eq', value: String(CHAIN_ID) },
          { field_source: 'ethereum_transaction', field: 'to', operator: 'eq', value: usdc },
          { field_source: 'ethereum_transaction', field: 'value', operator: 'eq', value: '0' },
          { ...calldata, field: 'transfer.to', operator: 'in', value: [PAYEE] },
          { ...calldata, field: 'transfer.amount', operator: 'lte', value: String(maxMicro) },
          { field_source: 'system', field: 'current_unix_timestamp', operator: 'lt', value: '4102444800' },
        ],
      },
    ],
  }
}
