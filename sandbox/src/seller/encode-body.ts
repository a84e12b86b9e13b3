import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { Encoding } from './behaviour.ts'

/**
 * The name of each encoding in the header `Content-Encoding`, and what it does to a body. Some servers send `deflate`
 * without the zlib format that the standard prescribes (RFC 9110, section 8.4.1.2).
 */
const ENCODERS: Readonly<Record<Encoding, { readonly name: string; readonly encode: (body: Buffer) => Buffer }>> = {
  gzip: { name: 'gzip', encode: (body) => gzipSync(body) },
  deflate: { name: 'deflate', encode: (body) => deflateSync(body) },
  deflate_raw: { name: 'deflate', encode: (body) => deflateRawSync(body) },
  br: { name: 'br', encode: (body) => brotliCompressSync(body) },
  gzip_br: { name: 'gzip, br', encode: (body) => brotliCompressSync(gzipSync(body)) },
  gzip_claimed: { name: 'gzip', encode: (body) => body },
  unknown: { name: 'x-reversed', encode: (body) => Buffer.from(body.toReversed()) },
}

/** Encodes a body. Returns it with the value of the header `Content-Encoding`. */
export function encodeBody(body: Buffer, encoding: Encoding): { readonly name: string; readonly body: Buffer } {
  const { name, encode } = ENCODERS[encoding]
  return { name, body: encode(body) }
}
