import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { LOG_BYTES_MAX, LOG_TAIL_BYTES } from './limit.ts'

/** Opens the server's log for appending and returns its file descriptor. A log that is too long is renamed first. */
export const openLog = (file: string): number => {
  if (existsSync(file) && statSync(file).size > LOG_BYTES_MAX) renameSync(file, `${file}.1`)
  return openSync(file, 'a', 0o600)
}

/** Returns the last lines of the log, but nothing before byte `from`. */
export const readLogTail = (file: string, from: number): string => {
  const fd = openSync(file, 'r')
  try {
    const size = fstatSync(fd).size
    const start = Math.max(from, size - LOG_TAIL_BYTES)
    const bytes = Buffer.alloc(Math.max(0, size - start))
    readSync(fd, bytes, 0, bytes.length, start)
    return bytes.toString('utf8').trim()
  } finally {
    closeSync(fd)
  }
}
