import { readFileSync } from 'node:fs'

/** Reads a contract's creation code from its committed `contracts/<file>.json`. */
export const readBytecode = (file: 'usdc' | 'entry-point' | 'delegate-account'): `0x${string}` => {
  const artifact: unknown = JSON.parse(readFileSync(new URL(`../../contracts/${file}.json`, import.meta.url), 'utf8'))
  if (typeof artifact !== 'object' || artifact === null || !('bytecode' in artifact) || !isHex(artifact.bytecode)) {
    throw new Error(`contracts/${file}.json has no bytecode`)
  }
  return artifact.bytecode
}

const isHex = (value: unknown): value is `0x${string}` => typeof value === 'string' && /^0x[0-9a-f]+$/.test(value)
