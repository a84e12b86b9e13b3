import { formatChain } from '../describe/format.ts'
import type { PaymentEvidence, PlacedSignature } from './payment-evidence.ts'
import { no, notChecked, quote, yes, type Verdict } from './verdict.ts'

/** Calls a method of a node of the chain (JSON-RPC), and returns its result. Throws if the node gives none. */
export type ChainNode = (method: string, params: readonly string[]) => Promise<unknown>

/** The hash of `Transfer(address,address,uint256)` of ERC-20. */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** The hash of `AuthorizationUsed(address,bytes32)` of EIP-3009. */
const AUTHORIZATION_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const WORD_DIGITS = 64
const QUANTITY_PATTERN = /^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/

interface Receipt {
  readonly transactionHash: string
  readonly status: bigint | null
  readonly block: bigint | null
  readonly blockHash: string
  readonly logs: readonly ReceiptLog[]
}

interface ReceiptLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly index: bigint | null
}

/** Did the payment happen on the chain? The owner signed which chain and which tokens. */
export async function judgeChain(
  evidence: PaymentEvidence,
  { node, owned }: { node: ChainNode | null; owned: ReadonlySet<PlacedSignature> | null },
): Promise<Verdict> {
  const { authority, ended } = evidence
  if (ended.leaf.status === 'failed') return no('The payment failed, so nothing was paid.')
  if (node === null) return notChecked('You gave no node of the chain.')
  const signed = authority === null || owned?.has(authority) === false ? null : readSigned(authority)
  if (signed === null) return notChecked('It is not known on which chain and in which token the owner allowed to pay.')
  const { tx_hash: transaction, log_index: index, block, block_hash: blockHash } = ended.leaf
  if (transaction === null || index === null || block === null || blockHash === null) {
    return notChecked('The file does not say which transaction paid.')
  }
  let chain: unknown
  let receipt: unknown
  try {
    chain = await node('eth_chainId', [])
    receipt = await node('eth_getTransactionReceipt', [transaction])
  } catch (error) {
    return notChecked(`The node gave no answer: ${quote(error instanceof Error ? error.message : String(error))}`)
  }
  if (readQuantity(chain) !== signed.chainId) {
    return notChecked(`The node is of another chain. The owner signed for ${formatChain(signed.chainId)}.`)
  }
  if (receipt === null) return no('The node does not know the transaction.')
  return judgeReceipt(readReceipt(receipt), { evidence, tokens: signed.tokens, transaction, index, block, blockHash })
}

function readSigned({ meaning }: PlacedSignature): { chainId: bigint; tokens: readonly string[] } | null {
  if (meaning.kind === 'policy') return meaning.terms
  if (meaning.kind === 'transfer') return { chainId: meaning.transfer.chainId, tokens: [meaning.transfer.token] }
  return null
}

function judgeReceipt(
  receipt: Receipt,
  {
    evidence: {
      decided: { leaf },
    },
    tokens,
    ...expected
  }: {
    evidence: PaymentEvidence
    tokens: readonly string[]
    transaction: string
    index: bigint
    block: bigint
    blockHash: string
  },
): Verdict {
  if (receipt.transactionHash !== expected.transaction) return no('The receipt is of another transaction.')
  if (receipt.block !== expected.block || receipt.blockHash !== expected.blockHash) {
    return no('The transaction is in another block than the file says.')
  }
  if (receipt.status !== 1n) return no('The transaction was reverted.')
  const paid = receipt.logs.find(({ index }) => index === expected.index)
  const words = [TRANSFER_TOPIC, toWord(leaf.wallet), toWord(leaf.to)]
  if (
    paid === undefined ||
    paid.topics.join() !== words.join() ||
    paid.data !== toWord(`0x${leaf.amount.toString(16)}`)
  ) {
    return no('The transaction does not contain this payment at the position that the file names.')
  }
  if (!tokens.includes(paid.address)) return no('The transaction paid in a token that the owner did not sign.')
  if (leaf.kind === 'x402') {
    const used = [AUTHORIZATION_TOPIC, toWord(leaf.wallet), leaf.nonce ?? ''].join()
    const isUsed = receipt.logs.some(({ address, topics }) => address === paid.address && topics.join() === used)
    if (!isUsed) return no('The transaction did not use the authorization of this purchase.')
  }
  return yes(`Block ${expected.block} contains the transfer, of the token ${paid.address}.`)
}

/** Reads what is needed of a receipt. What a node leaves out matches nothing. */
function readReceipt(value: unknown): Receipt {
  const receipt = toMembers(value)
  return {
    transactionHash: readHex(receipt['transactionHash']),
    status: readQuantity(receipt['status']),
    block: readQuantity(receipt['blockNumber']),
    blockHash: readHex(receipt['blockHash']),
    logs: toList(receipt['logs']).map((one) => {
      const log = toMembers(one)
      return {
        address: readHex(log['address']),
        topics: toList(log['topics']).map(readHex),
        data: readHex(log['data']),
        index: log['removed'] === true ? null : readQuantity(log['logIndex']),
      }
    }),
  }
}

/** Pads an address or a quantity to 32 bytes. */
function toWord(hex: string): string {
  return `0x${hex.slice(2).padStart(WORD_DIGITS, '0')}`
}

function readHex(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : ''
}

function readQuantity(value: unknown): bigint | null {
  const text = readHex(value)
  return QUANTITY_PATTERN.test(text) ? BigInt(text) : null
}

function toMembers(value: unknown): { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null ? (value as { readonly [member: string]: unknown }) : {}
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
