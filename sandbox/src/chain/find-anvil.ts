import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

/**
 * The path of the `anvil` program: this platform's npm package, else the one on the PATH.
 *
 * @throws Error when there is neither.
 */
export const findAnvil = (): string => {
  const candidates = [findInPackage(), ...(process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, 'anvil'))]
  const found = candidates.find((file) => file !== undefined && isExecutable(file))
  if (found !== undefined) return found
  throw new Error(
    'the local chains need anvil: npm has no package for this platform, so install Foundry (getfoundry.sh)',
  )
}

const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

const findInPackage = (): string | undefined => {
  const name = `@foundry-rs/anvil-${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'anvil')
  } catch {
    return undefined
  }
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
