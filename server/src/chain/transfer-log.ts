import { setImmediate } from 'node:timers/promises'
import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import { NodeFault } from './errors.ts'
import { isRecord } from './json-rpc.ts'
import { parseQuantity } from './quantity.ts'
import { parseHash, type Transfer } from './parse-receipt.ts'
import { decodeTransferEvent } from './transfer-event.ts'

/** A transfer, and its position in the chain. */
export type LoggedTransfer = Transfer & {
  readonly txHash: Hash
  readonly blockNumber: bigint
  readonly blockHash: Hash
  /** The position of the log in its block. */
  readonly logIndex: bigint
}

/** At most this many logs are in memory at once, about 20 MB. Several node providers never return more than 10,000. */
export const LOGS_PER_READ_MAX = 20_000

/** How many logs are parsed in one turn of the event loop, about 10 ms of work. */
const LOGS_PER_TURN_MAX = 100

/** The request whose logs are parsed. */
export type LogsRequest = {
  readonly contract: Address
  readonly from: bigint
  readonly to: bigint
  /** Only transfers to these recipients; null for all recipients. */
  readonly recipients: readonly Address[] | null
  /** The hashes of blocks that we know already. */
  readonly hashes: ReadonlyMap<bigint, Hash>
}

/**
 * Parses the logs that a node returned for one request. Returns the contract's transfers to the recipients, in the
 * chain's order. Ignores anything else that a node returns. Parsing is slow, mostly because the checksum of an address
 * needs a hash. So only `LOGS_PER_TURN_MAX` logs are parsed in one turn of the event loop, and HTTP requests need not
 * wait.
 * @throws NodeFault for more than `LOGS_PER_READ_MAX` logs, and for a response that cannot be true: a log of a block
 * outside the range, a log that was removed, the same log twice, or logs of two forks.
 */
export async function parseTransferLogs(request: LogsRequest, logs: readonly unknown[]): Promise<LoggedTransfer[]> {
  if (logs.length > LOGS_PER_READ_MAX) throw new NodeFault('returned too many logs')
  const parse = createParser(request)
  const logged: LoggedTransfer[] = []
  for (const [index, log] of logs.entries()) {
    if (index > 0 && index % LOGS_PER_TURN_MAX === 0) await setImmediate()
    const transfer = parse(log)
    if (transfer !== null) logged.push(transfer)
  }
  return logged.toSorted((a, b) => compare(a.blockNumber, b.blockNumber) || compare(a.logIndex, b.logIndex))
}

function createParser({ contract, from, to, ...request }: LogsRequest): (log: unknown) => LoggedTransfer | null {
  const recipients = request.recipients === null ? null : new Set<string>(request.recipients)
  const hashes = new Map(request.hashes)
  const seen = new Set<string>()
  return (log) => {
    if (!isRecord(log) || !Array.isArray(log['topics'])) throw new NodeFault('did not return a log')
    const transfer = decodeTransferEvent(log)
    if (transfer?.contract !== contract || recipients?.has(transfer.to) === false) return null
    const position = parsePosition(log)
    const { blockNumber, blockHash, logIndex } = position
    if (blockNumber < from || blockNumber > to) throw new NodeFault('returned another block')
    if ((hashes.get(blockNumber) ?? blockHash) !== blockHash) throw new NodeFault('returned two forks at once')
    hashes.set(blockNumber, blockHash)
    const key = `${blockNumber} ${logIndex}`
    if (seen.has(key)) throw new NodeFault('returned the same log twice')
    seen.add(key)
    return { ...transfer, ...position }
  }
}

function parsePosition(log: unknown): Omit<LoggedTransfer, keyof Transfer> {
  if (!isRecord(log) || log['removed'] === true) throw new NodeFault('did not return a log')
  return {
    txHash: parseHash(log['transactionHash']),
    blockNumber: parseQuantity(log['blockNumber']),
    blockHash: parseHash(log['blockHash']),
    logIndex: parseQuantity(log['logIndex']),
  }
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
