import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/**
 * Whether a process with this id is running, ours or another user's. A process that has exited but was not collected by
 * its parent does not count: in a container, the first process may never collect the children it inherits.
 */
export const isProcessAlive = (pid: number): boolean => {
  const file = `/proc/${pid}/status`
  if (existsSync('/proc/self/status')) return existsSync(file) && !/^State:\s+[ZX]/m.test(readStatus(file))
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The command line of a process, or an empty string if there is none. */
export const readCommand = (pid: number): string => {
  const file = `/proc/${pid}/cmdline`
  return existsSync(file) ? readFileSync(file, 'utf8') : readWithPs(pid, 'command=')
}

/** The process id of a process's parent, or NaN if the process has exited. */
export const readParent = (pid: number): number => {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return Number(readWithPs(pid, 'ppid=') || 'NaN')
  return Number(/^PPid:\s+(\d+)/m.exec(readStatus(file))?.[1])
}

// A process may exit between finding its file and reading it; then it counts as gone.
const readStatus = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return 'State:\tX'
  }
}

// Returns nothing for a process that has just exited.
const readWithPs = (pid: number, column: string): string => {
  try {
    return execFileSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}
