import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Builds Citus in the folder of its sources, and installs it into the PostgreSQL of `pgConfig`. What was built before is
 * not built again.
 */
export function buildCitus({ sources, pgConfig }: { sources: string; pgConfig: string }): void {
  const run = (file: string, ...args: string[]): void => {
    execFileSync(file, args, { cwd: sources, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  if (!existsSync(join(sources, 'Makefile.global'))) {
    run('./configure', '--without-pg-version-check', `PG_CONFIG=${pgConfig}`)
  }
  // PostgreSQL's own files replace CPPFLAGS, and add COPT.
  const options = ['with_llvm=no', `COPT=${process.env['CPPFLAGS'] ?? ''}`]
  run('make', '-j2', 'extension', ...options)
  run('make', 'install-extension', ...options)
}
