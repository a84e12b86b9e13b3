import { anything, boolean, either, integer, list, members, nullable, oneOf, text, type Shape } from './shape.ts'

/**
 * An endpoint of the provider's API that the service uses, as the provider's public documentation describes it. Its
 * shapes allow no further fields, although the provider adds fields to its responses every week. That is fine, because
 * the tests check only requests and responses between our own client and our own enclave.
 */
export interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: RegExp
  /** The shape of the request's body. Missing if the request has no body. */
  readonly request?: Shape
  readonly answer: Shape
  /** Whether an owner or a signer must sign the request. */
  readonly isSigned?: true
}

const id = text(/^[a-z][a-z0-9]{23}$/)
const hash = text(/^0x[0-9a-f]{64}$/)
const address = text(/^0x[0-9a-fA-F]{40}$/)
const hex = text(/^0x([0-9a-fA-F]{2})*$/)
const caip2 = text(/^eip155:[1-9][0-9]*$/)
const name = text(/^.{1,50}$/su)
const timeMs = integer
/** A number, as hexadecimal or as a safe integer. A decimal string is not allowed. */
const quantity = either(text(/^0x[0-9a-fA-F]{1,64}$/), integer)
const spki = text(/^[A-Za-z0-9+/]+={0,2}$/)
const owner = { owner: nullable(members({ public_key: spki })), owner_id: nullable(id) }
const policyIds = list(id, 1)
const signers = list(members({ signer_id: id }, { override_policy_ids: policyIds }))

const types = members({ types: anything, primary_type: text(/./) })
const value = either(text(), list(text(), 100))
const operator = oneOf('eq', 'gt', 'gte', 'lt', 'lte', 'in', 'in_condition_set', 'contains', 'starts_with', 'ends_with')
const condition = either(
  members({ field_source: oneOf('ethereum_transaction'), field: oneOf('to', 'value', 'chain_id'), operator, value }),
  members({ field_source: oneOf('ethereum_calldata'), field: text(/./), abi: list(anything, 200), operator, value }),
  members({
    field_source: oneOf('ethereum_typed_data_domain'),
    field: oneOf('chainId', 'verifyingContract', 'chain_id', 'verifying_contract'),
    operator,
    value,
  }),
  members({ field_source: oneOf('ethereum_typed_data_message'), field: text(/./), typed_data: types, operator, value }),
  members({ field_source: oneOf('system'), field: oneOf('current_unix_timestamp'), operator, value }),
)
const rule = {
  name,
  method: oneOf('eth_sendTransaction', 'eth_signTypedData_v4'),
  conditions: list(condition),
  action: oneOf('ALLOW', 'DENY'),
}

const wallet = members(
  {
    id,
    address,
    chain_type: oneOf('ethereum'),
    policy_ids: policyIds,
    additional_signers: signers,
    owner_id: nullable(id),
    created_at: timeMs,
    exported_at: nullable(timeMs),
    imported_at: nullable(timeMs),
  },
  { archived_at: nullable(timeMs), authorization_threshold: integer, display_name: text(), external_id: text() },
)

const quorum = members(
  {
    id,
    display_name: nullable(text()),
    authorization_threshold: nullable(integer),
    authorization_keys: list(members({ public_key: spki, display_name: nullable(text()) })),
    user_ids: nullable(list(text())),
  },
  { key_quorum_ids: list(id) },
)

const policy = members({
  id,
  version: oneOf('1.0'),
  name,
  chain_type: oneOf('ethereum'),
  rules: list(members({ ...rule, id })),
  owner_id: nullable(id),
  created_at: timeMs,
})

const status = oneOf(
  'pending',
  'broadcasted',
  'confirmed',
  'finalized',
  'execution_reverted',
  'failed',
  'replaced',
  'provider_error',
)
const transaction = members(
  { id, wallet_id: id, caip2, status, transaction_hash: nullable(hash), created_at: timeMs },
  { reference_id: nullable(text()), sponsored: boolean, user_operation_hash: hash },
)

const sendRequest = members(
  {
    method: oneOf('eth_sendTransaction'),
    caip2,
    params: members({
      transaction: members(
        { to: address },
        { data: hex, value: quantity, chain_id: quantity, from: address, nonce: quantity, gas_limit: quantity },
      ),
    }),
  },
  {
    chain_type: oneOf('ethereum'),
    sponsor: boolean,
    reference_id: text(/^.{1,64}$/u),
  },
)
const signRequest = members(
  {
    method: oneOf('eth_signTypedData_v4'),
    params: members({
      typed_data: members({ domain: anything, types: anything, primary_type: text(/./), message: anything }),
    }),
  },
  { chain_type: oneOf('ethereum'), caip2, signature_options: members({ type: oneOf('ecdsa', 'erc1271') }) },
)
const rpcAnswer = either(
  members({
    method: oneOf('eth_sendTransaction'),
    data: members(
      { hash: either(oneOf(''), hash), caip2 },
      { transaction_id: id, reference_id: nullable(text()), user_operation_hash: hash },
    ),
  }),
  members({
    method: oneOf('eth_signTypedData_v4'),
    data: members({ signature: hex, encoding: oneOf('hex') }),
  }),
)

/** The provider's own request headers. All other headers belong to HTTP. */
export const PROVIDER_HEADERS: Readonly<Record<string, RegExp>> = {
  'privy-app-id': /./,
  'privy-client': /^node:/,
  'privy-authorization-signature': /^$|^(webauthn:[\w-]+:[\w-]+:[\w-]+|[A-Za-z0-9+/]+={0,2})$/,
  'privy-idempotency-key': /^.{1,256}$/,
  'privy-request-expiry': /^[0-9]{13}$/,
}

/** The body of every response that is not a success. */
export const errorAnswer = members({ error: text(/./) }, { cause: text(), code: text(/^[a-z_]+$/), data: anything })

export const ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'create a wallet',
    method: 'POST',
    path: /^\/v1\/wallets$/,
    request: members(
      { chain_type: oneOf('ethereum') },
      { ...owner, policy_ids: policyIds, additional_signers: signers, display_name: text(), external_id: text() },
    ),
    answer: wallet,
  },
  { name: 'read a wallet', method: 'GET', path: /^\/v1\/wallets\/[a-z0-9]+$/, answer: wallet },
  {
    name: 'sign',
    method: 'POST',
    path: /^\/v1\/wallets\/[a-z0-9]+\/rpc$/,
    request: either(sendRequest, signRequest),
    answer: rpcAnswer,
    isSigned: true,
  },
  {
    name: 'create a key quorum',
    method: 'POST',
    path: /^\/v1\/key_quorums$/,
    request: members({ public_keys: list(spki) }, { authorization_threshold: integer, display_name: name }),
    answer: quorum,
  },
  {
    name: 'create a policy',
    method: 'POST',
    path: /^\/v1\/policies$/,
    request: members(
      { version: oneOf('1.0'), name, chain_type: oneOf('ethereum'), rules: list(members(rule, { id })) },
      owner,
    ),
    answer: policy,
  },
  {
    name: 'change a policy',
    method: 'PATCH',
    path: /^\/v1\/policies\/[a-z0-9]+$/,
    request: members({}, { name, rules: list(members(rule, { id })), ...owner }),
    answer: policy,
    isSigned: true,
  },
  { name: 'read a policy', method: 'GET', path: /^\/v1\/policies\/[a-z0-9]+$/, answer: policy },
  { name: 'read a transaction', method: 'GET', path: /^\/v1\/transactions\/[a-z0-9]+$/, answer: transaction },
  {
    name: 'find transactions',
    method: 'GET',
    path: /^\/v1\/transactions\?reference_id=[^&]{1,64}$/,
    answer: members({ transactions: list(transaction) }),
  },
]
