import type { Hash } from 'viem'
import { decodeEventLog } from 'viem/utils'
import { parseAddress, type Address } from '../values/address.ts'
import { erc20Abi } from '../values/erc20.ts'
import { microUsdc, type MicroUsdc } from '../values/money.ts'
import { parseAuthorizationLog, type AuthorizationEvent } from './authorization-event.ts'
import { NodeFault } from './errors.ts'
import { isRecord } from './json-rpc.ts'
import { parseQuantity, parseWord } from './quantity.ts'
import { parseOperationLog } from './user-operation.ts'

export type Transfer = {
  readonly contract: Address
  readonly from: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
}

export type Receipt = {
  readonly blockNumber: bigint
  readonly blockHash: Hash
  readonly status: 'success' | 'reverted'
  /** The address that sent the transaction: the wallet itself, or a bundler that sends user operations for wallets. */
  readonly sender: Address
  /** What the sender paid for gas, in wei. Null if the node does not say it. */
  readonly gasWei: bigint | null
  /**
   * The ERC-20 Transfer events of all contracts in the transaction, in order. Other events are left out, and so are the
   * transfers that a signed authorization made, because they never belong to a payment that the wallet itself sent.
   */
  readonly transfers: readonly ReceiptTransfer[]
  /** The EIP-3009 authorizations that were used or canceled in the transaction, in order. */
  readonly authorizations: readonly ReceiptAuthorization[]
  /** The ERC-4337 user operations in the transaction, in order. */
  readonly operations: readonly UserOperation[]
}

export type ReceiptTransfer = Transfer & {
  /** The position of the log in its block. */
  readonly logIndex: bigint
  /** The hash of the user operation that made this transfer; null if no user operation did. */
  readonly operationHash: Hash | null
}

export type ReceiptAuthorization = AuthorizationEvent & {
  /**
   * The transfer that the authorization made. Null if the authorization was canceled, or if the next log is not its
   * transfer.
   */
  readonly transfer: LogTransfer | null
}

/** `logIndex` is the position of the log in its block. */
export type LogTransfer = Transfer & { readonly logIndex: bigint }

export type UserOperation = { readonly hash: Hash; readonly sender: Address; readonly isSuccess: boolean }

/** A higher amount cannot be true: it is far more than all coins of a chain. */
const GAS_WEI_MAX = 2n ** 128n
const HASH_PATTERN = /^0x[0-9a-f]{64}$/
const ADDRESS_WORD_PATTERN = /^0x0{24}[0-9a-f]{40}$/

/**
 * Parses a response of `eth_getTransactionReceipt`. Returns null if the transaction is not mined: there is no receipt,
 * or it has no block. @throws NodeFault if the response is not the receipt of `hash`.
 */
export function parseReceipt(hash: Hash, answer: unknown): Receipt | null {
  if (answer === null) return null
  if (!isRecord(answer) || lower(answer['transactionHash']) !== hash.toLowerCase()) throw notAReceipt()
  if (answer['blockNumber'] === null) return null
  const logs = answer['logs']
  if (!Array.isArray(logs)) throw notAReceipt()
  const sender = parseAddress(lower(answer['from']))
  if (sender === null) throw notAReceipt()
  return {
    blockNumber: parseQuantity(answer['blockNumber']),
    blockHash: parseHash(answer['blockHash']),
    status: parseStatus(answer['status']),
    sender,
    gasWei: parseGas(answer),
    ...parseLogs(logs),
  }
}

/**
 * Returns the gas that was used times its price, and the fee for publishing the transaction on Ethereum, which chains of
 * the OP stack add.
 */
function parseGas({ gasUsed, effectiveGasPrice, l1Fee = '0x0' }: Readonly<Record<string, unknown>>): bigint | null {
  if (gasUsed === undefined || effectiveGasPrice === undefined) return null
  const gasWei = parseWord(gasUsed) * parseWord(effectiveGasPrice) + parseWord(l1Fee)
  return gasWei <= GAS_WEI_MAX ? gasWei : null
}

/**
 * Finds the transfers and user operations in a receipt's logs, and which operation made which transfer. The EntryPoint
 * contract emits `BeforeExecution` before the first operation runs. It emits a `UserOperationEvent` right after the
 * logs of each operation.
 */
function parseLogs(logs: readonly unknown[]): Pick<Receipt, 'transfers' | 'authorizations' | 'operations'> {
  const authorizations = parseAuthorizations(logs)
  const authorized = new Set(authorizations.map(({ transfer }) => transfer?.logIndex))
  const transfers: ReceiptTransfer[] = []
  const operations: UserOperation[] = []
  let firstOfOperation = 0
  for (const log of logs) {
    const [transfer] = parseTransfer(log)
    if (transfer !== undefined) {
      const logIndex = parseLogIndex(log)
      if (!authorized.has(logIndex)) transfers.push({ ...transfer, logIndex, operationHash: null })
      continue
    }
    const boundary = parseOperationLog(log)
    if (boundary === null) continue
    if (boundary.kind === 'operation') {
      const { hash, sender, isSuccess } = boundary
      operations.push({ hash, sender, isSuccess })
      for (let i = firstOfOperation; i < transfers.length; i += 1) {
        const emitted = transfers[i]
        if (emitted !== undefined) transfers[i] = { ...emitted, operationHash: hash }
      }
    }
    firstOfOperation = transfers.length
  }
  return { transfers, authorizations, operations }
}

function parseAuthorizations(logs: readonly unknown[]): ReceiptAuthorization[] {
  return logs.flatMap((log, index) => {
    const event = parseAuthorizationLog(log)
    if (event === null) return []
    const next = logs[index + 1]
    const isTransfer = event.kind === 'used' && next !== undefined && isTransferOf(event, log, next)
    const [transfer] = isTransfer ? parseTransfer(next) : []
    return [{ ...event, transfer: transfer === undefined ? null : { ...transfer, logIndex: parseLogIndex(next) } }]
  })
}

/**
 * Returns whether `next` is the transfer that the authorization made. The USDC contract emits both events in one call,
 * with no event between them: `AuthorizationUsed`, then `Transfer` from the authorizer. So the log indexes are
 * consecutive.
 */
function isTransferOf({ contract, authorizer }: AuthorizationEvent, log: unknown, next: unknown): boolean {
  const [transfer] = parseTransfer(next)
  if (transfer?.contract !== contract || transfer.from !== authorizer) return false
  return parseLogIndex(next) === parseLogIndex(log) + 1n
}

function parseLogIndex(log: unknown): bigint {
  return parseQuantity(isRecord(log) ? log['logIndex'] : undefined)
}

function parseStatus(value: unknown): Receipt['status'] {
  if (value === '0x1') return 'success'
  if (value === '0x0') return 'reverted'
  throw notAReceipt()
}

/** Parses a block's or transaction's hash. @throws NodeFault if it is not a hash. */
export function parseHash(value: unknown): Hash {
  const hash = lower(value)
  if (!HASH_PATTERN.test(hash)) throw new NodeFault('did not return a hash')
  return hash as Hash
}

/**
 * Returns the ERC-20 transfer of a log, or an empty list for any other event. An ERC-721 Transfer has the same name and
 * first topic, but four topics and no data. @throws NodeFault if the value is not a log.
 */
export function parseTransfer(log: unknown): Transfer[] {
  if (!isRecord(log) || !Array.isArray(log['topics'])) throw new NodeFault('did not return a log')
  const contract = parseAddress(lower(log['address']))
  const event = decodeTransfer(log['topics'], log['data'])
  const from = parseAddress(event?.from ?? '')
  const to = parseAddress(event?.to ?? '')
  if (event === null || contract === null || from === null || to === null) return []
  return [{ contract, from, to, amountMicro: microUsdc(event.value) }]
}

function decodeTransfer(
  [topic, from, to, ...more]: readonly unknown[],
  data: unknown,
): { from: string; to: string; value: bigint } | null {
  if (!isWord(topic) || !isAddressWord(from) || !isAddressWord(to) || !isWord(data) || more.length > 0) return null
  try {
    return decodeEventLog({ abi: erc20Abi, eventName: 'Transfer', topics: [topic, from, to], data }).args
  } catch {
    return null
  }
}

/** Returns whether a 32-byte word is an address. Checks the whole word, because viem reads only its last 20 bytes. */
function isAddressWord(value: unknown): value is Hash {
  return ADDRESS_WORD_PATTERN.test(lower(value))
}

function isWord(value: unknown): value is Hash {
  return HASH_PATTERN.test(lower(value))
}

function lower(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : ''
}

function notAReceipt(): NodeFault {
  return new NodeFault('did not return a receipt')
}
