import type { Context } from '../../../server/src/domain/context.ts'

/** Returns a context whose clock is ahead of the clock of `ctx`. It stands still if the clock of `ctx` does. */
export function later(ctx: Context, milliseconds: number): Context {
  return { ...ctx, clock: { now: () => new Date(ctx.clock.now().getTime() + milliseconds) } }
}

/** Returns a context whose clock stands still at `now`. */
export function frozenAt(ctx: Context, now: Date): Context {
  return { ...ctx, clock: { now: () => now } }
}
