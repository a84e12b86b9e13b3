import {
  ABI_ITEMS_MAX,
  CONDITIONS_MAX,
  DATA_CHARS_MAX,
  IN_VALUES_MAX,
  NAME_CHARS_MAX,
  QUORUM_KEYS_MAX,
  REFERENCE_CHARS_MAX,
  RULES_MAX,
  SIGNERS_MAX,
  TYPES_MAX,
} from './limits.ts'
import type { ConditionRecord, SignerRecord } from './records.ts'
import type { TypedData } from './typed-data.ts'

/** The types come first, then the schemas that match them. The schemas reject unknown members, as the provider does. */
interface OwnerInput {
  readonly owner?: { readonly public_key: string } | null
  readonly owner_id?: string | null
}

export interface CreateQuorumBody {
  readonly public_keys: readonly string[]
  readonly authorization_threshold?: number
  readonly display_name?: string
}

export type UpdateQuorumBody = Partial<CreateQuorumBody>

interface WalletFields extends OwnerInput {
  readonly policy_ids?: readonly string[]
  readonly additional_signers?: readonly SignerRecord[]
  readonly display_name?: string
  readonly external_id?: string
}

export interface CreateWalletBody extends WalletFields {
  readonly chain_type: 'ethereum'
}

export type UpdateWalletBody = WalletFields

export interface RuleInput {
  readonly id?: string
  readonly name: string
  readonly method: string
  readonly conditions: readonly ConditionRecord[]
  readonly action: 'ALLOW' | 'DENY'
}

export interface CreatePolicyBody extends OwnerInput {
  readonly version: '1.0'
  readonly name: string
  readonly chain_type: 'ethereum'
  readonly rules: readonly RuleInput[]
}

export interface UpdatePolicyBody extends OwnerInput {
  readonly name?: string
  readonly rules?: readonly RuleInput[]
}

/** A number, as hexadecimal with `0x` or as a safe integer. A decimal string is not allowed. */
export type Quantity = string | number

export interface SendTransactionBody {
  readonly method: 'eth_sendTransaction'
  readonly chain_type?: 'ethereum'
  readonly caip2: string
  readonly sponsor?: boolean
  readonly reference_id?: string
  readonly params: {
    readonly transaction: {
      readonly to: string
      readonly data?: string
      readonly value?: Quantity
      readonly chain_id?: Quantity
      readonly from?: string
    }
  }
}

export interface SignTypedDataBody {
  readonly method: 'eth_signTypedData_v4'
  readonly chain_type?: 'ethereum'
  readonly caip2?: string
  readonly signature_options?: { readonly type: 'ecdsa' | 'erc1271' }
  readonly params: { readonly typed_data: TypedData }
}

export type RpcBody = SendTransactionBody | SignTypedDataBody

const text = { type: 'string' } as const
const name = { type: 'string', minLength: 1, maxLength: NAME_CHARS_MAX } as const
const id = { type: 'string', minLength: 1, maxLength: 64 } as const
const publicKey = { type: 'string', minLength: 1, maxLength: 1_024 } as const
const address = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' } as const
const quantity = {
  anyOf: [
    { type: 'string', pattern: '^0x[0-9a-fA-F]{1,64}$' },
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  ],
} as const
const policyIds = { type: 'array', items: id, maxItems: 1 } as const

const owner = {
  owner: {
    anyOf: [{ type: 'null' }, closed({ public_key: publicKey }, ['public_key'])],
  },
  owner_id: { anyOf: [{ type: 'null' }, id] },
} as const

const wallet = {
  ...owner,
  policy_ids: policyIds,
  additional_signers: {
    type: 'array',
    maxItems: SIGNERS_MAX,
    items: closed({ signer_id: id, override_policy_ids: policyIds }, ['signer_id']),
  },
  display_name: { type: 'string', maxLength: 100 },
  external_id: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' },
} as const

const memberName = { type: 'string', minLength: 1, maxLength: NAME_CHARS_MAX } as const
const types = {
  type: 'object',
  maxProperties: TYPES_MAX,
  additionalProperties: {
    type: 'array',
    maxItems: TYPES_MAX,
    items: closed({ name: memberName, type: memberName }, ['name', 'type']),
  },
} as const

const condition = closed(
  {
    field_source: {
      enum: [
        'ethereum_transaction',
        'ethereum_calldata',
        'ethereum_typed_data_domain',
        'ethereum_typed_data_message',
        'system',
      ],
    },
    field: { type: 'string', minLength: 1, maxLength: 200 },
    operator: { enum: ['eq', 'gt', 'gte', 'lt', 'lte', 'in'] },
    value: {
      anyOf: [text, { type: 'array', items: text, minItems: 1, maxItems: IN_VALUES_MAX }],
    },
    typed_data: closed({ types, primary_type: memberName }, ['types', 'primary_type']),
    abi: {
      type: 'array',
      minItems: 1,
      maxItems: ABI_ITEMS_MAX,
      items: {
        type: 'object',
        required: ['type'],
        properties: { type: { enum: ['function', 'constructor', 'event', 'fallback', 'receive'] } },
      },
    },
  },
  ['field_source', 'field', 'operator', 'value'],
)

const rules = {
  type: 'array',
  maxItems: RULES_MAX,
  items: closed(
    {
      id,
      name,
      method: {
        enum: [
          'eth_sendTransaction',
          'eth_signTransaction',
          'eth_signUserOperation',
          'eth_signTypedData_v4',
          'eth_sign7702Authorization',
          'personal_sign',
          'wallet_sendCalls',
          'exportPrivateKey',
          'exportSeedPhrase',
          '*',
        ],
      },
      conditions: { type: 'array', items: condition, maxItems: CONDITIONS_MAX },
      action: { enum: ['ALLOW', 'DENY'] },
    },
    ['name', 'method', 'conditions', 'action'],
  ),
} as const

const quorum = {
  public_keys: { type: 'array', items: publicKey, minItems: 1, maxItems: QUORUM_KEYS_MAX },
  authorization_threshold: { type: 'integer', minimum: 1 },
  display_name: { type: 'string', maxLength: NAME_CHARS_MAX },
} as const

export const createQuorumSchema = closed(quorum, ['public_keys'])

export const updateQuorumSchema = { ...closed(quorum, []), minProperties: 1 }

export const createWalletSchema = closed({ chain_type: { const: 'ethereum' }, ...wallet }, ['chain_type'])

export const updateWalletSchema = { ...closed(wallet, []), minProperties: 1 }

export const createPolicySchema = closed(
  { version: { const: '1.0' }, name, chain_type: { const: 'ethereum' }, rules, ...owner },
  ['version', 'name', 'chain_type', 'rules'],
)

export const updatePolicySchema = { ...closed({ name, rules, ...owner }, []), minProperties: 1 }

const caip2 = { type: 'string', pattern: '^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$' } as const

const sendTransactionSchema = closed(
  {
    method: { const: 'eth_sendTransaction' },
    chain_type: { const: 'ethereum' },
    caip2,
    sponsor: { type: 'boolean' },
    reference_id: { type: 'string', minLength: 1, maxLength: REFERENCE_CHARS_MAX },
    params: closed(
      {
        transaction: closed(
          {
            to: address,
            data: { type: 'string', pattern: '^0x([0-9a-fA-F]{2})*$', maxLength: DATA_CHARS_MAX },
            value: quantity,
            chain_id: quantity,
            from: address,
          },
          ['to'],
        ),
      },
      ['transaction'],
    ),
  },
  ['method', 'caip2', 'params'],
)

const signTypedDataSchema = closed(
  {
    method: { const: 'eth_signTypedData_v4' },
    chain_type: { const: 'ethereum' },
    caip2,
    signature_options: closed({ type: { enum: ['ecdsa', 'erc1271'] } }, ['type']),
    params: closed(
      {
        typed_data: closed(
          { domain: { type: 'object' }, types, primary_type: memberName, message: { type: 'object' } },
          ['domain', 'types', 'primary_type', 'message'],
        ),
      },
      ['typed_data'],
    ),
  },
  ['method', 'params'],
)

/** The requests that a wallet accepts. They differ in their method. */
export const rpcSchema = { oneOf: [sendTransactionSchema, signTypedDataSchema] } as const

/** Returns the schema of an object that may have only these members. */
function closed<P>(properties: P, required: readonly string[]) {
  return { type: 'object', additionalProperties: false, properties, required } as const
}
