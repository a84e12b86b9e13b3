import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The command name of an installed anvil (Foundry). */
const COMMAND = 'anvil'
const VERSION_TIMEOUT_MS = 5_000
const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Finds the `anvil` program. Uses the npm package for this platform if there is one, otherwise the installation on the
 * machine.
 *
 * @throws Error if neither exists.
 */
export const findAnvil = (): string => {
  const packaged = findInPackage()
  if (packaged !== undefined) return packaged
  if (spawnSync(COMMAND, ['--version'], { timeout: VERSION_TIMEOUT_MS }).status === 0) return COMMAND
  throw new Error(
    'the local chains need anvil: npm has no package for this platform, so install Foundry (getfoundry.sh)',
  )
}

const findInPackage = (): string | undefined => {
  const name = `@foundry-rs/anvil-${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`
  try {
    const file = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', COMMAND)
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}
