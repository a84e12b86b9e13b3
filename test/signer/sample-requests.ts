import type { Json } from '../../signer/src/canonical-json.ts'
import type { WalletRecord } from '../../signer/src/decode/record.ts'

export const NOW = new Date('2026-11-22T12:00:00Z')
export const EXPIRY = String(NOW.getTime() + 5 * 60_000)
export const ENCLAVE = 'https://enclave.example/api'
export const WALLET = '0x1111111111111111111111111111111111111111'
export const RECIPIENT = '0x2222222222222222222222222222222222222222'
export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
export const KEY = `MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE${'A'.repeat(86)}==`
export const OTHER_KEY = `MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE${'B'.repeat(85)}A==`

export const RECORD: WalletRecord = {
  enclaveUrl: ENCLAVE,
  appId: 'app',
  walletId: 'wallet1',
  address: WALLET,
  quorumId: 'quorum1',
  policies: ['policy1', 'policy2'],
  signers: ['signer1', 'signer2'],
}

export const AUTHORIZATION_TYPE = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
]

export const TRANSFER_ABI = [
  {
    type: 'function',
    name: 'transfer',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'amount', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'bool' }],
  },
]

export type Condition = {
  field_source: string
  field: string
  operator: string
  value: Json
  abi?: Json
  typed_data?: Json
}

export const onTransaction = (field: string, operator: string, value: Json): Condition => ({
  field_source: 'ethereum_transaction',
  field,
  operator,
  value,
})
export const onCall = (field: string, operator: string, value: Json): Condition => ({
  field_source: 'ethereum_calldata',
  field,
  operator,
  value,
  abi: TRANSFER_ABI,
})
export const CONDITIONS = {
  chain: onTransaction('chain_id', 'eq', '8453'),
  token: onTransaction('to', 'in', [USDC]),
  native: onTransaction('value', 'eq', '0'),
  amount: onCall('transfer.amount', 'lte', '10000000'),
  recipient: onCall('transfer.to', 'in', [RECIPIENT]),
  time: { field_source: 'system', field: 'current_unix_timestamp', operator: 'lt', value: '1800000000' },
} satisfies Record<string, Condition>

/** The name of the rules of a grant with a 24-hour limit of 50.5 USDC. */
export const RULE_NAME = 'grt_01JD8K3Q5V7W9X2Y4Z6A8BCDEF 50.5'

export function rule(conditions: readonly Condition[] = Object.values(CONDITIONS), changes: Record<string, Json> = {}) {
  return {
    name: RULE_NAME,
    method: 'eth_sendTransaction',
    action: 'ALLOW',
    conditions,
    ...changes,
  }
}

const onDomain = (field: string, value: Json): Condition => ({
  field_source: 'ethereum_typed_data_domain',
  field,
  operator: 'eq',
  value,
})
const onMessage = (field: string, operator: string, value: Json): Condition => ({
  field_source: 'ethereum_typed_data_message',
  field,
  operator,
  value,
  typed_data: {
    primary_type: 'TransferWithAuthorization',
    types: { TransferWithAuthorization: AUTHORIZATION_TYPE },
  },
})
/** The same limits as `CONDITIONS`, for purchases. */
export const PURCHASE_CONDITIONS = {
  chain: onDomain('chainId', '8453'),
  token: onDomain('verifyingContract', USDC),
  amount: onMessage('value', 'lte', '10000000'),
  recipient: onMessage('to', 'in', [RECIPIENT]),
  until: onMessage('validBefore', 'lte', '1800000000'),
  time: CONDITIONS.time,
} satisfies Record<string, Condition>

export function purchaseRule(
  conditions: readonly Condition[] = Object.values(PURCHASE_CONDITIONS),
  changes: Record<string, Json> = {},
) {
  return rule(conditions, { method: 'eth_signTypedData_v4', ...changes })
}

/** Returns functions that make requests. Each request expires at the time that `getExpiry` returns. */
export function createRequests(getExpiry: () => Date) {
  const expiry = (): string => String(getExpiry().getTime())

  function request(changes: Record<string, Json> = {}): Json {
    return {
      version: 1,
      method: 'PATCH',
      url: `${ENCLAVE}/v1/policies/policy1`,
      body: { rules: [rule()] },
      headers: { 'privy-app-id': 'app', 'privy-request-expiry': expiry() },
      ...changes,
    }
  }

  function transfer(transaction: Record<string, Json> = {}, body: Record<string, Json> = {}): Json {
    return request({
      method: 'POST',
      url: `${ENCLAVE}/v1/wallets/wallet1/rpc`,
      headers: { 'privy-app-id': 'app', 'privy-request-expiry': expiry(), 'privy-idempotency-key': 'pay_1' },
      body: {
        method: 'eth_sendTransaction',
        chain_type: 'ethereum',
        caip2: 'eip155:8453',
        sponsor: true,
        reference_id: 'pay_1',
        params: {
          transaction: {
            from: WALLET,
            to: USDC,
            data: `0xa9059cbb${'0'.repeat(24)}${RECIPIENT.slice(2)}${(1_250_000).toString(16).padStart(64, '0')}`,
            value: '0x0',
            chain_id: 8453,
            ...transaction,
          },
        },
        ...body,
      },
    })
  }

  return { request, transfer }
}

export const { request, transfer } = createRequests(() => new Date(Number(EXPIRY)))

const DOMAIN = { name: 'USDC', version: '2', chainId: 8453, verifyingContract: USDC }
export const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]
const AUTHORIZATION = {
  from: WALLET,
  to: RECIPIENT,
  value: '1250000',
  validAfter: '0',
  validBefore: '1800000000',
  nonce: `0x${'ab'.repeat(32)}`,
}

export function authorization(changes: {
  domain?: Record<string, Json>
  domainType?: Json
  message?: Record<string, Json>
  messageType?: Json
  primaryType?: string
  body?: Record<string, Json>
}): Json {
  return request({
    method: 'POST',
    url: `${ENCLAVE}/v1/wallets/wallet1/rpc`,
    body: {
      method: 'eth_signTypedData_v4',
      chain_type: 'ethereum',
      params: {
        typed_data: {
          domain: { ...DOMAIN, ...changes.domain },
          types: {
            EIP712Domain: changes.domainType ?? DOMAIN_TYPE,
            TransferWithAuthorization: changes.messageType ?? AUTHORIZATION_TYPE,
          },
          primary_type: changes.primaryType ?? 'TransferWithAuthorization',
          message: { ...AUTHORIZATION, ...changes.message },
        },
      },
      ...changes.body,
    },
  })
}

/** The statement of `RECORD`, as the service asks an owner to sign it. */
export const RECORD_STATEMENT = {
  bursar: 'wallet-record',
  version: 1,
  app_id: RECORD.appId,
  enclave_url: RECORD.enclaveUrl,
  wallet_id: RECORD.walletId,
  address: RECORD.address,
  quorum_id: RECORD.quorumId,
  policies: RECORD.policies,
  signers: RECORD.signers,
} satisfies Json
