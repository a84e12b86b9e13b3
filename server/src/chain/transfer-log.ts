import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import { NodeFault } from './errors.ts'
import { isRecord } from './json-rpc.ts'
import { parseQuantity } from './quantity.ts'
import { parseHash, parseTransfer, type Transfer } from './receipt.ts'

/** A transfer, and where it stands in the chain. */
export type LoggedTransfer = Transfer & {
  readonly txHash: Hash
  readonly blockNumber: bigint
  readonly blockHash: Hash
  /** In its block. */
  readonly logIndex: bigint
}

export type BlockHeader = { readonly hash: Hash; readonly parentHash: Hash }

/** What was asked for. */
export type TransferQuestion = {
  readonly contract: Address
  readonly from: bigint
  readonly to: bigint
  readonly recipients: readonly Address[]
  /** The hashes of blocks that are known already. */
  readonly hashes: ReadonlyMap<bigint, Hash>
}

/**
 * Reads the answers of `eth_getLogs` to one question: transfers of the one contract to the recipients, in the chain's
 * order. Whatever else a node adds is left out.
 * @throws NodeFault for what can't be true: another block, a log that was taken back, one log twice, two forks at once.
 */
export function parseTransferLogs(question: TransferQuestion, answers: readonly unknown[]): LoggedTransfer[] {
  const recipients = new Set<string>(question.recipients)
  const hashes = new Map(question.hashes)
  const seen = new Set<string>()
  const logged = answers.flatMap(parseList).flatMap((log): LoggedTransfer[] => {
    const [transfer] = parseTransfer(log)
    if (transfer === undefined || transfer.contract !== question.contract || !recipients.has(transfer.to)) return []
    const place = parsePlace(log)
    const { blockNumber, blockHash, logIndex } = place
    if (blockNumber < question.from || blockNumber > question.to) throw new NodeFault('answered for another block')
    if ((hashes.get(blockNumber) ?? blockHash) !== blockHash) throw new NodeFault('answered for two forks at once')
    hashes.set(blockNumber, blockHash)
    const key = `${blockNumber} ${logIndex}`
    if (seen.has(key)) throw new NodeFault('answered with one log twice')
    seen.add(key)
    return [{ ...transfer, ...place }]
  })
  return logged.toSorted((a, b) => compare(a.blockNumber, b.blockNumber) || compare(a.logIndex, b.logIndex))
}

/** Reads one answer of `eth_getBlockByNumber`. @throws NodeFault when it is not that block, or the node has none there. */
export function parseBlockHeader(number: bigint, answer: unknown): BlockHeader {
  if (answer === null) throw new NodeFault(`knows no block ${number}`)
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
