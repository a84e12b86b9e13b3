import { open, readFile } from 'node:fs/promises'
import type { Trust } from '../src/evidence/judge-payment.ts'
import { parseOwnerKey } from '../src/evidence/owner-keys.ts'
import { readVerifierKey } from '../src/evidence/signed-note.ts'
import { LIST_BYTES_MAX } from '../src/evidence/verify-evidence-list.ts'
import { openChainNode } from './chain-node.ts'

const STANDARD_INPUT = '-'
/** More than any key or checkpoint has. */
const TEXT_BYTES_MAX = 64 * 1024

/** A value of the command line that cannot be used. The message is for people. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError'
}

/** Reads the evidence. `-` is the standard input. */
export async function readEvidence(path: string, input: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  if (path !== STANDARD_INPUT) return await readWhole(path, LIST_BYTES_MAX)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > LIST_BYTES_MAX) throw new ArgumentError('The standard input is larger than 512 MiB.')
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** Reads what the user of the program knows beside the evidence. */
export async function readTrust({
  ownerKey = [],
  logKey = [],
  rpc,
}: {
  readonly ownerKey?: readonly string[] | undefined
  readonly logKey?: readonly string[] | undefined
  readonly rpc?: string | undefined
}): Promise<Trust> {
  if (rpc !== undefined && !(URL.canParse(rpc) && /^https?:$/.test(new URL(rpc).protocol))) {
    throw new ArgumentError('--rpc must be an http or https URL.')
  }
  return {
    ownerKeys: await Promise.all(ownerKey.map(readOwnerKey)),
    logKeys: await Promise.all(logKey.map(readLogKey)),
    node: rpc === undefined ? null : openChainNode(rpc),
  }
}

/** Reads a public key of an owner: the key itself, or a file with it. */
async function readOwnerKey(argument: string): Promise<string> {
  const key = parseOwnerKey(argument) ?? parseOwnerKey(await readText(argument))
  if (key === null) {
    throw new ArgumentError(
      `${argument} contains no public key of a passkey: PEM, or the SPKI in base64 or base64url, on the curve P-256.`,
    )
  }
  return key
}

/** Reads the verifier key of a log: the key itself, or a file with it. */
export async function readLogKey(argument: string): Promise<string> {
  const text = argument.includes('+') ? argument : (await readText(argument)).trim()
  try {
    await readVerifierKey(text)
  } catch {
    throw new ArgumentError(`${argument} is no verifier key of a log, such as log.example/log+1a2b3c4d+AW….`)
  }
  return text
}

export async function readText(path: string): Promise<string> {
  return new TextDecoder().decode(await readWhole(path, TEXT_BYTES_MAX))
}

async function readWhole(path: string, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const file = await open(path)
    try {
      const { size } = await file.stat()
      if (size > bytesMax) throw new ArgumentError(`The file ${path} is too large.`)
      return new Uint8Array(await readFile(file))
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof ArgumentError) throw error
    throw new ArgumentError(
      `The file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
