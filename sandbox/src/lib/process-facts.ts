import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/**
 * Returns whether a process with this id is running, under any user. A zombie does not count. A zombie has exited, but
 * its parent has not collected it. In a container, the first process may never collect the children that it inherits.
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

/** Returns the command line of a process, or an empty string if there is no such process. */
export const readCommand = (pid: number): string => {
  const file = `/proc/${pid}/cmdline`
  return existsSync(file) ? readFileSync(file, 'utf8') : readWithPs(pid, 'command=')
}

/** Returns the id of a process's parent, or NaN if the process has exited. */
export const readParent = (pid: number): number => {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return Number(readWithPs(pid, 'ppid=') || 'NaN')
  return Number(/^PPid:\s+(\d+)/m.exec(readStatus(file))?.[1])
}

// A process may exit after its file was found and before the file is read. The status then says that it is dead (X).
const readStatus = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return 'State:\tX'
  }
}

// Returns an empty string if the process has just exited.
const readWithPs = (pid: number, column: string): string => {
  try {
    return execFileSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}
