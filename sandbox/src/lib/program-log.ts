import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'

/** If a log is larger than this at a start, it is renamed. One older log is kept. */
const LOG_BYTES_MAX = 1_048_576

/** How many bytes are read from the end of the log, to explain a failed start. */
const LOG_TAIL_BYTES = 4_096

/** Opens a program's log for appending and returns its file descriptor. A log that is too long is renamed first. */
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
