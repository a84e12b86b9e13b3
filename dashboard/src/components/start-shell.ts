/**
 * What a page shows before its code has arrived: the header, and a place for the content. The build writes it into
 * `index.html`, so that a slow network shows something at once. The first fallbacks of React show the same, so that the
 * page does not change until its content is there.
 */
export const START_SHELL = `<div role="status" aria-busy="true" aria-label="Loading">
  <div class="border-b border-line bg-surface px-4 py-2 sm:px-6">
    <span class="inline-flex min-h-11 items-center gap-2.5 text-lg font-bold tracking-tight">
      <svg viewBox="0 0 32 32" class="size-7" aria-hidden="true">
        <rect width="32" height="32" rx="8" class="fill-accent" />
        <g class="fill-none stroke-on-accent" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round">
          <path d="M9 9.5h14M9 16h5M9 22.5h5" /><path d="m17.5 19.5 2.8 2.8 5-5.6" />
        </g>
      </svg>
      Bursar
    </span>
  </div>
  <div class="mx-auto grid w-full max-w-4xl gap-3 px-4 py-10 sm:px-6" aria-hidden="true">
    <span class="text-muted">Loading…</span>
    <span class="h-5 w-11/12 animate-pulse rounded bg-sunken"></span>
    <span class="h-5 w-full animate-pulse rounded bg-sunken"></span>
    <span class="h-5 w-10/12 animate-pulse rounded bg-sunken"></span>
  </div>
</div>`
