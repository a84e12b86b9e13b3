import type { Command } from 'commander'
import { openChainNode } from '../../../signer/program/chain-node.ts'
import { ArgumentError, readEvidence, readLogKey, readOwnerKey } from '../../../signer/program/read-arguments.ts'
import {
  describeResult,
  describeResults,
  formatInvalid,
  formatResult,
  formatResults,
  hasNo,
} from '../../../signer/src/evidence/format-result.ts'
import type { InvalidResult, Trust, ValidResult } from '../../../signer/src/evidence/judge-payment.ts'
import { verifyEvidence } from '../../../signer/src/evidence/verify-evidence.ts'
import {
  isEvidenceList,
  verifyEvidenceList,
  type WholeList,
} from '../../../signer/src/evidence/verify-evidence-list.ts'
import type { Cli, Run } from '../cli.ts'
import { CliError, usageError } from '../cli-error.ts'
import { addExamples } from '../describe-program.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { cleanBlock } from '../output/clean-text.ts'

interface VerifyOptions {
  readonly ownerKey: readonly string[]
  readonly logKey: readonly string[]
  readonly rpc?: string
}

export function addVerifyCommand(program: Command, run: Run): Command {
  const command = program
    .command('verify <file>')
    .summary('Verifies the evidence of payments, without the service.')
    .description(
      'Verifies a file with the evidence of a payment, or an export with the evidence of many: whether an owner signed, whether the payment is within the signed limits, and, with --rpc, whether it happened on the chain. Needs no sign-in, and sends nothing anywhere without --rpc. <file> is - for the standard input.',
    )
    .option(
      '--owner-key <key>',
      'The public key of a passkey that owned the wallet first, or a file with it. Repeatable.',
      collect,
      [],
    )
    .option('--log-key <key>', 'The verifier key of the log, or a file with it. Repeatable.', collect, [])
    .option('--rpc <url>', 'Asks this node of the chain whether the payment happened.')
    .action(async (file: string, options: VerifyOptions, self: Command) => {
      await run(self, async (cli) => await verify(cli, file, options))
    })
  return addExamples(command, [
    { command: 'bursar verify evidence.json --owner-key owner.pem', effect: 'who allowed a payment' },
    {
      command: 'bursar verify evidence.ndjson --owner-key owner.pem --log-key log.txt --rpc https://mainnet.base.org',
      effect: 'all payments of an export, also on the chain',
    },
  ])
}

/** Returns the exit code 0 only if the evidence is valid and none of the answers is no. */
async function verify(cli: Cli, file: string, options: VerifyOptions): Promise<ExitCode> {
  const { trust, content } = await readInput(file, options)
  const results: ValidResult[] = []
  if (isEvidenceList(content)) {
    const whole = await collectResults(content, { trust, results })
    cli.output.answer({
      body: { valid: true, ...describeResults(results, whole) },
      next: null,
      human: () => toBlock(formatResults(results, whole)),
    })
  } else {
    const result = await verifyEvidence(content, trust)
    if (result.kind === 'invalid') throw notValid(result)
    results.push(result)
    cli.output.answer({
      body: { valid: true, ...describeResult(result) },
      next: null,
      human: () => toBlock(formatResult(result)),
    })
  }
  return results.some(hasNo) ? EXIT.failure : EXIT.ok
}

async function readInput(
  file: string,
  { ownerKey, logKey, rpc }: VerifyOptions,
): Promise<{ trust: Trust; content: Uint8Array<ArrayBuffer> }> {
  if (rpc !== undefined && !(URL.canParse(rpc) && /^https?:$/.test(new URL(rpc).protocol))) {
    throw usageError('--rpc must be an http or https URL.')
  }
  try {
    const trust = {
      ownerKeys: await Promise.all(ownerKey.map(readOwnerKey)),
      logKeys: await Promise.all(logKey.map(readLogKey)),
      node: rpc === undefined ? null : openChainNode(rpc),
    }
    return { trust, content: await readEvidence(file, process.stdin) }
  } catch (error) {
    throw error instanceof ArgumentError ? usageError(error.message) : error
  }
}

/** Collects the results of an export, which count only if all of it is whole. */
async function collectResults(
  content: Uint8Array<ArrayBuffer>,
  { trust, results }: { trust: Trust; results: ValidResult[] },
): Promise<WholeList> {
  for await (const one of verifyEvidenceList(content, trust)) {
    if (one.kind === 'invalid') throw notValid(one)
    if (one.kind === 'whole') return one
    results.push(one)
  }
  throw new Error('the export has no end')
}

function notValid(result: InvalidResult): CliError {
  const { part, reason } = result
  return new CliError(formatInvalid(result), {
    exitCode: EXIT.failure,
    code: 'evidence_invalid',
    answer: { valid: false, part, reason },
  })
}

function toBlock(lines: readonly string[]): string {
  return cleanBlock(lines.map((line) => `${line}\n`).join(''))
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}
