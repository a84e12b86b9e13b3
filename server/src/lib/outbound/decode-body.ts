import { PassThrough, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

/** A body that arrives in parts. */
export interface BodySink {
  write(part: Buffer): void
  /** Called after the last part. `isWhole` says whether the body arrived, and could be decoded, to its end. */
  end(isWhole: boolean): void
  /** Called if the body is too long to be read to its end. */
  cut(): void
}

/** A body that is decoded while it arrives. */
export interface DecodedBody extends BodySink {
  /** Stops decoding. */
  destroy(): void
}

type Decompress = (first: Buffer) => Transform

// gzip begins with the byte 0x1f. Some servers name it and send a plain body.
const gunzip: Decompress = ([byte]) => (byte === 0x1f ? createGunzip() : new PassThrough())
/** How each encoding is undone. The first part of the body says how the server means it. */
const DECODERS: ReadonlyMap<string, Decompress> = new Map<string, Decompress>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  // RFC 9110, section 8.4.1.2, means the zlib format, which begins with the byte 0x_8. Some servers leave it out.
  ['deflate', ([byte = 0]) => ((byte & 0x0f) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
])
/** A server encodes a body once, and a proxy may do so again. */
const ENCODINGS_MAX = 2

/**
 * Parses the header `Content-Encoding`. Returns the encodings in the order in which they were applied. Returns an empty
 * list if there are none, or if we do not know all of them: then the body stays as it is.
 */
export function parseEncodings(header: string | undefined): readonly string[] {
  const names = (header ?? '').split(',').map((name) => name.trim().toLowerCase())
  const encodings = names.filter((name) => name !== '' && name !== 'identity')
  return encodings.length <= ENCODINGS_MAX && encodings.every((name) => DECODERS.has(name)) ? encodings : []
}

/**
 * Makes a sink that undoes these encodings, and passes the parts of the decoded body to `target` as they are ready. If
 * the body breaks off or cannot be decoded, `target` gets everything before that point. An empty body stays empty. A
 * body that is encoded in more than `encodedBytesMax` bytes is cut, because decoding it costs time even if nothing comes
 * out.
 */
export function decodeBody(
  encodings: readonly string[],
  { target, encodedBytesMax }: { readonly target: BodySink; readonly encodedBytesMax: number },
): DecodedBody {
  const plain: DecodedBody = { ...target, destroy: () => undefined }
  return encodings.reduce((next, encoding) => decodeOnce(encoding, { next, encodedBytesMax }), plain)
}

function decodeOnce(
  encoding: string,
  { next, encodedBytesMax }: { readonly next: DecodedBody; readonly encodedBytesMax: number },
): DecodedBody {
  let stream: Transform | undefined
  let encodedBytes = 0
  /** Whether the encoded body arrived to its end. Undefined until it ends. */
  let hasArrived: boolean | undefined
  /** Whether everything that arrived could be decoded. Undefined until that is known. */
  let isDecoded: boolean | undefined
  let isOver = false
  const finish = (isWhole: boolean): void => {
    if (isOver) return
    isOver = true
    next.end(isWhole)
  }
  const settle = (decoded: boolean): void => {
    isDecoded = decoded
    // After a fault, the rest of the body still arrives.
    if (hasArrived !== undefined) finish(decoded && hasArrived)
  }
  const open = (first: Buffer): Transform => {
    const opened = (DECODERS.get(encoding) ?? gunzip)(first)
    opened.on('data', (part: Buffer) => next.write(part))
    opened.on('error', () => settle(false))
    opened.on('end', () => settle(true))
    return opened
  }
  return {
    write(part) {
      encodedBytes += part.length
      if (encodedBytes > encodedBytesMax) return next.cut()
      stream ??= open(part)
      if (isDecoded === undefined) stream.write(part)
    },
    end(isWhole) {
      hasArrived = isWhole
      if (stream === undefined) finish(isWhole)
      else if (isDecoded === undefined) stream.end()
      else finish(isDecoded && isWhole)
    },
    cut: () => next.cut(),
    destroy() {
      isOver = true
      stream?.destroy()
      next.destroy()
    },
  }
}
