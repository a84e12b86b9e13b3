import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { enforceRateLimit } from '../../domain/enforce-rate-limit.ts'
import { findHashes, parseTilePath } from '../../domain/transparency-log/tile.ts'
import { NoteSigner } from '../../domain/transparency-log/signed-note.ts'
import { findCheckpoint, findTiles } from '../../domain/transparency-log/transparency-log-store.ts'
import { clientAddress } from '../../http/client-address.ts'
import { pathOfLog } from '../../http/log-path.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { Problem } from '../../values/problem.ts'

/** The key never changes, unless the operator has lost it. */
const METADATA_SECONDS = 60 * 60
/** A new checkpoint is made every second at most. */
const CHECKPOINT_SECONDS = 1
/** A tile never changes. */
const TILE_SECONDS = 365 * 24 * 60 * 60

/**
 * Adds the public files of the transparency log (D80): the newest checkpoint and the tiles, in the formats of C2SP
 * tlog-checkpoint and tlog-tiles, and the document that names its key. They need no credential, and tell nothing but how
 * many leaves there are and their hashes. The leaves are not public.
 */
export function addTransparencyLog(
  scope: HttpServer,
  ctx: Pick<Context, 'db' | 'clock' | 'cell' | 'transparencyLog'>,
  { baseUrl }: { readonly baseUrl: string },
): void {
  const path = pathOfLog(ctx)
  const limitRate = async (request: FastifyRequest): Promise<void> => {
    await enforceRateLimit(ctx, { subject: clientAddress(request), bucket: 'log' })
  }
  const options = { onRequest: limitRate, config: { load: 'database' }, schema: { hide: true } } as const

  scope.get('/.well-known/bursar-log.json', options, async (_request, reply) => {
    const [{ origin }, seed] = await Promise.all([ctx.db.read(findCheckpoint()), ctx.transparencyLog.key.read()])
    const name = origin ?? ctx.transparencyLog.origin
    return cached(reply, METADATA_SECONDS).send({
      origin: name,
      verifier_key: new NoteSigner(name, seed).verifierKey,
      checkpoint_url: `${baseUrl}${path}/checkpoint`,
      tiles_url: `${baseUrl}${path}/tile`,
    })
  })
  scope.get(`${path}/checkpoint`, options, async (_request, reply) => {
    const { checkpoint } = await ctx.db.read(findCheckpoint())
    if (checkpoint === null) throw new Problem('not_found', 'The transparency log has no leaf yet.')
    return cached(reply, CHECKPOINT_SECONDS).type('text/plain; charset=utf-8').send(checkpoint)
  })
  scope.get(
    `${path}/tile/*`,
    { ...options, schema: { hide: true, params: Type.Object({ '*': Type.String() }) } },
    async (request, reply) => {
      const asked = parseTilePath(request.params['*'])
      const [tile] = asked === null ? [] : await ctx.db.read(findTiles([asked]))
      const hashes = asked === null || tile === undefined ? null : findHashes(tile, asked.width)
      if (hashes === null) throw new Problem('not_found', 'The transparency log has no such tile.')
      return cached(reply, TILE_SECONDS, 'immutable').type('application/octet-stream').send(hashes)
    },
  )
}

function cached(reply: FastifyReply, seconds: number, ...directives: string[]): FastifyReply {
  return reply.header('Cache-Control', ['public', `max-age=${seconds}`, ...directives].join(', '))
}
