import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { EMPTY_BLOCKS_KEPT_MAX } from './limit.ts'

type Block = { readonly header: { readonly number: string }; readonly transactions: readonly unknown[] }
type State = { readonly blocks: readonly Block[] }

/**
 * Writes a node's state dump (`anvil_dumpState`: gzipped JSON). After a crash at any moment, one complete copy exists:
 * the new one in `file`, or the previous one in `<file>.previous`.
 */
export const writeState = (file: string, state: Buffer): void => {
  mkdirSync(dirname(file), { recursive: true })
  const fresh = `${file}.new`
  const fd = openSync(fresh, 'w', 0o600)
  writeSync(fd, state)
  fsyncSync(fd)
  closeSync(fd)
  if (existsSync(file)) renameSync(file, previous(file))
  renameSync(fresh, file)
}

/**
 * Returns the newest readable state as JSON that a node can load, without the oldest empty blocks. Returns undefined if
 * there is no state yet, as at the first start.
 *
 * @throws Error if copies exist but none can be read.
 */
export const readState = (file: string): string | undefined => {
  const copies = [file, previous(file)].filter((copy) => existsSync(copy))
  for (const copy of copies) {
    const state = parseState(readFileSync(copy))
    if (state !== undefined) return JSON.stringify(trimState(state))
  }
  if (copies.length === 0) return undefined
  throw new Error(
    `the chain's state can't be read: ${copies.join(' and ')} are damaged; remove them to start a new chain`,
  )
}

const previous = (file: string): string => `${file}.previous`

// gzip includes a checksum, so a file that decompresses is complete.
const parseState = (bytes: Buffer): State | undefined => {
  try {
    const state: unknown = JSON.parse(gunzipSync(bytes).toString('utf8'))
    return isState(state) ? state : undefined
  } catch {
    return undefined
  }
}

const isState = (value: unknown): value is State =>
  typeof value === 'object' && value !== null && 'blocks' in value && Array.isArray(value.blocks)

const trimState = (state: State): State => {
  const height = state.blocks.reduce((top, block) => Math.max(top, blockNumber(block)), 0)
  const isKept = (block: Block): boolean =>
    block.transactions.length > 0 || blockNumber(block) === 0 || blockNumber(block) > height - EMPTY_BLOCKS_KEPT_MAX
  return { ...state, blocks: state.blocks.filter(isKept) }
}

const blockNumber = (block: Block): number => Number(block.header.number)
