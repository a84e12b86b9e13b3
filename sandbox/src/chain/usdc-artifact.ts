import { readFileSync } from 'node:fs'

/** The contract's creation code from the committed `contracts/usdc.json`. */
export const readUsdcBytecode = (): `0x${string}` => {
  const artifact: unknown = JSON.parse(readFileSync(new URL('../../contracts/usdc.json', import.meta.url), 'utf8'))
  if (typeof artifact !== 'object' || artifact === null || !('bytecode' in artifact) || !isHex(artifact.bytecode)) {
    throw new Error('contracts/usdc.json has no bytecode')
  }
  return artifact.bytecode
}

const isHex = (value: unknown): value is `0x${string}` => typeof value === 'string' && /^0x[0-9a-f]+$/.test(value)
