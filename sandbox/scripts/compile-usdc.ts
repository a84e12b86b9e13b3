import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Abi } from 'viem'

export type Artifact = {
  readonly contract: string
  readonly compiler: string
  readonly settings: typeof SETTINGS
  /** SHA-256 of every source by its name, in the order of the names. */
  readonly sources: Readonly<Record<string, string>>
  readonly abi: Abi
  readonly bytecode: `0x${string}`
}

type Solc = {
  version(): string
  compile(input: string, callbacks: { import(name: string): { contents: string } | { error: string } }): string
}

type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>
}

const SOURCE = 'contracts/Usdc.sol'

// OpenZeppelin 5.7 uses mcopy, which Cancun has. Source names are relative and the metadata is left out of the code, so
// the same sources give the same bytes in every checkout.
const SETTINGS = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { [SOURCE]: { Usdc: ['abi', 'evm.bytecode.object'] } },
}

const require = createRequire(import.meta.url)

/** Compiles the USDC contract. @throws Error with the compiler's messages, warnings included. */
export const compileUsdc = (): Artifact => {
  const solc = require('solc') as Solc
  const sources: Record<string, string> = {}
  const read = (name: string, file: string | URL): string => {
    const content = readFileSync(file, 'utf8')
    sources[name] = createHash('sha256').update(content).digest('hex')
    return content
  }
  const input = {
    language: 'Solidity',
    sources: { [SOURCE]: { content: read(SOURCE, new URL(`../${SOURCE}`, import.meta.url)) } },
    settings: SETTINGS,
  }
  const callbacks = { import: (name: string) => ({ contents: read(name, require.resolve(name)) }) }
  const output = JSON.parse(solc.compile(JSON.stringify(input), callbacks)) as Output
  const complaints = output.errors ?? []
  if (complaints.length > 0) throw new Error(complaints.map((error) => error.formattedMessage).join('\n'))
  const contract = output.contracts?.[SOURCE]?.['Usdc']
  if (contract === undefined) throw new Error('the compiler answered no contract')
  return {
    contract: SOURCE,
    compiler: solc.version(),
    settings: SETTINGS,
    sources: Object.fromEntries(Object.entries(sources).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    abi: contract.abi,
    bytecode: `0x${contract.evm.bytecode.object}`,
  }
}

/** The bytes of `contracts/usdc.json`. */
export const formatArtifact = (artifact: Artifact): string => `${JSON.stringify(artifact, null, 2)}\n`
