import type { Hash } from 'viem'
import { parseAddress, type Address } from '../values/address.ts'
import type { MicroUsdc } from '../values/money.ts'
import { splitAddressTopics } from './address-filters.ts'
import { AdaptiveSize, BLOCKS_BY_HASH } from './adaptive-size.ts'
import { CANCELED_TOPIC, parseAuthorizationLog, USED_TOPIC, type AuthorizationKey } from './authorization-event.ts'
import { readHeader } from './block-header.ts'
import { readFirstBlocks, type BlockRange } from './block-ranges.ts'
import { ChainUnavailable } from './errors.ts'
import { isRecord } from './json-rpc.ts'
import { readLogs, type LogFilter } from './log-query.ts'
import { formatQuantity, parseQuantity } from './quantity.ts'
import { parseHash, parseTransfer } from './parse-receipt.ts'
import type { Batch, RpcNodes } from './rpc-nodes.ts'
import { formatAddressTopic, TRANSFER_TOPIC } from './transfer-event.ts'
import { ENTRY_POINTS, parseOperationLog, USER_OPERATION_TOPIC } from './user-operation.ts'

/** The result of a search. A search makes a limited number of calls, so it may stop before the end of the range. */
export type LogSearch<Found> = {
  readonly found: readonly Found[]
  /** The last block that was searched; `from - 1` if no block was searched. */
  readonly searchedTo: bigint
  /** The time of the block `searchedTo`, in seconds by the chain's clock; null if no block was searched. */
  readonly searchedToSeconds: bigint | null
}

export type SearchRange = BlockRange & {
  /** Reads each block by its hash, which takes two calls for each block. By default, only short ranges are read so. */
  readonly byHash?: boolean
}

export type FoundOperation = { readonly hash: Hash; readonly txHash: Hash }

/** An authorization that was used or canceled, and the transaction that used or canceled it. */
export type FoundAuthorization = AuthorizationKey & { readonly txHash: Hash }

/** A USDC transfer out of a wallet, and its position in the chain. */
export type SentTransfer = {
  readonly from: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  readonly txHash: Hash
  readonly logIndex: bigint
  readonly blockNumber: bigint
  /** The nonce of the authorization that made the transfer. Null for a plain transfer. */
  readonly nonce: Hash | null
}

export type TransferPattern = { readonly from: Address; readonly to: Address; readonly amountMicro: MicroUsdc }

/** The sender and nonce of a transaction. A node can return them before the transaction is mined, and afterwards. */
export type SenderNonce = { readonly sender: Address; readonly nonce: bigint }

/**
 * How many queries one search makes at most. If a node allows only one block in a query, a search covers this many
 * blocks, and the next search continues after them.
 */
const QUERIES_PER_SEARCH_MAX = 40
/**
 * A transaction can never be mined once another transaction with the same nonce is final. We regard a transaction at
 * this depth as final, because reorganizations are less deep.
 */
const NONCE_DEPTH_MIN = 30

/**
 * Makes functions that search the chain for a payment's transfer. They are needed if the enclave does not report the
 * transaction, or reports one that proves nothing.
 */
export function createSearchReader(
  { nodes, logNodes, size }: { nodes: RpcNodes; logNodes: RpcNodes; size: AdaptiveSize },
  { usdc, confirmations }: { usdc: Address; confirmations: number },
) {
  const sizeByHash = new AdaptiveSize(BLOCKS_BY_HASH)

  /**
   * Finds the transactions that contain certain user operations of a wallet. @throws ChainUnavailable if no block could
   * be searched.
   */
  async function findUserOperations(
    { sender, hashes }: { sender: Address; hashes: readonly Hash[] },
    range: BlockRange,
  ): Promise<LogSearch<FoundOperation>> {
    const filter = { address: ENTRY_POINTS, topics: [USER_OPERATION_TOPIC, hashes] }
    return await search([filter], range, (logs) =>
      logs.flatMap((log) => {
        const operation = parseOperationLog(log)
        const isWanted = operation?.kind === 'operation' && hashes.includes(operation.hash)
        return isWanted && operation.sender === sender ? [{ hash: operation.hash, txHash: parseTxHash(log) }] : []
      }),
    )
  }

  /**
   * Finds the USDC transfers with this sender, recipient and amount. Leaves out transfers that a signed authorization
   * made: they belong to purchases. One filter returns the sender's transfers and used authorizations together, so that
   * both come from the same fork of the chain. With `byHash`, no log can be missing in the blocks that were searched.
   * @throws ChainUnavailable if no block could be searched.
   */
  async function findTransfers(pattern: TransferPattern, range: SearchRange): Promise<LogSearch<Hash>> {
    const topics = [[TRANSFER_TOPIC, USED_TOPIC], formatAddressTopic(pattern.from)]
    return await search([{ address: usdc, topics }], range, (logs) => chooseTransfers(logs, { ...pattern, usdc }))
  }

  /**
   * Finds all USDC transfers of more than zero from these senders, at most `ADDRESSES_PER_READ_MAX`: plain ones and those
   * that a signed authorization made. @throws ChainUnavailable if no block could be searched.
   */
  async function findSentTransfers(senders: readonly Address[], range: BlockRange): Promise<LogSearch<SentTransfer>> {
    const filters = splitAddressTopics(senders).map((some) => ({
      address: usdc,
      topics: [[TRANSFER_TOPIC, USED_TOPIC], some],
    }))
    const wanted = new Set(senders)
    return await search(filters, range, (logs) => parseSentTransfers(logs, { senders: wanted, usdc }))
  }

  /**
   * Finds the transactions that used or canceled any of the `wanted` authorizations. @throws ChainUnavailable if no
   * block could be searched.
   */
  async function findAuthorizations(
    wanted: readonly AuthorizationKey[],
    range: BlockRange,
  ): Promise<LogSearch<FoundAuthorization>> {
    const wallets = [...new Set(wanted.map(({ authorizer }) => formatAddressTopic(authorizer)))]
    const topics = [[USED_TOPIC, CANCELED_TOPIC], wallets, wanted.map(({ nonce }) => nonce)]
    return await search([{ address: usdc, topics }], range, (logs) =>
      logs.flatMap((log) => {
        const event = parseAuthorizationLog(log)
        if (event === null || event.contract !== usdc) return []
        return [{ authorizer: event.authorizer, nonce: event.nonce, txHash: parseTxHash(log) }]
      }),
    )
  }

  async function search<Found>(
    filters: readonly LogFilter[],
    { from, to, byHash }: SearchRange,
    read: (logs: readonly unknown[]) => readonly Found[],
  ): Promise<LogSearch<Found>> {
    const querySize = byHash === true ? sizeByHash : size
    const found: Found[] = []
    let next = from
    let searchedToSeconds: bigint | null = null
    for (let queries = 0; queries < QUERIES_PER_SEARCH_MAX && next <= to; queries += 1) {
      try {
        const { result, to: last } = await readFirstBlocks({ from: next, to }, querySize, (blocks) =>
          logNodes.run(async (batch) => {
            const { logs, last: header } = await readLogs(batch, filters, { ...blocks, ...(byHash && { byHash }) })
            return { found: read(logs.flat()), seconds: header.seconds }
          }),
        )
        found.push(...result.found)
        searchedToSeconds = result.seconds
        next = last + 1n
      } catch (error) {
        if (!(error instanceof ChainUnavailable) || next === from) throw error
        break
      }
    }
    return { found, searchedTo: next - 1n, searchedToSeconds }
  }

  /** Reads the time of a block, in seconds by the chain's clock. @throws ChainUnavailable */
  async function readBlockSeconds(number: bigint): Promise<bigint> {
    return await logNodes.run(async (batch) => (await readHeader(batch, number)).seconds)
  }

  /**
   * Reads who sent a transaction, and with which nonce. Returns null if the node does not have the transaction. @throws
   * ChainUnavailable
   */
  async function readSenderNonce(hash: Hash): Promise<SenderNonce | null> {
    return await nodes.run(async (batch) => {
      const [transaction] = await batch([{ method: 'eth_getTransactionByHash', params: [hash] }])
      if (!isRecord(transaction)) return null
      const sender = parseAddress(String(transaction['from']).toLowerCase())
      return sender === null ? null : { sender, nonce: parseQuantity(transaction['nonce']) }
    })
  }

  /**
   * Checks whether another transaction has used the nonce of the transaction `hash`, so that `hash` can never be mined.
   * Returns a deep block at which the nonce was already used, or null as long as this is not proven. @throws
   * ChainUnavailable
   */
  async function findNonceUse(hash: Hash, { sender, nonce }: SenderNonce): Promise<bigint | null> {
    const depth = BigInt(Math.max(confirmations, NONCE_DEPTH_MIN))
    return await nodes.run(async (batch) => {
      const [head] = await batch([{ method: 'eth_blockNumber', params: [] }])
      const block = parseQuantity(head) - depth + 1n
      return block >= 0n && (await isUsedByAnother(batch, { hash, sender, nonce, block })) ? block : null
    })
  }

  return {
    findUserOperations,
    findTransfers,
    findSentTransfers,
    findAuthorizations,
    readBlockSeconds,
    readSenderNonce,
    findNonceUse,
  }
}

function chooseTransfers(
  logs: readonly unknown[],
  { from, to, amountMicro, usdc }: TransferPattern & { usdc: Address },
): Hash[] {
  // The USDC contract emits `Transfer` right after `AuthorizationUsed`, with no event between them.
  const authorized = new Set(logs.flatMap((log) => (isUse(log, { from, usdc }) ? [formatPlace(log, 1n)] : [])))
  return logs.flatMap((log) => {
    const [transfer] = parseTransfer(log)
    if (transfer === undefined || transfer.contract !== usdc) return []
    if (transfer.from !== from || transfer.to !== to || transfer.amountMicro !== amountMicro) return []
    return authorized.has(formatPlace(log, 0n)) ? [] : [parseTxHash(log)]
  })
}

function parseSentTransfers(
  logs: readonly unknown[],
  { senders, usdc }: { senders: ReadonlySet<Address>; usdc: Address },
): SentTransfer[] {
  const nonces = new Map(
    logs.flatMap((log) => {
      const event = parseAuthorizationLog(log)
      return event?.kind === 'used' && event.contract === usdc
        ? [[`${event.authorizer} ${formatPlace(log, 1n)}`, event.nonce] as const]
        : []
    }),
  )
  return logs.flatMap((log) => {
    const [transfer] = parseTransfer(log)
    if (transfer === undefined || transfer.contract !== usdc || !senders.has(transfer.from)) return []
    if (transfer.amountMicro === 0n) return []
    const { from, to, amountMicro } = transfer
    const { blockNumber, logIndex } = isRecord(log) ? log : {}
    return [
      {
        ...{ from, to, amountMicro, txHash: parseTxHash(log) },
        ...{ logIndex: parseQuantity(logIndex), blockNumber: parseQuantity(blockNumber) },
        nonce: nonces.get(`${from} ${formatPlace(log, 0n)}`) ?? null,
      },
    ]
  })
}

function isUse(log: unknown, { from, usdc }: { from: Address; usdc: Address }): boolean {
  const event = parseAuthorizationLog(log)
  return event?.kind === 'used' && event.contract === usdc && event.authorizer === from
}

/** Formats the position of `log` in the chain, moved forward by `after` logs. */
function formatPlace(log: unknown, after: bigint): string {
  return `${parseTxHash(log)} ${parseQuantity(isRecord(log) ? log['logIndex'] : undefined) + after}`
}

async function isUsedByAnother(
  batch: Batch,
  { hash, sender, nonce, block }: SenderNonce & { hash: Hash; block: bigint },
): Promise<boolean> {
  const [count, receipt] = await batch([
    { method: 'eth_getTransactionCount', params: [sender, formatQuantity(block)] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ])
  return receipt === null && parseQuantity(count) > nonce
}

function parseTxHash(log: unknown): Hash {
  return parseHash(isRecord(log) ? log['transactionHash'] : undefined)
}
