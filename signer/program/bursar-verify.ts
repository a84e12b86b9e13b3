// `node bursar-verify.mjs FILE`: verifies evidence without the service and without other files. It is built from the same
// modules as the signer page's verifier and the command `bursar verify`.
import { parseArgs } from 'node:util'
import { cleanLine } from '../src/clean-text.ts'
import { describeResult, formatInvalid, formatResult, hasNo } from '../src/evidence/format-result.ts'
import type { InvalidResult } from '../src/evidence/judge-payment.ts'
import { verifyContent } from '../src/evidence/verify-content.ts'
import { ArgumentError, readEvidence, readTrust } from './read-arguments.ts'

const USAGE = `Usage: node bursar-verify.mjs FILE [options]

Verifies the evidence of a payment, or an export with the evidence of many. FILE is - for the standard input.

  --owner-key KEY   the public key of a passkey that owned the wallet first, or a file with it; may be repeated
  --log-key KEY     the verifier key of the log, or a file with it; may be repeated
  --rpc URL         a node of the chain; without it, nothing is sent anywhere
  --json            writes JSON

Exit codes: 0 valid, and no answer is no · 1 not valid, or an answer is no · 2 wrong usage
`

const OPTIONS = {
  'owner-key': { type: 'string', multiple: true },
  'log-key': { type: 'string', multiple: true },
  rpc: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error
  process.stderr.write(`${cleanLine(error.message)}\n`)
  process.exitCode = 2
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args)
  const [path, ...others] = positionals
  if (values.help || path === undefined || others.length > 0) {
    process.stderr.write(USAGE)
    return values.help ? 0 : 2
  }
  const { 'owner-key': ownerKey, 'log-key': logKey, rpc, json: isJson } = values
  const trust = await readTrust({ ownerKey, logKey, rpc })
  const result = await verifyContent(await readEvidence(path, process.stdin), trust)
  if (result.kind === 'invalid') return fail(result, isJson)
  write(isJson ? [toAscii({ valid: true, ...describeResult(result) })] : formatResult(result))
  return hasNo(result) ? 1 : 0
}

function fail(result: InvalidResult, isJson: boolean): number {
  const { part, reason } = result
  if (isJson) write([toAscii({ valid: false, part, reason })])
  else process.stderr.write(`${formatInvalid(result)}\n`)
  return 1
}

function write(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

/** Writes JSON in ASCII, so that no character of the file can control a terminal. */
function toAscii(value: unknown): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replaceAll(/[^ -~]/g, escape)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error))
  }
}
