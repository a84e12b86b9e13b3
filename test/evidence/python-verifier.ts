import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type Answer = 'yes' | 'no' | 'not checked'

export interface Answers {
  readonly payment: string
  readonly owner_signed: Answer
  readonly within_limits: Answer
  readonly on_chain: Answer
}

/** What a verifier prints with `--json`: the part of the file that is wrong, or the answers. */
export type Verdict =
  | { readonly valid: false; readonly part: string }
  | ({ readonly valid: true } & Answers)
  | { readonly valid: true; readonly left_out: number; readonly payments: readonly Answers[] }

export interface Given {
  /** Base64 of the SPKI. */
  readonly ownerKeys?: readonly string[]
  /** Verifier keys (C2SP signed-note). */
  readonly logKeys?: readonly string[]
  /** The address of a node of the chain. */
  readonly rpc?: string
}

const FOLDER = fileURLToPath(new URL('verifier', import.meta.url))
/** Why tests with Python are skipped, or false. */
export const NO_PYTHON =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0
    ? false
    : 'python3 (3.9 or newer) is not installed'

/** The verifier in Python, as one process that verifies any number of files. */
export function openPythonVerifier() {
  const child = spawn('python3', ['-B', `${FOLDER}/verify_lines.py`], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const verify = async (file: string | Uint8Array, given: Given = {}): Promise<Verdict> => {
    const { ownerKeys = [], logKeys = [], rpc = null } = given
    const asked = { file: Buffer.from(file).toString('base64'), owner_keys: ownerKeys, log_keys: logKeys, rpc }
    child.stdin.write(`${JSON.stringify(asked)}\n`)
    const { value, done } = await lines.next()
    assert.ok(done !== true, 'the verifier in Python stopped')
    return JSON.parse(value) as Verdict
  }
  const close = async (): Promise<void> => {
    child.stdin.end()
    await exited
  }
  return { verify, close }
}

/** Runs Python code in the folder of the verifier, with `input` as JSON. Returns the JSON that it prints. */
export function runPython(code: string, input: unknown): unknown {
  const head = 'import json, sys\ngiven = json.load(sys.stdin)\n'
  const { status, stdout, stderr } = spawnSync('python3', ['-B', '-c', head + code], {
    cwd: FOLDER,
    input: JSON.stringify(input),
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}
