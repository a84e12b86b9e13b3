import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { pollUntil } from '../lib/process-poll.ts'
import { isProcessAlive, readCommand, readParent } from '../lib/process-facts.ts'
import { NODE_STOP_TIMEOUT_MS } from './limit.ts'

type NodeRecord = { readonly pid: number; readonly rpcUrl: string; readonly ownerPid: number }

/** Records which node uses this state file, so that the next start can find the node if this process is killed. */
export const recordNode = (stateFile: string, node: { readonly pid: number; readonly rpcUrl: string }): void => {
  const record: NodeRecord = { ...node, ownerPid: process.pid }
  writeFileSync(`${stateFile}.pid`, JSON.stringify(record), { mode: 0o600 })
}

/**
 * Stops the node that a killed sandbox left running. Saves the node's state first, because it is newer than the file.
 * Does nothing if there is no such node.
 *
 * @throws Error if the node belongs to another running sandbox, or does not stop.
 */
export const stopLeftoverNode = async (stateFile: string, save: (rpcUrl: string) => Promise<void>): Promise<void> => {
  const record = readRecord(`${stateFile}.pid`)
  if (record !== undefined && isProcessAlive(record.pid) && readCommand(record.pid).includes('anvil')) {
    if (readParent(record.pid) === record.ownerPid && record.ownerPid !== process.pid) {
      throw new Error(`${stateFile} is in use by another sandbox (process ${record.ownerPid}): stop it first`)
    }
    // If the node does not respond, it is stopped without saving. The chain then continues from its last saved state.
    await save(record.rpcUrl).catch(() => undefined)
    process.kill(record.pid, 'SIGKILL')
    const isGone = (): boolean => !isProcessAlive(record.pid)
    if (!(await pollUntil(isGone, NODE_STOP_TIMEOUT_MS))) throw new Error(`anvil (process ${record.pid}) does not stop`)
  }
  rmSync(`${stateFile}.pid`, { force: true })
}

const readRecord = (file: string): NodeRecord | undefined => {
  if (!existsSync(file)) return undefined
  try {
    const record: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isRecord(record) ? record : undefined
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is NodeRecord =>
  typeof value === 'object' &&
  value !== null &&
  'pid' in value &&
  typeof value.pid === 'number' &&
  'rpcUrl' in value &&
  typeof value.rpcUrl === 'string' &&
  'ownerPid' in value &&
  typeof value.ownerPid === 'number'
