import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { callRpc } from './call-rpc.ts'
import { findAnvil } from './find-anvil.ts'
import {
  BLOCK_GAS_MAX,
  HISTORY_STATES_MAX,
  NODE_CHECK_TIMEOUT_MS,
  NODE_POLL_MS,
  NODE_STARTS_MAX,
  NODE_START_TIMEOUT_MS,
  NODE_STOP_TIMEOUT_MS,
  PORT_RELEASE_TIMEOUT_MS,
} from './limit.ts'
import { readState } from './state-file.ts'

export type StartNodeOptions = { readonly chainId: number; readonly port: number; readonly stateFile: string }

export type Node = {
  readonly rpcUrl: string
  readonly pid: number
  /** Called once, with a sentence, if the node exits before `stop`. */
  onExit(listener: (detail: string) => void): void
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

/**
 * Starts an anvil that mines only on request, accepts transactions without a fee, and loads the chain from the state
 * file.
 *
 * @throws Error with one sentence if the port is in use, anvil is missing, or it does not start.
 */
export const startNode = async (options: StartNodeOptions): Promise<Node> => {
  const { port, stateFile } = options
  const rpcUrl = `http://${HOST}:${port}`
  const anvil = findAnvil()
  await checkPort(port)
  mkdirSync(dirname(stateFile), { recursive: true })
  const loadFile = `${stateFile}.load`
  const state = readState(stateFile)
  if (state !== undefined) writeFileSync(loadFile, state, { mode: 0o600 })
  const logFile = `${stateFile}.log`
  const args = formatArgs(options, state === undefined ? [] : ['--load-state', loadFile])
  try {
    for (let starts = 1; ; starts += 1) {
      const child = spawnNode(anvil, args, logFile)
      if (await waitForNode(child, rpcUrl)) return watchNode(child, rpcUrl)
      const hangs = isRunning(child)
      await stopChild(child)
      if (hangs && starts < NODE_STARTS_MAX) continue
      const how = hangs ? 'it did not answer' : 'it ended'
      throw new Error(`the chain's node did not start (${how}): ${readFileSync(logFile, 'utf8').trim()}`)
    }
  } finally {
    rmSync(loadFile, { force: true })
  }
}

const formatArgs = ({ chainId, port }: StartNodeOptions, load: readonly string[]): string[] => {
  const values = {
    host: HOST,
    port,
    'chain-id': chainId,
    hardfork: 'prague',
    order: 'fifo',
    // With a base fee of 0, a wallet without ETH can send a transaction with a zero fee. This stands in for sponsored
    // gas. We leave the tip that the node suggests at 1 gwei, because viem's fee estimation fails with a lower tip.
    'block-base-fee-per-gas': 0,
    'gas-limit': BLOCK_GAS_MAX,
    // Without this option, anvil keeps thousands of old states in memory and in the user's home folder (17 GB
    // measured).
    'prune-history': HISTORY_STATES_MAX,
  }
  const switches = ['--no-mining', '--quiet', '--no-cors', '--no-request-size-limit']
  return [...Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]), ...switches, ...load]
}

const spawnNode = (file: string, args: readonly string[], logFile: string): ChildProcess => {
  const log = openSync(logFile, 'w', 0o600)
  // The node runs in its own session. So Ctrl-C in the terminal reaches only the sandbox, which saves the state before
  // it stops the node.
  const child = spawn(file, args, { detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  child.once('error', () => undefined)
  return child
}

// Checked before the node starts: another program on the port might respond before the node notices that it cannot
// listen.
const checkPort = async (port: number): Promise<void> => {
  const deadline = performance.now() + PORT_RELEASE_TIMEOUT_MS
  while (!(await isFree(port))) {
    if (performance.now() > deadline) throw new Error(`port ${port} is in use: the chain's node cannot listen on it`)
    await delay(NODE_POLL_MS)
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    server.listen(port, HOST, () => server.close(() => resolve(true)))
  })

/** Returns whether the node answers before the time limit of its start. */
const waitForNode = async (child: ChildProcess, rpcUrl: string): Promise<boolean> => {
  const deadline = performance.now() + NODE_START_TIMEOUT_MS
  while (isRunning(child) && performance.now() < deadline) {
    if (await isAnswering(rpcUrl)) return true
    await delay(NODE_POLL_MS)
  }
  return false
}

const isAnswering = (rpcUrl: string): Promise<boolean> =>
  callRpc(rpcUrl, 'eth_chainId', [], NODE_CHECK_TIMEOUT_MS).then(
    () => true,
    () => false,
  )

const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null

const stopChild = async (child: ChildProcess): Promise<void> => {
  if (!isRunning(child)) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), NODE_STOP_TIMEOUT_MS)
  await gone
  clearTimeout(force)
}

const watchNode = (child: ChildProcess, rpcUrl: string): Node => {
  if (child.pid === undefined) throw new Error("the chain's node can't be run")
  let expected = false
  return {
    rpcUrl,
    pid: child.pid,
    onExit: (listener) => {
      child.once('exit', (code, signal) => {
        if (!expected) listener(`the chain's node ended (${signal ?? `exit code ${String(code)}`})`)
      })
    },
    stop: async () => {
      expected = true
      await stopChild(child)
    },
  }
}
