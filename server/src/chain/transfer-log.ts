import { setImmediate } from 'node:timers/promises'
import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import { NodeBehind, NodeFault } from './errors.ts'
import { isRecord } from './json-rpc.ts'
import { parseQuantity } from './quantity.ts'
import { parseHash, type Transfer } from './receipt.ts'
import { decodeTransferEvent } from './transfer-event.ts'

/** A transfer, and where it stands in the chain. */
export type LoggedTransfer = Transfer & {
  readonly txHash: Hash
  readonly blockNumber: bigint
  readonly blockHash: Hash
  /** In its block. */
  readonly logIndex: bigint
}

/** So many are held in memory at once: about 20 MB. Several providers return no more than 10,000 at all. */
export const LOGS_PER_READ_MAX = 20_000

/** About 10 ms of work. */
const LOGS_PER_TURN_MAX = 100

export type BlockHeader = { readonly hash: Hash; readonly parentHash: Hash }

/** What was asked for. */
export type TransferQuestion = {
  readonly contract: Address
  readonly from: bigint
  readonly to: bigint
  /** Null: everybody. */
  readonly recipients: readonly Address[] | null
  /** The hashes of blocks that are known already. */
  readonly hashes: ReadonlyMap<bigint, Hash>
}

/**
 * Reads the answers of `eth_getLogs` to one question: transfers of the one contract to the recipients, in the chain's
 * order. Whatever else a node adds is left out. Of thousands of logs it reads so many in a turn of the event loop that
 * requests are not kept waiting: hashing an address for its checksum takes longer than all the rest.
 * @throws NodeFault for more than `LOGS_PER_READ_MAX`, and for what can't be true: another block, a log that was taken
 * back, one log twice, two forks at once.
 */
export async function parseTransferLogs(
  question: TransferQuestion,
  answers: readonly unknown[],
): Promise<LoggedTransfer[]> {
  const logs = answers.flatMap(parseList)
  if (logs.length > LOGS_PER_READ_MAX) throw new NodeFault('answered with too many logs')
  const parse = createParser(question)
  const logged: LoggedTransfer[] = []
  for (const [index, log] of logs.entries()) {
    if (index > 0 && index % LOGS_PER_TURN_MAX === 0) await setImmediate()
    const transfer = parse(log)
    if (transfer !== null) logged.push(transfer)
  }
  return logged.toSorted((a, b) => compare(a.blockNumber, b.blockNumber) || compare(a.logIndex, b.logIndex))
}

function createParser({ contract, from, to, ...question }: TransferQuestion): (log: unknown) => LoggedTransfer | null {
  const recipients = question.recipients === null ? null : new Set<string>(question.recipients)
  const hashes = new Map(question.hashes)
  const seen = new Set<string>()
  return (log) => {
    if (!isRecord(log) || !Array.isArray(log['topics'])) throw new NodeFault('answered with no log')
    const transfer = decodeTransferEvent(log)
    if (transfer?.contract !== contract || recipients?.has(transfer.to) === false) return null
    const place = parsePlace(log)
    const { blockNumber, blockHash, logIndex } = place
    if (blockNumber < from || blockNumber > to) throw new NodeFault('answered for another block')
    if ((hashes.get(blockNumber) ?? blockHash) !== blockHash) throw new NodeFault('answered for two forks at once')
    hashes.set(blockNumber, blockHash)
    const key = `${blockNumber} ${logIndex}`
    if (seen.has(key)) throw new NodeFault('answered with one log twice')
    seen.add(key)
    return { ...transfer, ...place }
  }
}

/** Reads one answer of `eth_getBlockByNumber`. @throws NodeFault when it is not that block, or the node has none there. */
export function parseBlockHeader(number: bigint, answer: unknown): BlockHeader {
  if (answer === null) throw new NodeBehind(`knows no block ${number}`)
  if (!isRecord(answer) || parseQuantity(answer['number']) !== number) throw new NodeFault('answered for another block')
  return { hash: parseHash(answer['hash']), parentHash: parseHash(answer['parentHash']) }
}

function parseList(answer: unknown): unknown[] {
  if (!Array.isArray(answer)) throw new NodeFault('answered with no logs')
  return answer as unknown[]
}

function parsePlace(log: unknown): Omit<LoggedTransfer, keyof Transfer> {
  if (!isRecord(log) || log['removed'] === true) throw new NodeFault('answered with no log')
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
